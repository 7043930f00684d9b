package hardware

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/edit"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// An Acceptance is what the spec of a VM must say so that a plan leaves a property as the
// VM has it; or the reason why a spec cannot say it.
type Acceptance struct {
	edit.Setting
	Config   string   // what the VM has
	Reason   string   // empty if the setting says it
	Commands []string // that change the VM so that a spec can say it
}

// Accept is what the spec must say of some attributes of a VM, each as a plan names it with
// its device: disk.scsi0.size. Of a property with several values, only those change that
// are asked for. rest are the attributes in which spec and VM do not differ, or that no
// property sets.
func (r *Reading) Accept(v *schema.VM, attributes []string) (out []Acceptance, rest []string) {
	c, found := &comparison{full: true}, map[string]bool{}
	asked := func(change tf.Change) bool {
		is := false
		for _, a := range attributes {
			if Overlap(a, change.Attribute()) {
				found[a], is = true, true
			}
		}
		return is
	}
	for f := range r.compared() {
		if f.Key == guest.Started || r.skip[f.Key] {
			continue
		}
		was, is := r.both(f, v)
		parts := slices.DeleteFunc(c.parts(f, was, is), func(p part) bool { return !asked(p.Change) })
		if len(parts) > 0 {
			out = append(out, r.accept(c, f, v, parts))
		}
	}
	for _, d := range r.unsupported {
		changes := d.Changes
		if f := schema.FieldOf(r.kind, d.Field); f != nil {
			changes = []tf.Change{{Path: f.HCL}}
		}
		if slices.ContainsFunc(changes, asked) {
			out = append(out, Acceptance{Setting: edit.Setting{Key: d.Field}, Config: d.Config, Reason: d.Reason, Commands: d.Commands})
		}
	}
	out = append(out, r.unsaidMounts(v, asked)...)
	for _, a := range attributes {
		if !found[a] {
			rest = append(rest, a)
		}
	}
	return out, rest
}

// Changed are the attributes of which two versions of a VM's spec have other values.
func Changed(before, after *schema.VM) []string {
	c := &comparison{}
	var out []string
	fields := before.Fields()
	for i := range fields {
		f := &fields[i]
		if f.HCL == "" {
			continue
		}
		for _, p := range c.parts(f, rendered(f, before), rendered(f, after)) {
			out = append(out, p.Attribute())
		}
	}
	return out
}

// Overlap reports whether one attribute is the other one, or is in it.
func Overlap(a, b string) bool {
	a, b = normal(a), normal(b)
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// normal is an attribute in the form that plans and the table of properties have in common:
// a plan counts blocks that the table has once, and names hostpci0 by its number.
func normal(attribute string) string {
	words := strings.Split(attribute, ".")
	switch {
	case len(words) > 2 && words[1] == "ip_config" && words[2] == "0":
		words = slices.Delete(words, 2, 3)
	case len(words) > 1 && words[0] != "disk" && tf.IsList(words[0]):
		words[1] = strings.TrimLeft(words[1], "abcdefghijklmnopqrstuvwxyz")
	}
	return strings.Join(words, ".")
}

// accept is the setting of one property.
func (r *Reading) accept(c *comparison, f *schema.Field, v *schema.VM, parts []part) Acceptance {
	was, is := r.both(f, v)
	config := cmp.Or(strings.Join(r.shows[f.Key], " "), "no "+strings.ReplaceAll(f.Key, "_", " "))
	a := Acceptance{Setting: edit.Setting{Key: f.Key}, Config: config}
	scalar := f.Type != schema.Object && f.Type != schema.List
	if scalar || parts[0].Whole && parts[0].device == "" {
		if a.Line, a.Reason = r.line(c, f, was, is); a.Line == "" && none(f, was) && f.Key != guest.Pool {
			a.Reason = "" // the line is removed
		}
		return a
	}
	want, only := is, (*schema.Node)(nil)
	for _, p := range parts {
		value := valueAt(f, was, p.keys)
		if unset(fieldAt(f, p.keys), value) {
			value = nil
		}
		want, only = put(f, want, p.keys, value), put(f, only, p.keys, value)
		a.Parts = append(a.Parts, c.edits(f, v, p.keys, value)...)
	}
	if want == nil {
		a.Parts = nil // the property is removed
		return a
	}
	if f.Type == schema.List {
		only = want // a list replaces what is inherited
	}
	if f.Sum {
		only = added(v, f, want)
	}
	for i := range f.Fields {
		if sub := &f.Fields[i]; sub.Rest && only.Has(sub.Key) {
			only = only.With(&schema.Node{Shape: schema.ShapeString, Text: sub.Key}, want.Get(sub.Key))
		}
	}
	pruned := c.pruned(f, want, is)
	if problems := schema.CheckProperty(r.kind, f.Key, pruned); len(problems) > 0 {
		a.Reason = problems[0].Message
		return a
	}
	a.Line = assignment(f, pruned)
	if only != nil && len(only.Items) > 0 {
		a.Add = assignment(f, c.pruned(f, only, is))
	}
	return a
}

// unset reports whether a VM has no value of its own, and a spec says that by not saying
// anything: no VLAN is 0 in Proxmox VE.
func unset(f *schema.Field, n *schema.Node) bool {
	switch {
	case n == nil:
		return true
	case f.Type == schema.List && f.Elem.Type != schema.Object:
		return len(n.Items) == 0
	case f.Type == schema.Int || f.Type == schema.Float:
		return f.Default == "" && n.Text == f.AbsentValue()
	case f.Type == schema.String:
		return n.Text == ""
	}
	return false
}

// edits are the parts of a spec that give a value in a property to it.
func (c *comparison) edits(f *schema.Field, v *schema.VM, keys []string, value *schema.Node) []edit.Part {
	sub := fieldAt(f, keys)
	switch {
	case value == nil:
		return []edit.Part{{Path: keys}}
	case sub.Type == schema.List && sub.Elem.Type != schema.Object:
		if items := itemEdits(sub, v, append([]string{f.Key}, keys...), value); items != nil {
			return items
		}
	}
	return []edit.Part{{Path: keys, Text: flow(short(sub, c.pruned(sub, value, nil)))}}
}

// itemEdits are the items to remove from a list of texts and to add to it, or nil if that
// does not give the list that the VM has.
func itemEdits(f *schema.Field, v *schema.VM, path []string, value *schema.Node) []edit.Part {
	wanted, now := value.Strings(), v.Values.Get(path...).List()
	same := func(a, b string) bool { return a == b || f.Sum && strings.EqualFold(a, b) }
	has := func(list []string, text string) bool {
		return slices.ContainsFunc(list, func(t string) bool { return same(t, text) })
	}
	at := func(item string) []string { return append(path[1:len(path):len(path)], item) }
	var out []edit.Part
	var result []string
	for _, raw := range v.Own.Get(path...).List() {
		texts := itemTexts(f, raw, now)
		if slices.ContainsFunc(texts, func(text string) bool { return !has(wanted, text) }) {
			out = append(out, edit.Part{Path: at(raw.Text)})
			continue
		}
		result = append(result, texts...)
	}
	if len(result) == 0 {
		return nil
	}
	for _, text := range wanted {
		if !has(result, text) && !(f.Sum && has(v.Values.Get(path...).Strings(), text)) {
			out = append(out, edit.Part{Path: at(text), Text: Text(text)})
			result = append(result, text)
		}
	}
	if !f.Sum && !slices.Equal(result, wanted) {
		return nil
	}
	return out
}

// itemTexts are the texts of a list that come from one item of the spec, which may be a file
// with several SSH keys.
func itemTexts(f *schema.Field, item *schema.Node, list []*schema.Node) []string {
	if f.Key != guest.SSHKeys {
		return []string{item.Text}
	}
	var out []string
	for _, key := range list {
		if key.Pos == item.Pos {
			out = append(out, key.Text)
		}
	}
	return out
}

// added are the items of a list that the spec does not have yet: those of defaults and VM
// add up.
func added(v *schema.VM, f *schema.Field, want *schema.Node) *schema.Node {
	out := &schema.Node{Shape: schema.ShapeList}
	for _, item := range want.List() {
		if !slices.Contains(v.Values.Get(f.Key).Strings(), item.Text) {
			out.Items = append(out.Items, item)
		}
	}
	return out
}

// Says reports whether a property of the spec of a guest says an attribute.
func Says(kind guest.Kind, attribute string) bool {
	return slices.ContainsFunc(schema.Fields(kind), func(f schema.Field) bool {
		return f.HCL != "" && len(entries([]schema.Field{f})) > 0 && Overlap(f.HCL, attribute)
	})
}
