package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// replication lists the replication jobs of the guests that the caller may see.
func replication(c *call) (any, error) {
	out := []object{}
	numbers := map[int]int{}
	for _, j := range c.w.seed.Jobs {
		n := numbers[j.Guest]
		numbers[j.Guest]++
		if c.w.allowed(c.who, "/vms/"+itoa(j.Guest), "VM.Audit") {
			out = append(out, object{"guest": j.Guest, "id": fmt.Sprintf("%d-%d", j.Guest, n), "jobnum": n, "schedule": "*/15",
				"target": j.Target, "type": "local"})
		}
	}
	return out, nil
}

// replicatesTo are the nodes to which jobs copy the disks of a guest.
func (w *cluster) replicatesTo(vmid int) (nodes []string) {
	for _, j := range w.seed.Jobs {
		if j.Guest == vmid {
			nodes = append(nodes, j.Target)
		}
	}
	return nodes
}

// checkReplication refuses disks that a guest with a replication job would get, and that cannot be replicated. Source: qemu-server
// 9.2, PVE::API2::Qemu, update_vm_api.
func (c *call) checkReplication(vmid int, set map[string]string) error {
	if len(c.w.replicatesTo(vmid)) == 0 {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(set)) {
		d := parseDrive(set[k])
		if !isDriveKey(k) || d.cdrom() || d.cloudinit() || d.opts["replicate"] == "0" || !strings.Contains(d.file, ":") {
			continue
		}
		if s := c.w.storage(storageOf(d.file)); s != nil && s.Type != "zfspool" && !s.Shared {
			return failf("cannot add non-replicatable volume to a replicated VM")
		}
	}
	return nil
}
