package hardware

import (
	"cmp"
	"maps"
	"slices"

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
