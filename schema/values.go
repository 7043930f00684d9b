package schema

import (
	"slices"

	"stackgen/guest"
)

// VCPUs is the number of virtual CPUs of the VM.
func (v *VM) VCPUs() int {
	return max(1, v.Values.Get(guest.Cores).Int()) * max(1, v.Values.Get(guest.Sockets).Int())
}

// Disk is the disk of the VM at an interface, or nil.
func (v *VM) Disk(at string) *Node {
	if i := slices.Index(v.Interfaces(), at); i >= 0 {
		return v.Values.Get(guest.Disks).Items[i]
	}
	return nil
}

// Interfaces are those of the disks of the VM, in their order.
func (v *VM) Interfaces() []string { return Interfaces(v.Values.Get(guest.Disks).List()) }

// Interfaces are those of disks, in their order.
func Interfaces(disks []*Node) []string {
	var out []string
	for _, d := range disks {
		out = append(out, d.Get(guest.Interface).Str())
	}
	return out
}
