package schema

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
)

// mostCPUUnits is the most that Proxmox VE keeps of a weight: it uses version 2 of the control groups of Linux. A VM that had more
// before that has it still.
// https://git.proxmox.com/?p=pve-common.git;a=blob;f=src/PVE/CGroup.pm (clamp_cpu_shares)
const mostCPUUnits = 10000

// hardware checks settings of the hardware against one another.
func (e *expander) hardware(v *VM) {
	memory, balloon := v.Values.Get(guest.Memory), v.Values.Get(guest.Balloon)
	if balloon.Int() > memory.Int() {
		e.errorPos(v.At(guest.Balloon), v.Path+".balloon", CodeHardware, "lower balloon, or raise memory",
			"balloon (%d MiB) is larger than memory (%d MiB)", balloon.Int(), memory.Int())
	}
	if vcpus, all := v.Values.Get(guest.VCPUs), v.VCPUs(); vcpus.Int() > all {
		e.errorPos(v.At(guest.VCPUs), v.Path+".vcpus", CodeHardware, "lower vcpus, or raise cores",
			"vcpus (%d) is more than cores times sockets (%d)", vcpus.Int(), all)
	}
	if weight := v.Values.Get(guest.CPUUnits); weight.Int() > mostCPUUnits && !v.Adopt {
		e.errorPos(v.At(guest.CPUUnits), v.Path+"."+guest.CPUUnits, CodeHardware, fmt.Sprintf("write %d or less", mostCPUUnits),
			"Proxmox VE makes %d of cpu_units: %d, and every apply would change it again", mostCPUUnits, weight.Int())
	}
	e.hotplug(v)
	e.pci(v)
	e.numaNodes(v)
	e.virtiofs(v)
	e.encryption(v)
	if efi := v.Values.Get(guest.EFI); efi != nil && v.Values.Get(guest.BIOS).Str() != "ovmf" {
		e.errorPos(efi.Pos, v.Path+".efi", CodeHardware, "write bios: ovmf, or remove efi", "an EFI disk needs bios: ovmf")
	}
	if vga := v.Values.Get(guest.VGA); vga != nil && vga.Get(guest.Type) == nil && len(vga.Items) > 0 {
		v.Values = v.Values.With(v.Values.key(guest.VGA), vga.With(Scalar(vga.Pos, ShapeString, guest.Type), Scalar(vga.Pos, ShapeString, "std")))
	}
	if s := v.Values.Get(guest.Startup); s != nil && s.Get(guest.Order) == nil {
		e.errorPos(s.Pos, v.Path+".startup", CodeMissingKey, "add order", "startup lacks the key \"order\"")
	}
}

// hotplug checks what a running VM takes and releases.
func (e *expander) hotplug(v *VM) {
	n := v.Values.Get(guest.Hotplug)
	words := slices.Sorted(strings.SplitSeq(n.Str(), ","))
	if len(slices.Compact(slices.Clone(words))) < len(words) {
		e.errorPos(n.Pos, v.Path+".hotplug", CodeHardware, "name each once", "hotplug names one thing twice")
	}
	if v.hotplugsMemory() && !v.Values.Get(guest.NUMA).Bool() {
		e.errorPos(n.Pos, v.Path+".hotplug", CodeHardware, "write numa: true, or remove memory from hotplug", "hotplug of memory needs numa")
	}
}

// hotplugsMemory reports whether a running VM takes and releases memory.
func (v *VM) hotplugsMemory() bool {
	return strings.Contains(v.Values.Get(guest.Hotplug).Str(), "memory")
}
