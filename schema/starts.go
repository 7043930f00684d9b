package schema

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"stackgen/guest"
)

// starts checks values that Proxmox VE takes or refuses only after the clone, or with which
// QEMU does not start: the apply would fail and leave a VM that is half made.
// https://git.proxmox.com/?p=qemu-server.git;a=blob;f=src/PVE/QemuServer.pm (print_netdevice_full, assert_clipboard_config)
// https://gitlab.com/qemu-project/qemu/-/blob/master/util/throttle.c (throttle_is_valid)
func (e *expander) starts(v *VM) {
	for i, n := range v.Values.Get(guest.Networks).List() {
		if mtu := n.Get(guest.MTU); mtu.Int() > 1 && mtu.Int() < 576 && n.Get(guest.Model).Str() == "virtio" {
			e.errorPos(mtu.Pos, fmt.Sprintf("%s.networks[%d].mtu", v.Path, i), CodeHardware, "write 576 or more, or 1 for the MTU of the bridge",
				"a VM with an MTU of %d does not start: IPv4 needs at least 576", mtu.Int())
		}
	}
	for i, d := range v.Values.Get(guest.Disks).List() {
		path := fmt.Sprintf("%s.disks[%d]", v.Path, i)
		e.bursts(d.Get(guest.Speed), path+".speed")
		if aio, cache := d.Get(guest.AIO), d.Get(guest.Cache).Str(); aio.Str() == "native" &&
			(strings.HasPrefix(cache, "write") || cache == "unsafe") {
			e.errorPos(aio.Pos, path+".aio", CodeHardware, "write cache: none or cache: directsync, or another aio",
				"a VM does not start with aio: native and cache: %s", cache)
		}
	}
	vga := v.Values.Get(guest.VGA)
	kind, clipboard := vga.Get(guest.Type).Str(), vga.Get(guest.Clipboard)
	if clipboard != nil && (kind == "none" || strings.HasPrefix(kind, "serial")) {
		e.errorPos(clipboard.Pos, v.Path+".vga.clipboard", CodeHardware, "remove clipboard, or choose another type",
			"the display %s has no clipboard", kind)
	}
	e.modules(v)
	e.shares(v)
	e.numaCPUs(v)
}

// fixedMemory is what a VM with hotplug of memory has in MiB before Proxmox VE adds modules.
const fixedMemory = 1024

// modules checks that the memory of a VM with hotplug of memory is what Proxmox VE can make of its modules. Where it is not,
// the VM does not start, and memory that is added while the VM runs is more than the spec says.
func (e *expander) modules(v *VM) {
	memory := v.Values.Get(guest.Memory).Int()
	if !v.hotplugsMemory() {
		return
	}
	if memory < fixedMemory {
		e.errorPos(v.At(guest.Memory), v.Path+".memory", CodeHardware, "write at least 1024, or remove memory from hotplug",
			"a VM with hotplug of memory does not start with %d MiB: it needs at least 1024", memory)
		return
	}
	if below, above := besideModules(memory); below < memory {
		e.errorPos(v.At(guest.Memory), v.Path+".memory", CodeHardware, fmt.Sprintf("write %d or %d, or remove memory from hotplug", below, above),
			"a VM with hotplug of memory does not start with %d MiB: at this size, its memory has modules of %d MiB", memory, above-below)
	}
}

// besideModules returns the nearest sizes of memory that modules make, at most and at least the given one: 32 modules of 512 MiB, then
// 32 of twice that, and so on.
// https://git.proxmox.com/?p=qemu-server.git;a=blob;f=src/PVE/QemuServer/Memory.pm (foreach_dimm)
func besideModules(memory int) (below, above int) {
	above = fixedMemory
	for n := 0; above < memory; n++ {
		below, above = above, above+512<<(n/32)
	}
	if above == memory {
		return memory, memory
	}
	return below, above
}

// shares checks that the sockets of a VM with NUMA, which are its NUMA nodes then, get equal shares of the memory: QEMU adds them up.
// With hotplug of memory, Proxmox VE shares out the fixed memory only. An adopted VM may have nodes that the spec does not say.
func (e *expander) shares(v *VM) {
	sockets, memory, at := v.Values.Get(guest.Sockets).Int(), v.Values.Get(guest.Memory).Int(), guest.Memory
	if !v.Values.Get(guest.NUMA).Bool() || sockets == 0 || v.Adopt || len(v.Values.Get(guest.NUMANodes).List()) > 0 {
		return
	}
	fix, odd := "", sockets>>bits.TrailingZeros(uint(sockets))
	if below := memory - memory%odd; v.hotplugsMemory() {
		memory, at, fix = fixedMemory, guest.Hotplug, "remove memory from hotplug, or change sockets"
	} else {
		fix = fmt.Sprintf("write %d or %d, or change sockets", below, below+odd)
	}
	if memory%odd > 0 {
		e.errorPos(v.At(at), v.Path+"."+at, CodeHardware, fix,
			"a VM with numa does not start if its sockets cannot have equal shares of its memory: %d sockets, %d MiB", sockets, memory)
	}
}

// bursts checks that a limit for bursts has a limit that it exceeds.
func (e *expander) bursts(speed *Node, path string) {
	for i := range speedFields {
		key := speedFields[i].Key
		limit, burst := speed.Get(key), speed.Get(key+"_burstable")
		switch {
		case burst == nil:
		case limit == nil:
			e.errorPos(burst.Pos, path, CodeHardware, "add "+key, "a VM does not start with %s_burstable and without %s", key, key)
		case burst.Int() < limit.Int():
			e.errorPos(burst.Pos, path, CodeHardware, fmt.Sprintf("write at least %d, or remove it", limit.Int()),
				"%s_burstable (%d) is lower than %s (%d)", key, burst.Int(), key, limit.Int())
		}
	}
}

// numaCPUs checks that the NUMA nodes have CPUs that the VM has, each in one of them.
func (e *expander) numaCPUs(v *VM) {
	all := v.VCPUs()
	seen := map[int]bool{}
	for i, n := range v.Values.Get(guest.NUMANodes).List() {
		cpus, path := n.Get(guest.CPUs), fmt.Sprintf("%s.numa_nodes[%d].cpus", v.Path, i)
		for part := range strings.SplitSeq(cpus.Str(), ";") {
			first, last, isRange := strings.Cut(part, "-")
			if !isRange {
				last = first
			}
			from, _ := strconv.Atoi(first) // the parser checked both
			to, _ := strconv.Atoi(last)
			switch {
			case to < from:
				e.errorPos(cpus.Pos, path, CodeHardware, fmt.Sprintf("write %d-%d", to, from), "the range of CPUs %s has no CPU", part)
			case to >= all:
				e.errorPos(cpus.Pos, path, CodeHardware, "lower it, or raise cores", "the VM has no CPU %d: it has %d, and 0 is the first", to, all)
			}
			for cpu := from; cpu <= min(to, all-1); cpu++ {
				if seen[cpu] {
					e.errorPos(cpus.Pos, path, CodeHardware, "name each CPU once", "two NUMA nodes have CPU %d", cpu)
				}
				seen[cpu] = true
			}
		}
	}
}
