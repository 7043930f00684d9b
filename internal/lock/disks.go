package lock

import (
	"slices"
	"strings"

	"stackgen/internal/natural"
	"stackgen/schema"
)

// disks are the interfaces of a VM's disks in the order in which they are rendered. The
// provider knows disks by their positions in that order, and takes what a disk does not
// say, such as its volume, from the disk that had its position. So disks keep their order,
// and new ones come last. The first order is that in which the provider reads the disks of
// an imported VM.
func disks(v *schema.VM, was *VM) []string {
	var out, added []string
	for _, at := range was.Disks {
		if slices.ContainsFunc(v.Values.Get("disks").List(), func(d *schema.Node) bool { return d.Get("interface").Str() == at }) {
			out = append(out, at)
		}
	}
	for _, d := range v.Values.Get("disks").List() {
		if at := d.Get("interface").Str(); !slices.Contains(out, at) {
			added = append(added, at)
		}
	}
	slices.SortFunc(added, natural.Compare)
	return append(out, added...)
}

// bootDisk refuses the removal of a disk that boot_order names: Proxmox VE does not detach
// it, and an apply would fail halfway.
func (d *stackDecider) bootDisk(v *schema.VM, was, out *VM) {
	for _, b := range v.Values.Get("boot_order").List() {
		if slices.Contains(was.Disks, b.Text) && len(out.Disks) > 0 && !slices.Contains(out.Disks, b.Text) {
			d.vmError(v, b.Pos, v.Path+".boot_order", schema.CodeDevice, "remove it from boot_order, or keep the disk", "the VM boots from %s, which is not among its disks any more", b.Text)
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
	items, order := slices.Clone(vm.Values.Get("disks").List()), disks(vm, v)
	at := func(n *schema.Node) int { return slices.Index(order, n.Get("interface").Str()) }
	slices.SortStableFunc(items, func(a, b *schema.Node) int { return at(a) - at(b) })
	return items
}
