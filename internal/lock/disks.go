package lock

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// disks are the interfaces of a VM's disks in the order in which they are rendered. The
// provider knows disks by their positions in that order, and takes what a disk does not
// say, such as its volume, from the disk that had its position. So disks keep their order,
// and new ones come last. The first order is that in which the provider reads the disks of
// an imported VM.
func disks(v *schema.VM, was *VM) []string {
	return was.DiskOrder(v.Interfaces())
}

// DiskOrder is the order in which a render puts the disks at some interfaces.
func (v *VM) DiskOrder(disks []string) []string {
	var out, added []string
	for _, at := range v.Disks {
		if slices.Contains(disks, at) {
			out = append(out, at)
		}
	}
	for _, at := range disks {
		if !slices.Contains(out, at) {
			added = append(added, at)
		}
	}
	slices.SortFunc(added, natural.Compare)
	return append(out, added...)
}

// OrderAs is the order of disks in which those of a state come first, as the state has
// them; nil if a render puts them into that order anyway. A render that lacks a disk forgets
// its place, and another one that has it again puts it last.
func (v *VM) OrderAs(state, disks []string) []string {
	is := v.DiskOrder(disks)
	want := slices.DeleteFunc(slices.Clone(state), func(at string) bool { return !slices.Contains(disks, at) })
	for _, at := range is {
		if !slices.Contains(want, at) {
			want = append(want, at)
		}
	}
	if slices.Equal(want, is) {
		return nil
	}
	return want
}

// bootDisk refuses the removal of a disk that boot_order names: Proxmox VE does not detach
// it, and an apply would fail halfway.
func (d *stackDecider) bootDisk(v *schema.VM, was, out *VM) {
	for _, b := range v.Values.Get(guest.BootOrder).List() {
		if slices.Contains(was.Disks, b.Text) && len(out.Disks) > 0 && !slices.Contains(out.Disks, b.Text) {
			d.vmError(v, b.Pos, v.Path+".boot_order", schema.CodeDevice,
				"remove it from boot_order, or keep the disk",
				"the VM boots from %s, which is not among its disks any more", b.Text)
		}
	}
}

// DetachedVolumes are the volumes of the disks at an interface that the spec has removed.
func (v *VM) DetachedVolumes(at string) []string {
	var out []string
	for _, d := range v.Detached {
		if name, volume, _ := strings.Cut(d, "="); name == at {
			out = append(out, volume)
		}
	}
	return out
}

// OrderedDisks are the disks of a VM in the order in which they are rendered.
func (v *VM) OrderedDisks(vm *schema.VM) []*schema.Node {
	items, order := slices.Clone(vm.Values.Get(guest.Disks).List()), disks(vm, v)
	at := func(n *schema.Node) int { return slices.Index(order, n.Get(guest.Interface).Str()) }
	slices.SortStableFunc(items, func(a, b *schema.Node) int { return at(a) - at(b) })
	return items
}
