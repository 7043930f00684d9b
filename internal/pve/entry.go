package pve

import (
	"slices"
	"strings"
)

// An Option is one part of an entry. Its name is "" where it has none: it is the value of
// the default key of the entry, such as the volume of a disk.
type Option struct{ Name, Value string }

func (o Option) String() string {
	if o.Name == "" {
		return o.Value
	}
	return o.Name + "=" + o.Value
}

// An Entry is the text of one entry of a configuration as its options, in their order.
// The entry local-lvm:vm-100-disk-0,size=32G has an option without a name, and size.
type Entry []Option

// Parse splits an entry into its options. Like Proxmox VE, it skips empty parts, and takes
// a part without "=" for the value of the default key wherever it is. Around a part, it
// skips spaces, as the provider does; Proxmox VE accepts none, and no option twice.
func Parse(text string) Entry {
	var e Entry
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		name, value, named := strings.Cut(part, "=")
		switch {
		case part == "":
		case named && name != "":
			e = append(e, Option{name, value})
		default:
			e = append(e, Option{Value: part})
		}
	}
	return e
}

// String is the entry as Proxmox VE reads it.
func (e Entry) String() string {
	parts := make([]string, len(e))
	for i, o := range e {
		parts[i] = o.String()
	}
	return strings.Join(parts, ",")
}

// Get returns the value of an option; "" names that of the default key.
func (e Entry) Get(name string) (string, bool) {
	for _, o := range e {
		if o.Name == name {
			return o.Value, true
		}
	}
	return "", false
}

// Has reports whether the entry has an option.
func (e Entry) Has(name string) bool {
	_, has := e.Get(name)
	return has
}

// Option is the value of an option, or "".
func (e Entry) Option(name string) string {
	value, _ := e.Get(name)
	return value
}

// Default is the value of the default key, which may be written with its name or without.
func (e Entry) Default(name string) string {
	if value, ok := e.Get(""); ok {
		return value
	}
	return e.Option(name)
}

// With is the entry with another value of an option where it is, or as the last one.
func (e Entry) With(name, value string) Entry {
	out := slices.Clone(e)
	if i := slices.IndexFunc(out, func(o Option) bool { return o.Name == name }); i >= 0 {
		out[i].Value = value
		return out
	}
	return append(out, Option{name, value})
}

// Without is the entry without some options.
func (e Entry) Without(names ...string) Entry {
	return slices.DeleteFunc(slices.Clone(e), func(o Option) bool { return slices.Contains(names, o.Name) })
}

// True reports whether a switch is on.
func True(text string) bool {
	return slices.Contains([]string{"1", "on", "yes", "true"}, strings.ToLower(text))
}

// List splits a list of words, such as the content of a storage: images,rootdir.
func List(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", ;\t\n\x00", r) })
}

// AgentEnabled reports whether the entry agent enables the guest agent: 1, or enabled=1,
// among other options.
func AgentEnabled(agent string) bool { return True(Parse(agent).Default("enabled")) }

// BootOrder are the devices that a configuration boots from, in their order.
func BootOrder(raw map[string]string) []string {
	if order := Parse(raw["boot"]).Option("order"); order != "" {
		return strings.Split(order, ";")
	}
	if disk := raw["bootdisk"]; disk != "" {
		return []string{disk}
	}
	return nil
}

// CustomPrefix begins a CPU type that is a model which an administrator defines.
const CustomPrefix = "custom-"

// CustomModel reports whether a CPU type is a model that an administrator defines.
func CustomModel(cpu string) bool { return strings.HasPrefix(cpu, CustomPrefix) }
