package hardware

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// WithoutMACs is the same VM without its MAC addresses: the provider keeps those that a
// spec does not say, and the lock records them. Only without them several VMs have the
// same network devices. A container keeps them: they say which one it is.
func (r *Reading) WithoutMACs() *Reading {
	out := *r
	if r.kind == guest.Container {
		return &out
	}
	out.values = maps.Clone(r.values)
	if list := r.values[guest.Networks]; list != nil {
		next := &schema.Node{Shape: schema.ShapeList}
		for _, nic := range list.Items {
			next.Items = append(next.Items, nic.Without(guest.MAC))
		}
		out.values[guest.Networks] = next
	}
	return &out
}

// NetworksOf is the line of the networks of a container that says by which MAC addresses it is known, and nothing
// else of them.
func NetworksOf(macs []string) string {
	line, _ := IdentifiedNetworks(nil, macs)
	return line
}

// IdentifiedNetworks is the line of the networks that an entry has, with the MAC addresses of a container, or
// of these alone if it has none. It is empty if the entry has them already.
func IdentifiedNetworks(own *schema.Node, macs []string) (string, error) {
	has := len(own.List()) > 0
	if !has {
		own = &schema.Node{Shape: schema.ShapeList}
		for range macs {
			own.Items = append(own.Items, &schema.Node{Shape: schema.ShapeMap})
		}
	}
	if len(own.Items) != len(macs) {
		return "", fmt.Errorf("its entry has %d networks, and the container %d: write those of the container, or remove `networks`",
			len(own.Items), len(macs))
	}
	out, changed := &schema.Node{Shape: schema.ShapeList}, false
	for i, n := range own.Items {
		switch mac := n.Get(guest.MAC).Str(); {
		case mac == "":
			n, changed = n.With(schema.Scalar(n.Pos, schema.ShapeString, guest.MAC), schema.Scalar(n.Pos, schema.ShapeString, macs[i])), true
		case !strings.EqualFold(mac, macs[i]):
			return "", fmt.Errorf("its entry has the MAC address %s in networks[%d], and the container %s: "+
				"if it is the right container, correct that, or remove `networks`", mac, i, macs[i])
		}
		out.Items = append(out.Items, n)
	}
	if !changed {
		return "", nil
	}
	return guest.Networks + ": " + Flow(out), nil
}

// An Own is a line of the VM's own entry in a spec, or what a spec cannot say.
type Own struct {
	Difference
	Value *schema.Node // of the property, without defaults; nil if a line cannot say it
}

// Own are the lines that the VM's entry needs beside what it inherits, so that its spec
// has all that the VM has. Of a map that it inherits, a line has only the keys that differ.
func (r *Reading) Own(v *schema.VM) []Own {
	var out []Own
	for _, d := range r.Missing(v) {
		if d.Reason != "" || d.Line == "" {
			out = append(out, Own{Difference: d})
			continue
		}
		f := schema.FieldOf(r.kind, d.Field)
		_, is := r.both(f, v)
		own := Own{Difference: d, Value: short(f, (&comparison{full: true}).pruned(f, r.values[d.Field], nil))}
		if is != nil {
			var attributes []string
			for _, c := range d.Changes {
				attributes = append(attributes, c.Attribute())
			}
			accepted, _ := r.Accept(v, attributes)
			if i := slices.IndexFunc(accepted, func(a Acceptance) bool { return a.Key == d.Field && a.Reason == "" }); i >= 0 {
				own.Line = cmp.Or(accepted[i].Add, d.Line)
			}
		}
		out = append(out, own)
	}
	return out
}
