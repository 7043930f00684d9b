package pvesim

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// qemuExits is the error of a start for which QEMU refuses its arguments.
func qemuExits() error { return failf("start failed: QEMU exited with code 1") }

// arguments checks what Proxmox VE and QEMU refuse of a configuration at the start of the
// guest, whatever its node has.
func (g *Guest) arguments() error {
	c := g.Config
	for _, k := range slices.Sorted(maps.Keys(c)) {
		switch {
		case netKey.MatchString(k):
			n := parseNet(c[k])
			if mtu := atoi(n["mtu"]); mtu > 1 && mtu < 576 && n["model"] == "virtio" && n["bridge"] != "" {
				return failf("%s: MTU '%d' is smaller than the IP minimum MTU '576'", k, mtu)
			}
		case isDriveKey(k) && !throttled(parseDrive(c[k]).opts), isDriveKey(k) && !asynchronous(parseDrive(c[k]).opts):
			return qemuExits()
		}
	}
	if strings.Contains(c["hotplug"], "memory") {
		switch {
		case c["numa"] != "1":
			return failf("NUMA needs to be enabled for memory hotplug")
		case g.maxMemory() < 1024*mib:
			return failf("minimum memory must be 1024MB")
		}
		if all, module := withModules(int(g.maxMemory() / mib)); all > int(g.maxMemory()/mib) {
			return failf("memory size (%d) must be aligned to %d for hotplugging", g.maxMemory()/mib, module)
		}
	}
	if c["numa"] == "1" && !(g.assigned() && g.shared()) {
		return qemuExits()
	}
	return nil
}

// withModules returns the memory in MiB that a guest with hotplug of memory has when the server has added modules up to the
// given one, and the size of the last module. Source: qemu-server 9.2, PVE::QemuServer::Memory::foreach_dimm.
func withModules(memory int) (all, module int) {
	all = 1024
	for n := 0; all < memory; n++ {
		module = 512 << (n / 32)
		all += module
	}
	return all, module
}

// throttled reports whether each limit for bursts has a limit that it exceeds.
func throttled(opts map[string]string) bool {
	for _, k := range []string{"mbps_rd", "mbps_wr", "iops_rd", "iops_wr"} {
		burst, _ := strconv.ParseFloat(opts[k+"_max"], 64)
		limit, _ := strconv.ParseFloat(opts[k], 64)
		if burst > 0 && (limit == 0 || burst < limit) {
			return false
		}
	}
	return true
}

// asynchronous reports whether native asynchronous I/O comes without a cache of the node.
func asynchronous(opts map[string]string) bool {
	return opts["aio"] != "native" || slices.Contains([]string{"", "none", "directsync"}, opts["cache"])
}

// shared reports whether the sockets of a guest get equal shares of its memory: without NUMA nodes, they are its nodes.
// Source: qemu-server 9.2, PVE::QemuServer::Memory::config.
func (g *Guest) shared() bool {
	for i := range 8 {
		if g.Config["numa"+itoa(i)] != "" {
			return true
		}
	}
	bytes := g.maxMemory()
	if strings.Contains(g.Config["hotplug"], "memory") {
		bytes = 1024 * mib
	}
	return bytes%int64(max(atoi(g.Config["sockets"]), 1)) == 0
}

// assigned reports whether each CPU of a NUMA node exists, and is in no other one.
func (g *Guest) assigned() bool {
	seen := map[int]bool{}
	for i := range 8 {
		for part := range strings.SplitSeq(parseDrive("none," + g.Config["numa"+itoa(i)]).opts["cpus"], ";") {
			if part == "" {
				continue
			}
			first, last, isRange := strings.Cut(part, "-")
			if !isRange {
				last = first
			}
			if atoi(last) < atoi(first) || atoi(last) >= g.vcpus() {
				return false
			}
			for cpu := atoi(first); cpu <= atoi(last); cpu++ {
				if seen[cpu] {
					return false
				}
				seen[cpu] = true
			}
		}
	}
	return true
}
