package hardware

import (
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// The provider writes an entry of a configuration as a whole, with the options that it knows. An update of one of them
// removes what somebody has set beside them, and no plan shows that.

// An unknown is an option of an entry that the provider does not read.
type unknown struct {
	entry  string // scsi0
	option pve.Option
}

// attributesOfContainers are the options, by entry, that no property of a container sets and that the provider reads: a
// plan shows them.
var attributesOfContainers = map[string][]string{
	"net":    {"host-managed", "rate"},
	"rootfs": {"acl", "mountoptions", "quota", "replicate"},
}

// grownRootFS are the options that the provider writes with a root file system that grows, and what Proxmox VE uses
// without them: replication jobs leave out a volume with replicate=0.
var grownRootFS = map[string]string{"acl": "as mounted", "replicate": "1"}

// noteUnknown notes an option of an entry that the provider does not read.
func (r *Reading) noteUnknown(entry string, option pve.Option) {
	name, _ := pve.SplitKey(entry)
	if r.kind != guest.Container || !slices.Contains(attributesOfContainers[name], option.Name) {
		r.unknown = append(r.unknown, unknown{entry, option})
	}
}

// Dropped are the options that changes remove from the entries that they write, and those that they write beside what
// changes.
func (r *Reading) Dropped(changes []tf.Change) []tf.Change {
	var out []tf.Change
	for _, u := range r.unknown {
		f := r.fieldOf(u.entry)
		if f == nil || !slices.ContainsFunc(changes, func(c tf.Change) bool { return r.writes(c, f, u.entry) }) {
			continue
		}
		c := tf.Change{Of: r.kind.Resource(), Path: f.Attribute() + "." + u.option.Name, Was: u.option.Value, SideEffect: true}
		if f.Key == guest.RootFS {
			c.Path = f.Key + "." + u.option.Name // its block has the name of the disks of a VM
		}
		if f.Type == schema.List {
			c.Device = u.entry
		}
		out = append(out, c)
	}
	rootfs := schema.FieldOf(guest.Container, guest.RootFS).Attribute()
	if r.kind != guest.Container || !slices.ContainsFunc(changes, func(c tf.Change) bool { return c.Path == rootfs+".size" }) {
		return out
	}
	for _, option := range slices.Sorted(maps.Keys(grownRootFS)) {
		if !pve.Parse(r.raw["rootfs"]).Has(option) {
			c := tf.Change{Of: r.kind.Resource(), Path: guest.RootFS + "." + option, Was: grownRootFS[option], Is: "0", SideEffect: true}
			out = append(out, c)
		}
	}
	return out
}

// fieldOf is the property that an entry belongs to, or nil.
func (r *Reading) fieldOf(entry string) *schema.Field {
	name, _ := pve.SplitKey(entry)
	fields := schema.Fields(r.kind)
	i := slices.IndexFunc(fields, func(f schema.Field) bool {
		return slices.ContainsFunc(strings.Fields(f.PVE), func(of string) bool {
			key, _, _ := strings.Cut(of, "/")
			return key == entry || key == name+"*"
		})
	})
	if i < 0 {
		return nil
	}
	return &fields[i]
}

// writes reports whether the provider writes an entry of a property for a change. It writes one disk, and all devices of
// any other list.
func (r *Reading) writes(c tf.Change, f *schema.Field, entry string) bool {
	block, _, _ := strings.Cut(c.Path, ".")
	addresses := r.kind == guest.Container && f.Key == guest.Networks && strings.HasPrefix(c.Path+".", schema.ContainerAddresses().HCL+".")
	switch {
	case block != f.Attribute() && !addresses, c.Whole && c.Removes() && c.Device == entry:
		return false
	case f.Key == guest.Disks:
		return c.Device == entry
	}
	return true
}
