package hardware

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// Differences are what the first plan after an import would change. ignores
// reports whether the VM's profile ignores a change of an attribute.
func (r *Reading) Differences(v *schema.VM, ignores func(attribute string) bool) []Difference {
	return slices.DeleteFunc(r.compare(v, ignores, false), func(d Difference) bool { return d.uncertain })
}

// Missing are all differences, and what the spec does not set although the VM has
// it: the provider would keep it, and a new VM from the spec would not have it.
func (r *Reading) Missing(v *schema.VM) []Difference {
	return r.compare(v, func(attribute string) bool { return attribute == "started" }, true) // a spec says it for the creation only
}

// compared are the rows of the properties that a configuration has, and of which an apply makes a change.
func (r *Reading) compared() iter.Seq[*schema.Field] {
	return func(yield func(*schema.Field) bool) {
		fields := schema.Fields(r.kind)
		for i := range fields {
			f := &fields[i]
			if f.HCL != "" && len(entries(fields[i:i+1])) > 0 && !schema.IsAlwaysIgnoredOf(r.kind, f.Attribute()) && !yield(f) {
				return
			}
		}
	}
}

func (r *Reading) compare(v *schema.VM, ignores func(string) bool, full bool) []Difference {
	c := &comparison{full: full}
	var out []Difference
	for f := range r.compared() {
		if ignores(f.Attribute()) || r.skip[f.Key] {
			continue
		}
		if d, ok := r.difference(c, f, v); ok {
			out = append(out, d)
		}
	}
	for _, d := range r.unsupported {
		if f := schema.FieldOf(r.kind, d.Field); f != nil {
			if ignores(f.Attribute()) {
				continue
			}
			if is := rendered(f, v); is != nil {
				d.Spec = assignment(f, c.pruned(f, is, r.values[f.Key]))
			}
			if f.Type != schema.List {
				d.Changes = []tf.Change{{Path: f.HCL, Was: d.Config, Is: d.Spec}}
			}
		}
		out = append(out, d)
	}
	return out
}

// difference compares one property.
func (r *Reading) difference(c *comparison, f *schema.Field, v *schema.VM) (Difference, bool) {
	was, is := r.both(f, v)
	has := was
	if f.Key == guest.NUMANodes && was == nil && is != nil { // nodes that no spec can have
		has = r.nodes
	}
	parts := c.parts(f, has, is)
	if len(parts) == 0 {
		return Difference{}, false
	}
	d := Difference{Difference: finding.Difference{Field: f.Key, Config: strings.Join(r.shows[f.Key], " ")}}
	var texts []string
	for _, p := range parts {
		texts, d.Changes = append(texts, p.text), append(d.Changes, p.Change)
	}
	d.text = strings.Join(texts, ", ")
	if d.Config == "" {
		d.Absent, d.Config = true, "no "+strings.ReplaceAll(f.Key, "_", " ")
	}
	if is != nil {
		d.Spec = assignment(f, c.pruned(f, is, was))
	}
	if f.Key == guest.Disks {
		was = arranged(was.List(), is.List())
	}
	d.Line, d.Reason = r.line(c, f, was, is)
	if f.Key == guest.Disks && d.Line != "" && len(was.Items) > 0 {
		d.Also = r.driveLine(v, was.Items[0])
	}
	if f.Key == guest.Pool && d.Line == "" {
		d.Commands = []string{pve.SetPool(is.Str(), fmt.Sprintf("--vms %d", r.vmid))}
	}
	return d, true
}

// both are the value of a property that the VM has, and the one of its spec.
func (r *Reading) both(f *schema.Field, v *schema.VM) (was, is *schema.Node) {
	was, is = r.values[f.Key], rendered(f, v)
	if was == nil && f.Unset == schema.Keep && f.Type == schema.Object && f.IsDefault(is) {
		is = nil // the same as none
	}
	return was, is
}

// parts are the values of a property that differ, or the property as a whole if only one
// side has it.
func (c *comparison) parts(f *schema.Field, was, is *schema.Node) []part {
	if f.Type == schema.Object && (was == nil) != (is == nil) && !(is == nil && c.keeps(f, was)) {
		whole := part{name: f.Key, path: f.HCL}.differ(f, flow(short(f, c.pruned(f, was, nil))), flow(short(f, c.pruned(f, is, nil))))
		whole.Whole = true
		return []part{whole}
	}
	return c.changes(f, part{name: f.Key, path: f.HCL}, was, is)
}

// line is what the spec must contain to agree with the VM, or the reason why no
// line helps.
func (r *Reading) line(c *comparison, f *schema.Field, was, is *schema.Node) (line, reason string) {
	value := c.pruned(f, was, is)
	switch {
	case f.Key == guest.Pool && was.Str() == "":
		return "", "the " + r.kind.Name() + " is in no pool: add it to the pool of the spec, which must exist"
	case f.Key == guest.Name && was.Str() == "":
		return "", "the " + r.kind.Name() + " has no name, and a spec always gives one: name it in Proxmox VE first"
	case was == nil && f.Off:
		value = &schema.Node{Shape: schema.ShapeBool, Text: "false"}
	case was == nil && f.Key == guest.VGA:
		value = &schema.Node{Shape: schema.ShapeString, Text: "std"}
	case none(f, was):
		return "", "remove `" + f.Key + "` from the spec, and from what the VM inherits"
	}
	if problems := schema.CheckProperty(r.kind, f.Key, value); len(problems) > 0 {
		return "", problems[0].Message
	}
	return assignment(f, value), ""
}

// none reports whether a VM does not have a property that no line of a spec can take away.
func none(f *schema.Field, was *schema.Node) bool {
	return was == nil || f.Type == schema.String && was.Text == "" || f.Unset == schema.Keep && f.Absent != "" && was.Text == f.Absent
}

func assignment(f *schema.Field, n *schema.Node) string { return f.Key + ": " + flow(short(f, n)) }

// rendered is the value of a property as the module gets it: nil where the
// generator leaves it out.
func rendered(f *schema.Field, v *schema.VM) *schema.Node {
	n := v.Values.Get(f.Key)
	switch {
	case n == nil, n.Off() && f.Type == schema.Object,
		f.Unset == schema.Keep && n.Shape == schema.ShapeList && len(n.Items) == 0:
		return nil
	}
	return n
}

// A comparison compares values of properties.
type comparison struct {
	full bool // also values that the provider would keep
}

// keeps reports whether the provider keeps a value that the spec does not set.
func (c *comparison) keeps(f *schema.Field, was *schema.Node) bool {
	return f.Unset == schema.Keep && (!c.full || (was.Text == "" || was.Text == "0" || was.Text == f.AbsentValue()) && len(was.Items) == 0)
}

func (c *comparison) equal(f *schema.Field, was, is *schema.Node) bool {
	return len(c.changes(f, part{}, was, is)) == 0
}

// pruned is a value without the parts that the VM has without them, unless the
// spec now has another value there.
func (c *comparison) pruned(f *schema.Field, n, now *schema.Node) *schema.Node {
	switch {
	case n == nil:
		return nil
	case n.Shape == schema.ShapeList:
		out := &schema.Node{Shape: schema.ShapeList}
		for i, item := range n.Items {
			v := c.pruned(f.Elem, item, nil)
			if f.Key == guest.Networks && v.Get(guest.Interface).Str() == fmt.Sprintf("eth%d", i) { // of a container, without being told
				v = v.Without(guest.Interface)
			}
			out.Items = append(out.Items, v)
		}
		return out
	case n.Shape == schema.ShapeMap:
		out := &schema.Node{Shape: schema.ShapeMap}
		for i := range f.Fields {
			sub := &f.Fields[i]
			v := c.pruned(sub, n.Get(sub.Key), now.Get(sub.Key))
			if v == nil || !sub.Required && c.needless(sub, v, now.Get(sub.Key)) {
				continue
			}
			out = out.With(&schema.Node{Shape: schema.ShapeString, Text: sub.Key}, v)
		}
		return out
	}
	return n
}

// needless reports whether a part need not be written.
func (c *comparison) needless(f *schema.Field, v, now *schema.Node) bool {
	switch {
	case now != nil && !c.equal(f, v, now):
		return false // a map is inherited part by part
	case slices.Contains([]string{guest.Bridge, guest.Datastore, guest.Device}, f.Key):
		return false // a reader expects them, although they are defaults
	case v.Shape == schema.ShapeMap, v.Shape == schema.ShapeList:
		return len(v.Items) == 0
	}
	return v.Text == "" || text(f, v, "") == cmp.Or(f.Default, f.Unset) ||
		f.Unset == schema.Keep && f.Type == schema.Bool && v.Text == f.Absent
}
