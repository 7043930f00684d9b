package generator

import (
	"encoding/json"
	"slices"
	"strconv"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// vmValues are the attributes of a VM in a stack file.
func vmValues(root *shape, v *schema.VM, d *lock.VM) ([]pair, error) {
	if v.IsContainer() {
		return containerValues(root, v, d)
	}
	if v.Replica != nil {
		return replicaValues(root, v, d), nil
	}
	pairs, err := ownPairs(v)
	if err != nil {
		return nil, err
	}
	return append(pairs, vmPairs(root, v, d)...), nil
}

// vmPairs are the attributes and blocks of a VM. A clone has everything that its spec
// says, since it would keep the value of its template otherwise. Of a VM that existed
// already, the provider reads blocks with only defaults as absent, so they are left
// out: to say them would write them. It was not cloned, either.
func vmPairs(root *shape, v *schema.VM, d *lock.VM) []pair {
	values := withDecisions(v, d)
	pairs := root.literal(values)
	if !v.Adopt {
		return pairs
	}
	pairs = slices.DeleteFunc(pairs, func(p pair) bool { return p.key == "clone" })
	for _, b := range schema.DefaultBlocks() {
		if _, more := b.Says(values); !more && !b.Keeps {
			pairs = slices.DeleteFunc(pairs, func(p pair) bool { return p.key == b.Name })
		}
	}
	return pairs
}

// withDecisions is a VM's properties with the decisions of the lock.
func withDecisions(v *schema.VM, d *lock.VM) *schema.Node {
	set := func(n *schema.Node, shape schema.Shape, key, value string) *schema.Node {
		return n.With(schema.Scalar(v.Pos, schema.ShapeString, key), schema.Scalar(v.Pos, shape, value))
	}
	n := v.Values.Without(guest.Clone)
	n = set(n, schema.ShapeInt, guest.VMID, strconv.Itoa(d.VMID))
	n = set(n, schema.ShapeString, guest.Node, d.Node)
	if nics := n.Get(guest.Networks); nics != nil {
		n = n.With(schema.Scalar(nics.Pos, schema.ShapeString, guest.Networks), withMACs(nics, d.MACs))
	}
	disks := n.Get(guest.Disks).List()
	if list := n.Get(guest.Disks); list != nil {
		n = n.With(schema.Scalar(list.Pos, schema.ShapeString, guest.Disks),
			&schema.Node{Pos: list.Pos, Shape: list.Shape, Items: d.OrderedDisks(v)})
	}
	t := d.Template
	if t == nil {
		return n
	}
	c := &schema.Node{Pos: v.Pos, Shape: schema.ShapeMap}
	c = set(c, schema.ShapeInt, "vm_id", strconv.Itoa(t.VMID))
	c = set(c, schema.ShapeString, "node_name", t.Node)
	c = set(c, schema.ShapeBool, "full", strconv.FormatBool(d.Clone != "linked"))
	if d.Clone != "linked" && len(disks) > 0 {
		c = set(c, schema.ShapeString, "datastore_id", disks[0].Get(guest.Datastore).Str())
	}
	return n.With(schema.Scalar(v.Pos, schema.ShapeString, guest.Clone), c)
}

// withMACs are NICs with the MAC addresses that the lock has for them.
func withMACs(nics *schema.Node, macs []string) *schema.Node {
	out := &schema.Node{Pos: nics.Pos, Shape: nics.Shape}
	for i, n := range nics.Items {
		if n.Get(guest.MAC).Str() == schema.AutoMAC {
			n = n.Without(guest.MAC)
		}
		if i < len(macs) && macs[i] != schema.AutoMAC {
			n = n.With(schema.Scalar(n.Pos, schema.ShapeString, guest.MAC), schema.Scalar(n.Pos, schema.ShapeString, macs[i]))
		}
		out.Items = append(out.Items, n)
	}
	return out
}

// plain is a value of any type as encoding/json takes it.
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
		f, _ := strconv.ParseFloat(n.Text, 64) // YAML also has .5 and 1.; the parser refuses everything else
		return f
	case schema.ShapeNull:
		return nil
	default:
		return n.Text
	}
}
