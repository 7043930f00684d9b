package starter

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

const (
	machines  = 3  // VMs of the example
	diskGiB   = 16 // of each VM, if there is room
	vmidRange = 100
)

// A choice is what the example uses of a cluster.
type choice struct {
	template  *cluster.Guest // nil if there is none
	disk      string         // the interface of its first disk
	size      int            // GiB of that disk in the example
	drive     bool           // the template has a cloud-init drive, or its configuration was not read
	node      *cluster.Node
	datastore *cluster.Storage
	bridge    string
	first     int // VMID
}

// choices are all combinations of a template, its node and a storage with room, the best
// one first. Without a template, they are nodes and storages.
func choices(inv *cluster.Inventory) []choice {
	var out []choice
	for i := range inv.Guests {
		g := &inv.Guests[i]
		if n := inv.Node(g.Node); g.Template && g.Kind == guest.VM && n != nil && n.Online {
			out = append(out, withStorages(inv, choice{template: g, node: n})...)
		}
	}
	slices.SortStableFunc(out, func(a, b choice) int { return cmp.Compare(b.suits(), a.suits()) })
	if len(out) > 0 {
		return out
	}
	for i := range inv.Nodes {
		if n := &inv.Nodes[i]; n.Online {
			out = append(out, withStorages(inv, choice{disk: "scsi0", drive: true, node: n})...)
		}
	}
	slices.SortStableFunc(out, func(a, b choice) int { return cmp.Compare(b.datastore.Free(), a.datastore.Free()) })
	return out
}

// suits says how well a template suits an example: cloud-init configures its clones, and
// its agent reports their addresses.
func (c *choice) suits() int {
	out := 0
	if c.template.Config != nil {
		out++
		if c.drive {
			out += 4
		}
		if c.agent() {
			out += 2
		}
	}
	return out
}

// agent reports whether the configuration of the template enables the guest agent.
func (c *choice) agent() bool {
	if c.template == nil || c.template.Config == nil {
		return false
	}
	return pve.AgentEnabled(c.template.Config.Raw["agent"])
}

// withStorages completes a choice by each storage of its node that has room: that of the
// template's disk first, then those with the most free space.
func withStorages(inv *cluster.Inventory, c choice) []choice {
	least, own := c.readDisks()
	c.bridge, c.first = bridge(c), freeRange(inv)
	if c.bridge == "" {
		return nil
	}
	var out []choice
	for i := range inv.Storages {
		s := &inv.Storages[i]
		if s.Node != c.node.Name || !s.Active || !s.Images() || s.Total > 0 && s.Free() < machines*int64(least)<<30 {
			continue
		}
		c.datastore, c.size = s, least
		if least < diskGiB && s.Free() > 2*machines*diskGiB<<30 {
			c.size = diskGiB
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b choice) int {
		if (a.datastore.ID == own) != (b.datastore.ID == own) {
			return cmp.Compare(b2i(b.datastore.ID == own), b2i(a.datastore.ID == own))
		}
		return cmp.Compare(b.datastore.Free(), a.datastore.Free())
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// readDisks finds the first disk of the template, its size in whole GiB and its storage.
func (c *choice) readDisks() (gib int, storage string) {
	gib = 8
	if c.template == nil {
		return gib, ""
	}
	if c.template.Config == nil {
		c.disk, c.drive = "scsi0", true
		return max(1, int((c.template.Disk+1<<30-1)>>30)), ""
	}
	for _, text := range c.template.Config.Disks {
		key, value, _ := strings.Cut(text, "=")
		d := pve.ParseDrive(key, value)
		switch {
		case d.CloudInit():
			c.drive = true
		case c.disk != "" || d.CDROM() || !pve.IsDrive(key):
		default:
			c.disk, storage = key, d.Storage
			if d.Options.Has("size") {
				gib = max(1, int((d.Size()+1<<30-1)>>30))
			}
		}
	}
	return gib, storage
}

// bridge is the bridge of the template's first NIC if the node has it, else vmbr0, else
// the first one that is active. A node whose bridges were not read has vmbr0.
func bridge(c choice) string {
	if c.node.Networks == nil {
		return "vmbr0"
	}
	wanted := []string{"vmbr0"}
	if c.template != nil && c.template.Config != nil {
		if name := pve.ParseNIC(c.template.Config.Raw["net0"]).Bridge(); name != "" {
			wanted = []string{name, "vmbr0"}
		}
	}
	for _, w := range wanted {
		if has, _ := c.node.HasNetwork(w); has {
			return w
		}
	}
	for _, n := range c.node.Networks {
		if !n.Inactive {
			return n.Name
		}
	}
	return ""
}

// freeRange is the first of a hundred VMIDs that no guest has, from 2100 on.
func freeRange(inv *cluster.Inventory) int {
	for first := 2100; ; first += vmidRange {
		if !slices.ContainsFunc(inv.Guests, func(g cluster.Guest) bool { return g.VMID >= first && g.VMID < first+vmidRange }) {
			return first
		}
	}
}

// freeVMID is the lowest VMID from 9000 on that no guest has.
func freeVMID(inv *cluster.Inventory) int {
	vmid := 9000
	for inv.Guest(vmid) != nil {
		vmid++
	}
	return vmid
}
