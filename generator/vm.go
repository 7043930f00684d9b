package generator

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// vmLiteral is one VM as the stack file holds it: everything that is not null.
func vmLiteral(root *shape, v *schema.VM, d *lock.VM) (hclwrite.Tokens, error) {
	pairs := []pair{{"profile", text(v.Profile)}}
	if v.Address.IsValid() {
		pairs = append(pairs, pair{"ipv4", text(v.Address.Addr().String())})
	}
	if meta := v.Values.Get("meta"); meta != nil {
		// A string, because the VMs of one map must have one type.
		j, err := json.Marshal(plain(meta))
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{"meta", text(string(j))})
	}
	return object(append(pairs, literal(root, tree(v, d), schema.VMFields)...)...), nil
}

// tree is a VM's properties with the decisions in them, without what must not
// be said.
func tree(v *schema.VM, d *lock.VM) *schema.Node {
	set := func(n *schema.Node, shape schema.Shape, key, value string) *schema.Node {
		return n.With(schema.Scalar(v.Pos, schema.ShapeString, key), schema.Scalar(v.Pos, shape, value))
	}
	n := set(v.Values, schema.ShapeInt, "vmid", strconv.Itoa(d.VMID))
	n = set(n, schema.ShapeString, "node", d.Node)
	if v.PoolID != "" {
		n = set(n, schema.ShapeString, "pool", v.PoolID)
	}
	if tags := n.Get("tags"); tags != nil {
		n = n.With(schema.Scalar(v.Pos, schema.ShapeString, "tags"), sortedTags(tags))
	}
	if t := d.Template; t != nil {
		c := &schema.Node{Pos: v.Pos, Shape: schema.ShapeMap}
		c = set(c, schema.ShapeInt, "vm_id", strconv.Itoa(t.VMID))
		c = set(c, schema.ShapeString, "node_name", t.Node)
		c = set(c, schema.ShapeBool, "full", strconv.FormatBool(d.Clone != "linked"))
		if disks := n.Get("disks").List(); d.Clone != "linked" && len(disks) > 0 {
			c = set(c, schema.ShapeString, "datastore_id", disks[0].Get("datastore").Str())
		}
		n = n.Without("clone").With(schema.Scalar(v.Pos, schema.ShapeString, "clone"), c)
	} else {
		n = n.Without("clone")
	}
	return unsayable(n)
}

// unsayable leaves out what equals the provider's own default. Such a block is
// read back as absent, so saying it would show as a change for ever.
func unsayable(n *schema.Node) *schema.Node {
	at := func(key, value string) bool { return n.Get(key).Str() == value }
	if n.Get("agent", "enabled").Str() == "false" {
		n = n.Without("agent")
	}
	if at("os_type", "other") {
		n = n.Without("os_type")
	}
	if at("cores", "1") && at("sockets", "1") && at("cpu_type", "qemu64") && !n.Has("numa") && !n.Has("cpu_units") && !n.Has("cpu_limit") {
		n = n.Without("cores", "sockets", "cpu_type")
	}
	if at("memory", "512") {
		switch n.Get("balloon").Str() {
		case "": // ballooning with nothing to give back: the same machine, said in a way that is read back
			n = n.With(schema.Scalar(n.Pos, schema.ShapeString, "balloon"), schema.Scalar(n.Pos, schema.ShapeInt, "512"))
		case "0":
			n = n.Without("memory", "balloon")
		}
	}
	if vga := n.Get("vga"); vga != nil && (len(vga.Keys) == 0 || len(vga.Keys) == 1 && vga.Get("type").Str() == "std") {
		n = n.Without("vga")
	}
	return n
}

func sortedTags(tags *schema.Node) *schema.Node {
	var names []string
	for _, t := range tags.Strings() {
		names = append(names, strings.ToLower(t))
	}
	slices.Sort(names)
	out := &schema.Node{Pos: tags.Pos, Shape: schema.ShapeList}
	for _, name := range slices.Compact(names) {
		out.Items = append(out.Items, schema.Scalar(tags.Pos, schema.ShapeString, name))
	}
	return out
}

// literal writes a map of properties in the resource's own shape.
func literal(s *shape, n *schema.Node, rows []schema.Field) []pair {
	values := map[string]hclwrite.Tokens{}
	gather(values, "", n, rows)
	if c := n.Get("clone"); c != nil && c.Shape == schema.ShapeMap {
		gather(values, "clone.", c, cloneFields)
	}
	return s.pairs(values, "")
}

// gather collects the value of every row by its path in the resource.
func gather(values map[string]hclwrite.Tokens, prefix string, n *schema.Node, rows []schema.Field) {
	for i := range rows {
		row := &rows[i]
		v := n.Get(row.Key)
		if row.HCL == "" || v == nil || v.Off() && row.Type == schema.Object {
			continue
		}
		path := prefix + row.HCL
		switch {
		case row.Type == schema.Object:
			gather(values, path+".", v, row.Fields)
		case row.Type == schema.List && row.Elem.Type == schema.Object:
			if len(v.Items) == 0 {
				continue
			}
			elem := &shape{}
			elem.add(row.Elem.Fields, "")
			var items []hclwrite.Tokens
			for _, item := range v.Items {
				items = append(items, inline(literal(elem, item, row.Elem.Fields)...))
			}
			values[path] = list(items...)
		default:
			values[path] = leaf{row: row}.hclValue(v)
		}
	}
}

// pairs puts gathered values into the shape's order and nesting.
func (s *shape) pairs(values map[string]hclwrite.Tokens, prefix string) []pair {
	var out []pair
	for _, name := range s.order {
		if v, ok := values[prefix+name]; ok {
			out = append(out, pair{name, v})
			continue
		}
		if i := slices.IndexFunc(s.blocks, func(b *shape) bool { return b.name == name }); i >= 0 {
			if nested := s.blocks[i].pairs(values, prefix+name+"."); len(nested) > 0 {
				out = append(out, pair{name, inline(nested...)})
			}
		}
	}
	return out
}

// plain turns a value of any type into what encoding/json writes.
func plain(n *schema.Node) any {
	switch n.Shape {
	case schema.ShapeMap:
		out := map[string]any{} // encoding/json sorts its keys
		for i, k := range n.Keys {
			out[k.Text] = plain(n.Items[i])
		}
		return out
	case schema.ShapeList:
		out := []any{}
		for _, item := range n.Items {
			out = append(out, plain(item))
		}
		return out
	case schema.ShapeBool:
		return n.Bool()
	case schema.ShapeInt, schema.ShapeFloat:
		if json.Valid([]byte(n.Text)) {
			return json.Number(n.Text)
		}
		f, _ := strconv.ParseFloat(n.Text, 64) // YAML also knows .5 and 1.; the parser let nothing else through
		return f
	case schema.ShapeNull:
		return nil
	default:
		return n.Text
	}
}
