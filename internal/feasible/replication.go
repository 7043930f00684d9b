package feasible

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// replication checks that disks which the spec adds to a VM with a replication job can be replicated, or are not to be: Proxmox
// VE refuses the update otherwise, and the same of a disk that is not replicated so far.
func (c *creation) replication() {
	if c.current == nil || len(c.inv.ReplicatesTo(c.current.VMID)) == 0 {
		return
	}
	var names, evidence []string
	for i, d := range c.vm.Values.Get(guest.Disks).List() {
		key, id := d.Get(guest.Interface).Str(), d.Get(guest.Datastore).Str()
		has, is := c.current.Config.Raw[key]
		if !c.unreplicated(id) || d.Get(guest.Replicate).Str() == "false" || is && pve.Parse(has).Option("replicate") != "0" {
			continue
		}
		names = append(names, key)
		evidence = append(evidence, fmt.Sprintf("%s is on storage %s", key, id))
		list := c.get(guest.Disks)
		c.values[guest.Disks] = replaceItem(list, i, set(list.Items[i], guest.Replicate, scalar(schema.ShapeBool, "false")))
	}
	if len(names) > 0 {
		c.add("it has a replication job, and Proxmox VE refuses disks for it that cannot be replicated: "+strings.Join(names, ", "), evidence,
			Remedy{What: "leave them out of the replication: write into SPEC", Field: guest.Disks, Value: c.values[guest.Disks]})
	}
}

// unreplicated reports whether a storage certainly has images that replication does not copy. One that is shared needs none.
func (c *creation) unreplicated(id string) bool {
	s := c.inv.Storage(id, c.on)
	return s != nil && !s.Shared && !cluster.StorageTypeOf(s.Type).Replicates
}

// replicatedElsewhere checks that a running VM with replication jobs is migrated to a node to which they copy it.
func (c *creation) replicatedElsewhere() {
	targets := c.inv.ReplicatesTo(c.current.VMID)
	if len(targets) == 0 || c.current.Status != "running" || slices.Contains(targets, c.on) {
		return
	}
	c.add("its replication jobs do not copy it to node "+c.on+", and Proxmox VE migrates it there only while it is off",
		[]string{"they copy it to " + strings.Join(targets, ", ")})
}
