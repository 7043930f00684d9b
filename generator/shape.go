package generator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"stackgen/guest"
	"stackgen/schema"
)

// A shape is the VM resource, or a block or an attribute of it, as the table of VM
// properties describes it. The module's variable, the module's resources and the
// value of each VM in a stack file follow from it.
type shape struct {
	name  string
	key   string        // path of the property in the value of the enclosing block; "" is the same value
	row   *schema.Field // of an attribute
	list  bool          // a block that may be repeated
	rest  *shape        // of a block: its later elements, which have an attribute of their own in the module's variable
	parts []*shape      // of a block, in the order of the table
}

// cloneFields are the attributes of the clone block. They come from decisions,
// not from properties. clone.retries must not be among them: with it the provider
// adopts a VM that already has the VMID.
var cloneFields = []schema.Field{
	{Key: "vm_id", Type: schema.Int, HCL: "vm_id"},
	{Key: "node_name", Type: schema.String, HCL: "node_name"},
	{Key: "full", Type: schema.Bool, HCL: "full"},
	{Key: "datastore_id", Type: schema.String, HCL: "datastore_id"},
}

// vmShape is the shape of the VM resource.
func vmShape() *shape {
	root := &shape{}
	root.add(schema.VMFields, "")
	root.block("clone", "clone").add(cloneFields, "")
	return root
}

// add adds the attributes and blocks of rows. prefix leads to their properties from the
// value of the block. The keys of an Object without HCL are attributes of the block itself.
func (s *shape) add(rows []schema.Field, prefix string) {
	for i := range rows {
		row, key := &rows[i], prefix+rows[i].Key
		if row.HCL == "" {
			s.add(row.Fields, key+".")
			continue
		}
		path := strings.Split(row.HCL, ".")
		last := path[len(path)-1]
		at := s
		for _, name := range path[:len(path)-1] {
			at = at.block(name, "")
		}
		switch {
		case row.Type == schema.Object:
			at.block(last, key).add(row.Fields, "")
		case row.Rest:
			first := at.block(last, key)
			first.rest = &shape{name: row.Key, key: key, list: true, parts: first.parts}
			at.parts = append(at.parts, first.rest)
		case row.Type == schema.List && row.Elem.Type == schema.Object:
			b := at.block(last, key)
			b.list = true
			b.add(row.Elem.Fields, "")
		default:
			at.parts = append(at.parts, &shape{name: last, key: key, row: row})
		}
	}
}

// block returns the block of a name, which it adds if there is none.
func (s *shape) block(name, key string) *shape {
	for _, p := range s.parts {
		if p.name == name && p.row == nil {
			return p
		}
	}
	b := &shape{name: name, key: key}
	s.parts = append(s.parts, b)
	return b
}

// hclType is the type of an attribute in the module's variable.
func hclType(row *schema.Field) hclwrite.Tokens {
	switch {
	case row.As != "" && row.As != "upper":
		return ident("string")
	case row.Type == schema.Int || row.Type == schema.Float:
		return ident("number")
	case row.Type == schema.Bool:
		return ident("bool")
	case row.Type == schema.List:
		return call("list", ident("string"))
	default:
		return ident("string")
	}
}

// hclValue is the value of an attribute.
func hclValue(row *schema.Field, n *schema.Node) hclwrite.Tokens {
	switch {
	case row.Type == schema.Bool && strings.Contains(row.As, "|"):
		on, off, _ := strings.Cut(row.As, "|")
		if n.Bool() {
			return text(on)
		}
		return text(off)
	case row.As == "vlans":
		return text(strings.Join(schema.VLANs(n.Strings()), ";"))
	case row.As == "GiB":
		return text(n.Text + "G")
	case row.As == "upper":
		return text(strings.ToUpper(n.Text))
	case row.Type == schema.Bool:
		return boolean(n.Bool())
	case row.Type == schema.Int || row.Type == schema.Float:
		if i, err := strconv.Atoi(n.Text); err == nil {
			return number(i)
		}
		return hclwrite.TokensForValue(cty.MustParseNumberVal(n.Text)) // the parser accepts only decimals
	case row.Type == schema.List:
		return texts(n.Strings())
	default:
		return text(n.Text)
	}
}

// value is the part of an enclosing block's value that a shape is about.
func (s *shape) value(n *schema.Node) *schema.Node {
	if s.key == "" {
		return n
	}
	return n.Get(strings.Split(s.key, ".")...)
}

// literal is the value of a block in a stack file: everything that is not null.
func (s *shape) literal(n *schema.Node) []pair {
	var out []pair
	for _, p := range s.parts {
		v := p.value(n)
		switch {
		case p.rest != nil && p.rest.value(n) != nil:
			out = append(out, pair{p.name, inline(p.literal(v)...)}) // also an empty one: the others come after it
		case v == nil:
		case p.row != nil:
			out = append(out, pair{p.name, hclValue(p.row, v)})
		case p.list:
			var items []hclwrite.Tokens
			for _, item := range byNumber(v.List()) {
				items = append(items, inline(p.literal(item)...))
			}
			if len(items) > 0 {
				out = append(out, pair{p.name, list(items...)})
			}
		default:
			if values := p.literal(v); len(values) > 0 {
				out = append(out, pair{p.name, inline(values...)})
			}
		}
	}
	return out
}

// byNumber are the addresses of network devices in the places of their devices, net1 first,
// with an empty one for a device without addresses; other lists are as they are.
func byNumber(items []*schema.Node) []*schema.Node {
	var out []*schema.Node
	for _, item := range items {
		n, err := strconv.Atoi(strings.TrimPrefix(item.Get(guest.Device).Str(), "net"))
		if err != nil {
			return items
		}
		for len(out) < n {
			out = append(out, &schema.Node{Shape: schema.ShapeMap})
		}
		out[n-1] = item
	}
	return out
}

// typeOf is the object type of a block in the module's variable. Everything is
// optional there: what a VM does not set is null and left to the provider.
func (s *shape) typeOf(extra ...pair) hclwrite.Tokens {
	pairs := slices.Clone(extra)
	for _, p := range s.parts {
		switch {
		case p.row != nil:
			pairs = append(pairs, pair{p.name, call("optional", hclType(p.row))})
		case p.list:
			pairs = append(pairs, pair{p.name, call("optional", call("list", p.typeOf()), list())})
		default:
			pairs = append(pairs, pair{p.name, call("optional", p.typeOf())})
		}
	}
	return call("object", object(pairs...))
}

// body writes the attributes and dynamic blocks of a block. object is the expression
// that each of them is read from: the VM, or the value of the enclosing dynamic block.
func (s *shape) body(out *hclwrite.Body, object func(*shape) hclwrite.Tokens) {
	for i, p := range s.parts {
		if slices.ContainsFunc(s.parts, func(first *shape) bool { return first.rest == p }) {
			continue
		}
		if i > 0 && (p.row == nil || s.parts[i-1].row == nil) {
			out.AppendNewline() // around blocks
		}
		value := of(object(p), p.name)
		switch {
		case p.row != nil:
			out.SetAttributeRaw(p.name, value)
			continue
		case p.rest != nil:
			value = call("concat", splat(value), of(object(p), p.rest.name))
		case !p.list:
			value = splat(value)
		}
		block := out.AppendNewBlock("dynamic", []string{p.name}).Body()
		block.SetAttributeRaw("for_each", value)
		block.AppendNewline()
		p.body(block.AppendNewBlock("content", nil).Body(), func(*shape) hclwrite.Tokens { return ref(p.name, "value") })
	}
}
