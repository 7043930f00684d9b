package hardware

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/schema"
)

// Differences compares a configuration with what a spec renders. ignores says
// which attributes of the resource the VM's profile leaves alone.
func (r *Reading) Differences(v *schema.VM, ignores func(attribute string) bool) []Difference {
	return slices.DeleteFunc(r.compare(v, ignores, false), func(d Difference) bool { return d.quiet })
}

// Missing are all differences, and what a spec would leave to chance: what the
// provider takes as it is, and a VM made from the spec would not have.
func (r *Reading) Missing(v *schema.VM) []Difference {
	return r.compare(v, func(string) bool { return false }, true)
}

func (r *Reading) compare(v *schema.VM, ignores func(string) bool, full bool) []Difference {
	var out []Difference
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		root, _, _ := strings.Cut(f.HCL, ".")
		if !covered(f.Key) || ignores(root) || r.spoiled[f.Key] {
			continue
		}
		c := &comparison{full: full, unset: unsetOf(f.Key)}
		was, is := r.values[f.Key], said(v, f.Key)
		if c.equal(f, "", was, is) {
			continue
		}
		d := Difference{Field: f.Key, Config: strings.Join(r.shows[f.Key], " "), has: len(r.shows[f.Key]) > 0, says: is != nil && !is.Off()}
		if d.Config == "" {
			d.Config = "no " + keyOf(f.Key)
		}
		if d.says {
			d.Spec = f.Key + ": " + flow(short(f, c.pruned(f, "", is, was)))
		}
		for _, once := range born {
			a, b := was.Get(once.part), is.Get(once.part)
			d.Replaces = d.Replaces || f.Key == once.field && a != nil && b != nil && a.Text != b.Text
		}
		if timeout := is.Get("timeout").Str(); f.Key == "agent" && timeout != "" && timeout != was.Get("timeout").Str() {
			d.Config += ", whose timeout an import takes for " + was.Get("timeout").Str()
		}
		d.Line, d.Reason = r.line(c, f, was, is)
		if f.Key == "pool" && d.Line == "" {
			d.Mend = []string{fmt.Sprintf("pvesh set /pools/%s --vms %d", is.Str(), r.vmid)}
		}
		out = append(out, d)
	}
	return harmless(append(out, r.refusals(v, ignores)...))
}

// refusals are what no spec can say, beside what this one says.
func (r *Reading) refusals(v *schema.VM, ignores func(string) bool) []Difference {
	var out []Difference
	for _, d := range r.refused {
		d.has = !strings.HasPrefix(d.Config, "no ")
		if f := field(d.Field); f != nil {
			if root, _, _ := strings.Cut(f.HCL, "."); ignores(root) {
				continue
			}
			if is := said(v, f.Key); is != nil {
				c := &comparison{unset: unsetOf(f.Key)}
				d.says, d.Spec = true, f.Key+": "+flow(short(f, c.pruned(f, "", is, r.values[f.Key])))
			}
		}
		out = append(out, d)
	}
	return out
}

// line is what a spec must say so that it agrees, or why it cannot.
func (r *Reading) line(c *comparison, f *schema.Field, was, is *schema.Node) (line, reason string) {
	value := c.pruned(f, "", was, is)
	switch {
	case f.Key == "pool" && was.Str() == "":
		return "", "it is in no pool: put it into the one that the spec says, which must be there"
	case was == nil && f.Off:
		value = &schema.Node{Shape: schema.ShapeBool, Text: "false"}
	case was == nil && f.Key == "vga":
		value = &schema.Node{Shape: schema.ShapeString, Text: "std"}
	case was == nil, f.Type == schema.String && value.Text == "", f.Key == "cpu_units" && value.Text == "0":
		return "", "the import has none of it: take `" + f.Key + "` out of the spec, also out of what the VM inherits"
	}
	if problems := schema.CheckVM(f.Key, value); len(problems) > 0 {
		return "", problems[0].Message
	}
	return f.Key + ": " + flow(short(f, value)), ""
}

// said is what a spec says of a property, as it is rendered.
func said(v *schema.VM, name string) *schema.Node {
	n := v.Values.Get(name)
	switch {
	case name == "pool" && v.PoolID != "":
		return scalar(field(name), v.PoolID)
	case name == "agent" && n.Get("enabled").Str() == "false": // then nothing of it is rendered
		return set(&schema.Node{Shape: schema.ShapeMap}, "enabled", n.Get("enabled"))
	case name == "balloon" && n == nil && v.Values.Get("memory").Str() == "512": // it is rendered so, or it would be the provider's default
		return scalar(field(name), "512")
	case name == "vga" && n != nil && (len(n.Keys) == 0 || len(n.Keys) == 1 && n.Get("type").Str() == "std"):
		return nil
	case n.Off() && field(name).Type == schema.Object, unsetOf(name)[""] == whatever && n != nil && n.Shape == schema.ShapeList && len(n.Items) == 0:
		return nil
	}
	return n
}

// A comparison compares one property.
type comparison struct {
	full  bool
	unset map[string]string
}

// free reports whether the provider keeps what there is, since the spec says
// nothing.
func (c *comparison) free(path string, was *schema.Node) bool {
	return c.unset[path] == whatever && (!c.full || path == "" && was == nil || was != nil && (was.Text == "" || was.Text == "0") && len(was.Items) == 0)
}

func (c *comparison) equal(f *schema.Field, path string, was, is *schema.Node) bool {
	switch {
	case was == nil && is == nil, is == nil && c.free(path, was):
		return true
	case f.Type == schema.Object:
		if path == "" && (was == nil) != (is == nil) {
			return false
		}
		for i := range f.Fields {
			if sub := &f.Fields[i]; !c.equal(sub, join(path, sub.Key), was.Get(sub.Key), is.Get(sub.Key)) {
				return false
			}
		}
		return true
	case f.Type == schema.List && f.Elem.Type == schema.Object:
		a, b := sorted(f, was.List()), sorted(f, is.List())
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if !c.equal(f.Elem, path, a[i], b[i]) {
				return false
			}
		}
		return true
	case f.Type == schema.List:
		return slices.Equal(plain(f, was), plain(f, is))
	}
	return c.text(f, was, "") == c.text(f, is, c.unset[path])
}

// sorted are disks by interface, whose order means nothing; the order of all
// else does.
func sorted(f *schema.Field, items []*schema.Node) []*schema.Node {
	if f.Key != "disks" {
		return items
	}
	out := slices.Clone(items)
	slices.SortFunc(out, func(a, b *schema.Node) int {
		return schema.NaturalCompare(a.Get("interface").Str(), b.Get("interface").Str())
	})
	return out
}

// plain are the items of a list, as they are rendered.
func plain(f *schema.Field, n *schema.Node) []string {
	out := n.Strings()
	if f.Key == "tags" {
		for i := range out {
			out[i] = strings.ToLower(out[i])
		}
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

// text is a value in the form in which equal ones are equal.
func (c *comparison) text(f *schema.Field, n *schema.Node, unset string) string {
	out := n.Str()
	if out == "" {
		out = unset
	}
	if f.As == "upper" {
		return strings.ToUpper(out)
	}
	if v, err := strconv.ParseFloat(out, 64); err == nil && (f.Type == schema.Int || f.Type == schema.Float) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return out
}

// pruned is a value without what need not be written: what would be there
// without it, unless the spec says something else now.
func (c *comparison) pruned(f *schema.Field, path string, n, now *schema.Node) *schema.Node {
	switch {
	case n == nil:
		return nil
	case n.Shape == schema.ShapeList:
		out := &schema.Node{Shape: schema.ShapeList}
		for _, item := range n.Items {
			out.Items = append(out.Items, c.pruned(f.Elem, path, item, nil))
		}
		return out
	case n.Shape == schema.ShapeMap:
		out := &schema.Node{Shape: schema.ShapeMap}
		for i := range f.Fields {
			sub := &f.Fields[i]
			at := join(path, sub.Key)
			v := c.pruned(sub, at, n.Get(sub.Key), now.Get(sub.Key))
			if v == nil || !sub.Required && c.needless(sub, at, v, now.Get(sub.Key)) {
				continue
			}
			out = set(out, sub.Key, v)
		}
		return out
	}
	return n
}

// needless reports whether a part need not be written.
func (c *comparison) needless(f *schema.Field, path string, v, now *schema.Node) bool {
	switch {
	case now != nil && !c.equal(f, path, v, now):
		return false // a map's parts are inherited one by one
	case slices.Contains([]string{"bridge", "datastore", "device"}, f.Key):
		return false // defaults that people look for
	}
	if v.Shape == schema.ShapeMap || v.Shape == schema.ShapeList {
		return len(v.Items) == 0
	}
	if v.Text == "" {
		return true
	}
	usual := c.unset[path]
	if f.Default != "" {
		usual = f.Default
	}
	return c.text(f, v, "") == usual
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
