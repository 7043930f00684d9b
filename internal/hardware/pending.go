package hardware

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// Waiting are those of the pending changes of a guest of a kind that change it when it starts the
// next time. A new entry with the value that Proxmox VE uses without it does not, such as `numa: 0`.
func Waiting(kind guest.Kind, pending []cluster.Pending) []cluster.Pending {
	return slices.DeleteFunc(slices.Clone(pending), func(p cluster.Pending) bool {
		switch {
		case p.Key == "rootfs": // of a container that has grown, which it has already
			return true
		case p.Value == "" && p.New == "": // a secret
			return false
		}
		return effective(kind, p.Key, p.Value) == effective(kind, p.Key, p.New)
	})
}

// effective is what a guest has with an entry of its configuration, or without it if the text
// is empty: the same for texts that mean the same.
func effective(kind guest.Kind, key, text string) string {
	fields := schema.Fields(kind)
	i := slices.IndexFunc(fields, func(f schema.Field) bool { return f.PVE == key })
	if i < 0 {
		return text
	}
	switch f := &fields[i]; f.Type {
	case schema.Object:
		return effectiveBlock(f, text)
	case schema.List, schema.Map, schema.Any:
		return text
	default:
		if f.Type == schema.Bool && text != "" {
			return truth(text)
		}
		if text == "" && !f.Varies {
			return cmp.Or(f.Implied, f.AbsentValue())
		}
		return text
	}
}

// effectiveBlock is effective for an entry with options that have defaults: an agent that
// is off, and a standard display.
func effectiveBlock(f *schema.Field, text string) string {
	if !slices.ContainsFunc(f.Fields, func(sub schema.Field) bool { return sub.ReadAbsent }) {
		return text
	}
	e := pve.Parse(text)
	known := options(f.Fields, "")
	var out []string
	for _, o := range e {
		if !slices.Contains(known, o.Name) {
			out = append(out, o.String())
		}
	}
	for i := range f.Fields {
		sub := &f.Fields[i]
		if sub.PVE == "" {
			continue
		}
		is := cmp.Or(value(sub, e.Get).Str(), sub.Unset)
		if sub.Key == f.On && is == "false" {
			return "off"
		}
		out = append(out, sub.Key+"="+is)
	}
	return strings.Join(out, ",")
}
