package hardware

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A part is one value of a property, and how it differs.
type part struct {
	name, path string   // memory, memory.dedicated
	device     string   // of a list
	keys       []string // below the property; a device by its interface, or by its number
	text       string   // the difference in words
	tf.Change
}

// below is a part of a part.
func (p part) below(name string, f *schema.Field) part {
	return part{name: name, path: p.path + "." + cmp.Or(f.HCL, f.Key), device: p.device, keys: append(slices.Clone(p.keys), f.Key)}
}

// item are the keys of an element of a list.
func (p part) item(key string) []string { return append(slices.Clone(p.keys), key) }

// of is what the name of a device in a list does not say: net1 has addresses, and is a
// network device.
func (p part) of(f *schema.Field) string {
	if f.Rest {
		return p.name
	}
	return ""
}

// changes are the values that differ.
func (c *comparison) changes(f *schema.Field, at part, was, is *schema.Node) []part {
	if f.Key == guest.MAC && is.Str() == schema.AutoMAC {
		is = nil
	}
	switch {
	case f.Settles, was == nil && is == nil, is == nil && c.keeps(f, was):
		return nil
	case f.Type == schema.Object:
		var out []part
		for i := range f.Fields {
			sub := &f.Fields[i]
			out = append(out, c.changes(sub, at.below(at.name+" "+sub.Key, sub), was.Get(sub.Key), is.Get(sub.Key))...)
		}
		return out
	case f.Type == schema.List && f.Elem.Type == schema.Object:
		return c.elements(f, at, was, is)
	case f.Type == schema.List:
		if !slices.Equal(was.Strings(), is.Strings()) {
			return []part{at.differ(f, strings.Join(was.Strings(), " "), strings.Join(is.Strings(), " "))}
		}
	case text(f, was, "") != text(f, is, f.Unset):
		return []part{at.differ(f, was.Str(), is.Str())}
	}
	return nil
}

// elements compares disks by interface and other devices by number.
func (c *comparison) elements(f *schema.Field, at part, was, is *schema.Node) []part {
	var out []part
	only := func(d device, where string) part {
		p := part{path: at.path, device: d.name, keys: at.item(d.key), text: strings.TrimSpace(at.of(f)+" "+d.name) + " is in " + where}
		p.Change = tf.Change{Path: at.path, Device: d.name, Whole: true}
		return p
	}
	a, b := named(f, was), named(f, is)
	for _, d := range a {
		if other := find(b, d.name); other == nil {
			p := only(d, "Proxmox VE and not in the spec")
			p.Was = flow(short(f.Elem, c.pruned(f.Elem, d.value, nil)))
			out = append(out, p)
		} else {
			p := part{name: strings.TrimSpace(at.of(f) + " " + d.name), path: at.path, device: d.name, keys: at.item(d.key)}
			out = append(out, c.changes(f.Elem, p, d.value, other)...)
		}
	}
	for _, d := range b {
		if find(a, d.name) == nil {
			p := only(d, "the spec and not in Proxmox VE")
			p.Is = flow(short(f.Elem, c.pruned(f.Elem, d.value, nil)))
			out = append(out, p)
		}
	}
	return out
}

// A device is one element of a list, with its name in Proxmox VE.
type device struct {
	name  string
	key   string // its interface, or its number
	value *schema.Node
}

func named(f *schema.Field, list *schema.Node) []device {
	var out []device
	for i, item := range list.List() {
		key := strconv.Itoa(i)
		name := strings.TrimSuffix(f.PVE, "*") + key
		for _, sub := range f.Elem.Fields {
			slot := sub.Key == guest.Interface && f.Key != guest.Networks || sub.PVE == schema.Slot // eth0 is the name that a container has for net0
			if at := item.Get(sub.Key); at != nil && slot {
				name, key = at.Text, at.Text
			}
		}
		out = append(out, device{name, key, item})
	}
	return out
}

func find(devices []device, name string) *schema.Node {
	for _, d := range devices {
		if d.name == name {
			return d.value
		}
	}
	return nil
}

// differ is the part with its two values.
func (p part) differ(f *schema.Field, was, is string) part {
	say := func(text string) string {
		if text == "" || text == "-1" {
			return "not set"
		}
		return strings.TrimSpace(brief(text) + " " + f.Unit)
	}
	p.text = fmt.Sprintf("%s is %s in Proxmox VE and %s in the spec", p.name, say(was), say(is))
	p.Change = tf.Change{Path: p.path, Device: p.device, Was: was, Is: is}
	return p
}

// brief is the beginning of a long text, on one line.
func brief(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > 120 {
		return string(runes[:120]) + "..."
	}
	return string(runes)
}

// text is a value in the form in which equal values are equal.
func text(f *schema.Field, n *schema.Node, unset string) string {
	out := cmp.Or(n.Str(), unset)
	switch f.As {
	case "upper":
		return strings.ToUpper(out)
	case "set":
		words := strings.Split(out, ",")
		slices.Sort(words)
		return strings.Join(words, ",")
	}
	if v, err := strconv.ParseFloat(out, 64); err == nil && (f.Type == schema.Int || f.Type == schema.Float) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return out
}
