package schema

import (
	"fmt"
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
	if memory := v.Values.Get(guest.Memory); memory.Int() < 1024 && v.hotplugsMemory() {
		e.errorPos(v.At(guest.Memory), v.Path+".memory", CodeHardware, "write at least 1024, or remove memory from hotplug",
			"a VM with hotplug of memory does not start with %d MiB: it needs at least 1024", memory.Int())
	}
	e.numaCPUs(v)
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
