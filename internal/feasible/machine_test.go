package feasible

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestMachineTypes: a VM whose machine type has a version starts only on a node whose QEMU has it. What could not be read is not
// missing.
func TestMachineTypes(t *testing.T) {
	const (
		newer = "QEMU on node pve1 has no machine type pc-q35-10.1, so Proxmox VE refuses to start it there > machine pc-q35-9.2"
		old   = "QEMU on node pve1 has no machine type pc-i440fx-2.9, so Proxmox VE refuses to start it there > machine pc-i440fx-9.2"
	)
	inv := &cluster.Inventory{Nodes: []cluster.Node{
		{Name: "pve1", Online: true, Machines: []string{"pc-q35-8.2", "pc-q35-9.2", "pc-i440fx-9.2", "pc-i440fx-8.2"}},
		{Name: "pve2", Online: true, Machines: []string{"pc-q35-10.1", "pc-i440fx-2.9"}}, {Name: "pve3", Online: true}}}
	inv.Guests = []cluster.Guest{{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Raw: map[string]string{}}}}
	for _, c := range []struct {
		spec, has, node                      string
		creation, update, restart, migration string
	}{
		{spec: "machine: q35", has: "q35", node: "pve1"},
		{spec: "machine: pc-q35-9.2", has: "q35", node: "pve1"},
		{spec: "machine: pc-q35-9.2+pve1", has: "pc-q35-9.2+pve1", node: "pve1"},
		{spec: "machine: pc-q35-10.1", has: "q35", node: "pve1", creation: newer + " > node: NAME", restart: newer},
		{spec: "machine: pc-q35-10.1", has: "q35", node: "pve2"},
		{spec: "machine: pc-q35-10.1", has: "q35", node: "pve3"},
		{spec: "cores: 2", has: "pc-i440fx-2.9", node: "pve1", restart: old, migration: old},
		{spec: "cores: 2", has: "type=pc-i440fx-2.9", node: "pve1", restart: old, migration: old},
		{spec: "machine: virt-9.0", has: "virt-9.0", node: "pve1"},
		{spec: "machine: pc-q35-10.1, started: false", has: "q35", node: "pve1", restart: newer},
	} {
		v := stack(t, "vms: {web: {clone: full, "+c.spec+"}}").VMs[0]
		e := &lock.VM{VMID: 100, Node: c.node, Template: &lock.Template{VMID: 9000, Node: "pve1"}}
		vm := cluster.Guest{VMID: 100, Node: c.node, Kind: guest.VM, Status: "running", Config: &cluster.Config{Raw: map[string]string{"machine": c.has}}}
		created, _ := Creation(inv, v, e)
		if got := ways(only(created, MachineCheck)); got != c.creation {
			t.Errorf("%s on %s: the creation: %q, want %q", c.spec, c.node, got, c.creation)
		}
		if got := ways(Update(inv, v, e, &vm, nil)); got != c.update {
			t.Errorf("%s on %s: the update: %q, want %q", c.spec, c.node, got, c.update)
		}
		if got := ways(Restart(inv, v, e, &vm, &schema.Profile{})); got != c.restart {
			t.Errorf("%s on %s: the restart: %q, want %q", c.spec, c.node, got, c.restart)
		}
		if got := ways(only(Migration(inv, v, e, &vm), MachineCheck)); got != c.migration {
			t.Errorf("%s on %s: the migration: %q, want %q", c.spec, c.node, got, c.migration)
		}
	}
}
