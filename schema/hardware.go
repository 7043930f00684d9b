package schema

import (
	"slices"
	"strings"
)

// hardware checks settings of the hardware against one another.
func (e *expander) hardware(v *VM) {
	memory, balloon := v.Values.Get("memory"), v.Values.Get("balloon")
	if balloon.Int() > memory.Int() {
		e.errorPos(v.At("balloon"), v.Path+".balloon", CodeHardware, "lower balloon, or raise memory",
			"balloon (%d MiB) is larger than memory (%d MiB)", balloon.Int(), memory.Int())
	}
	if vcpus, all := v.Values.Get("vcpus"), max(1, v.Values.Get("cores").Int())*max(1, v.Values.Get("sockets").Int()); vcpus.Int() > all {
		e.errorPos(v.At("vcpus"), v.Path+".vcpus", CodeHardware, "lower vcpus, or raise cores",
			"vcpus (%d) is more than cores times sockets (%d)", vcpus.Int(), all)
	}
	e.hotplug(v)
	e.pci(v)
	e.numaNodes(v)
	e.virtiofs(v)
	e.encryption(v)
	if efi := v.Values.Get("efi"); efi != nil && v.Values.Get("bios").Str() != "ovmf" {
		e.errorPos(efi.Pos, v.Path+".efi", CodeHardware, "write bios: ovmf, or remove efi", "an EFI disk needs bios: ovmf")
	}
	if vga := v.Values.Get("vga"); vga != nil && vga.Get("type") == nil && len(vga.Items) > 0 {
		v.Values = v.Values.With(v.Values.key("vga"), vga.With(Scalar(vga.Pos, ShapeString, "type"), Scalar(vga.Pos, ShapeString, "std")))
	}
	if s := v.Values.Get("startup"); s != nil && s.Get("order") == nil {
		e.errorPos(s.Pos, v.Path+".startup", CodeMissingKey, "add order", "startup lacks the key \"order\"")
	}
}

// hotplug checks what a running VM takes and releases.
func (e *expander) hotplug(v *VM) {
	n := v.Values.Get("hotplug")
	words := slices.Sorted(strings.SplitSeq(n.Str(), ","))
	if len(slices.Compact(slices.Clone(words))) < len(words) {
		e.errorPos(n.Pos, v.Path+".hotplug", CodeHardware, "name each once", "hotplug names one thing twice")
	}
	if slices.Contains(words, "memory") && !v.Values.Get("numa").Bool() {
		e.errorPos(n.Pos, v.Path+".hotplug", CodeHardware, "write numa: true, or remove memory from hotplug", "hotplug of memory needs numa")
	}
}
