package deploy

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// TestMigrating: only VMs that plans move from where they are.
func TestMigrating(t *testing.T) {
	change := func(action tf.Action, vmid float64, node string) *tf.ResourceChange {
		return &tf.ResourceChange{Managed: true, Type: guest.VMResource, Action: action, After: map[string]any{"vm_id": vmid, "node_name": node}}
	}
	p := &plans{units: []planned{{unit: tf.Unit{Stack: "lab", Unit: lock.UnitVM}, plan: &tf.Plan{Changes: []*tf.ResourceChange{
		change(tf.Update, 100, "pve2"), change(tf.Update, 101, "pve1"), change(tf.Create, 102, "pve2"), change(tf.Update, 103, "pve2")}}}}}
	if got := p.migrating(); got != nil {
		t.Errorf("without a cluster: %v", got)
	}
	p.was = &cluster.Inventory{Guests: []cluster.Guest{{VMID: 100, Node: "pve1"}, {VMID: 101, Node: "pve1"}, {VMID: 102, Node: "pve1"}}}
	if got := p.migrating(); len(got) != 1 || got[0].VMID != 100 {
		t.Errorf("got %v", got)
	}
}
