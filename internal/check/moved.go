package check

import (
	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/project"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// moved reports which VMs of the selected stacks an apply may move to another node, or disks of
// which to another datastore: Proxmox VE refuses some of that for a VM with snapshots, after the
// provider has stopped it. All others need no list of their snapshots.
func moved(p *project.Project) func(*cluster.Guest) bool {
	type target struct {
		*schema.VM
		node string
	}
	targets := map[int]target{}
	for _, s := range p.SelectedStacks() {
		recorded := p.Lock.Stacks.Get(s.Name)
		if recorded == nil {
			continue
		}
		entries := recorded.VMs.ByKey()
		for _, v := range s.VMs {
			if e := entries[v.Key]; e != nil {
				targets[e.VMID] = target{v, e.Node}
			}
		}
	}
	return func(g *cluster.Guest) bool {
		to, known := targets[g.VMID]
		return known && g.Kind == guest.VM && (g.Node != to.node || movesDisk(g, to.VM))
	}
}

// movesDisk reports whether a spec has another datastore for a disk than a VM has.
func movesDisk(g *cluster.Guest, v *schema.VM) bool {
	for _, d := range pve.Drives(g.Config.Raw) {
		to := v.Disk(d.Key)
		switch d.Key {
		case "efidisk0":
			to = v.Values.Get(guest.EFI)
		case "tpmstate0":
			to = v.Values.Get(guest.TPM)
		}
		if storage := to.Get(guest.Datastore).Str(); storage != "" && storage != d.Storage {
			return true
		}
	}
	return false
}
