package proxmox_test

import (
	"reflect"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// TestPendingChangesAreNotMissed: what waits for a restart is read with the
// configuration, which has these changes applied, and costs no request more.
func TestPendingChangesAreNotMissed(t *testing.T) {
	seed := smallCluster(t)
	for _, g := range seed.Guests {
		if g.VMID == 201 {
			g.Running = true
			g.Config["net1"] = "virtio=BC:24:11:00:00:01,bridge=vmbr1"
			g.Config["cores"] = "2"
			g.Pending = map[string]string{"memory": "3072", "cipassword": "swordfish2", "net10": "virtio=BC:24:11:00:00:0A,bridge=vmbr0", "description": "-----BEGIN PRIVATE KEY-----"}
			g.Deleted = map[string]string{"net1": "1", "cores": "2"}
		}
	}
	s := start(t, pvesim.Options{Seed: seed})
	inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{201}})
	c := inv.Guest(201).Config
	want := []cluster.Pending{
		{Key: "cloud-init password"},
		{Key: "cores", Value: "2", Delete: true},
		{Key: "description", New: "(secret)"},
		{Key: "memory", Value: "1024", New: "3072"},
		{Key: "net1", Value: "virtio=BC:24:11:00:00:01,bridge=vmbr1", Delete: true},
		{Key: "net10", New: "virtio=BC:24:11:00:00:0A,bridge=vmbr0"},
	}
	if !reflect.DeepEqual(c.Pending, want) {
		t.Errorf("pending: %+v", c.Pending)
	}
	if _, has := c.Raw["net1"]; has || c.Raw["memory"] != "3072" || c.Raw["cores"] != "" || c.Raw["net10"] == "" || !c.Password {
		t.Errorf("the configuration is without the pending changes: %+v", c)
	}
	if len(c.MACs) != 2 || inv.Requests != 7+3*3+1+1 { // the last one: containers of one node
		t.Errorf("MAC addresses %v, %d requests", c.MACs, inv.Requests)
	}
}
