package generator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"stackgen/schema"
)

// A shape is the VM resource as the tables of package schema lay it out: the
// module's variable and body and every VM's literal are three readings of it.
type shape struct {
	name   string
	list   bool // a block that may stand many times
	fields []leaf
	blocks []*shape
	order  []string // names of fields and blocks, in the tables' order
}

// A leaf is one attribute of the resource.
type leaf struct {
	name string
	row  *schema.Field
}

// cloneFields are the attributes of the clone block. They come from decisions,
// so no property sets them one by one. clone.retries is not among them: with it
// the provider adopts a stranger's VM.
var cloneFields = []schema.Field{
	{Key: "vm_id", Type: schema.Int, HCL: "vm_id"},
	{Key: "node_name", Type: schema.String, HCL: "node_name"},
	{Key: "full", Type: schema.Bool, HCL: "full"},
	{Key: "datastore_id", Type: schema.String, HCL: "datastore_id"},
}

// vmShape is the shape of a VM.
func vmShape() *shape {
	root := &shape{}
	root.add(schema.VMFields, "")
	clone := root.block("clone", false)
	clone.add(cloneFields, "")
	return root
}

// add lays rows out under a path.
func (s *shape) add(rows []schema.Field, prefix string) {
	for i := range rows {
		row := &rows[i]
		if row.HCL == "" {
			continue
		}
		path := strings.Split(prefix+row.HCL, ".")
		at := s
		for _, name := range path[:len(path)-1] {
			at = at.block(name, false)
		}
		last := path[len(path)-1]
		switch {
		case row.Type == schema.Object:
			at.block(last, false).add(row.Fields, "")
		case row.Type == schema.List && row.Elem.Type == schema.Object:
			at.block(last, true).add(row.Elem.Fields, "")
		default:
			at.fields = append(at.fields, leaf{last, row})
			at.order = append(at.order, last)
		}
	}
}

// block finds or makes a nested block.
func (s *shape) block(name string, list bool) *shape {
	for _, b := range s.blocks {
		if b.name == name {
			return b
		}
	}
	b := &shape{name: name, list: list}
	s.blocks = append(s.blocks, b)
	s.order = append(s.order, name)
	return b
}

// hclType is a leaf's type in the module's variable.
func (l leaf) hclType() hclwrite.Tokens {
	switch {
	case l.row.As != "" && l.row.As != "upper":
		return ident("string")
	case l.row.Type == schema.Int || l.row.Type == schema.Float:
		return ident("number")
	case l.row.Type == schema.Bool:
		return ident("bool")
	case l.row.Type == schema.List:
		return call("list", ident("string"))
	default:
		return ident("string")
	}
}

// hclValue is a leaf's value.
func (l leaf) hclValue(n *schema.Node) hclwrite.Tokens {
	switch {
	case l.row.Type == schema.Bool && strings.Contains(l.row.As, "|"):
		on, off, _ := strings.Cut(l.row.As, "|")
		if n.Bool() {
			return text(on)
		}
		return text(off)
	case strings.HasPrefix(l.row.As, "join "):
		return text(strings.Join(n.Strings(), strings.TrimPrefix(l.row.As, "join ")))
	case l.row.As == "upper":
		return text(strings.ToUpper(n.Text))
	case l.row.Type == schema.Bool:
		return boolean(n.Bool())
	case l.row.Type == schema.Int || l.row.Type == schema.Float:
		if i, err := strconv.Atoi(n.Text); err == nil {
			return number(i)
		}
		return hclwrite.TokensForValue(cty.MustParseNumberVal(n.Text)) // the parser let only decimals through
	case l.row.Type == schema.List:
		return texts(n.Strings())
	default:
		return text(n.Text)
	}
}

// typeOf is the object type of a shape, for the module's variable. Everything
// is optional there: what a VM does not say is null and left to the provider.
func (s *shape) typeOf(extra ...pair) hclwrite.Tokens {
	pairs := slices.Clone(extra)
	for _, name := range s.order {
		if i := slices.IndexFunc(s.fields, func(l leaf) bool { return l.name == name }); i >= 0 {
			pairs = append(pairs, pair{name, call("optional", s.fields[i].hclType())})
			continue
		}
		b := s.blocks[slices.IndexFunc(s.blocks, func(b *shape) bool { return b.name == name })]
		if b.list {
			pairs = append(pairs, pair{name, call("optional", call("list", b.typeOf()), list())})
		} else {
			pairs = append(pairs, pair{name, call("optional", b.typeOf())})
		}
	}
	return call("object", object(pairs...))
}

// body writes a shape's attributes and dynamic blocks, reading from the object
// that root names: each.value, or the value of the enclosing dynamic block.
func (s *shape) body(out *hclwrite.Body, root string, attrs ...string) {
	for _, name := range s.order {
		at := append(slices.Clone(attrs), name)
		if slices.ContainsFunc(s.fields, func(l leaf) bool { return l.name == name }) {
			out.SetAttributeRaw(name, ref(root, at...))
			continue
		}
		b := s.blocks[slices.IndexFunc(s.blocks, func(b *shape) bool { return b.name == name })]
		block := out.AppendNewBlock("dynamic", []string{name}).Body()
		if b.list {
			block.SetAttributeRaw("for_each", ref(root, at...))
		} else {
			block.SetAttributeRaw("for_each", splat(ref(root, at...)))
		}
		b.body(block.AppendNewBlock("content", nil).Body(), name, "value")
	}
}
