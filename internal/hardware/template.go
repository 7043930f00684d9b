package hardware

import (
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// FromTemplate is what a clone of this template has and its spec does not say: the provider
// sets what the spec says, and leaves the rest as it is in the template. A plan does
// not show it, because the provider does not read it of a VM that it cloned; an import
// after a lost state does.
func (r *Reading) FromTemplate(v *schema.VM, ignores func(attribute string) bool) []Difference {
	clone := *r
	clone.values, clone.skip = maps.Clone(r.values), maps.Clone(r.skip)
	delete(clone.skip, guest.CloudInit) // the spec says what the template lacks
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		clone.values[f.Key] = inherited(f, r.values[f.Key], rendered(f, v))
	}
	clone.unsupported = slices.DeleteFunc(slices.Clone(r.unsupported), func(d Difference) bool {
		f := schema.VMField(d.Field)
		return d.Field != "" && (f == nil || !f.Inherits || rendered(f, v) != nil)
	})
	out := clone.Differences(v, ignores)
	for i := range out {
		d := &out[i]
		d.text = strings.ReplaceAll(d.text, "in Proxmox VE", "in its template")
		if d.Field == "" {
			d.text = "its template has " + brief(d.Config) + ": " + d.Reason
		}
		d.brought = true
	}
	return out
}

// inherited is the value that a clone has: that of the spec, or that of its template
// if the provider does not set it.
func inherited(f *schema.Field, was, is *schema.Node) *schema.Node {
	switch {
	case f.Key == guest.CloudInit && was != nil && is != nil:
		return inheritedKeys(f, was, is)
	case f.Inherits && f.Type == schema.List && f.Elem.Type == schema.Object && is != nil && f.Key != guest.Serial:
		return inheritedDevices(f, was, is)
	case f.Inherits && (is == nil || f.IsDefault(is)):
		return was
	}
	return is
}

// inheritedKeys adds the settings of cloud-init that the spec does not say. The drive
// and the addresses of net0 are set as a whole.
func inheritedKeys(f *schema.Field, was, is *schema.Node) *schema.Node {
	out := is
	for i := range f.Fields {
		sub := &f.Fields[i]
		if v := was.Get(sub.Key); v != nil && (v.Text != "" || len(v.Items) > 0) && is.Get(sub.Key) == nil && !strings.Contains(sub.PVE, "/") {
			out = out.With(&schema.Node{Shape: schema.ShapeString, Text: sub.Key}, v)
		}
	}
	return out
}

// inheritedDevices adds the devices that the spec does not name.
func inheritedDevices(f *schema.Field, was, is *schema.Node) *schema.Node {
	out := &schema.Node{Shape: schema.ShapeList, Items: slices.Clone(is.Items)}
	wanted := named(f, is)
	for _, d := range named(f, was) {
		if find(wanted, d.name) == nil {
			out.Items = append(out.Items, d.value)
		}
	}
	return out
}
