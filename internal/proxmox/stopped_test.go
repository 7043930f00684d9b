package proxmox_test

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// TestStopped: the list of tasks of a VM says that its QEMU was stopped, and no task of another
// VM does.
func TestStopped(t *testing.T) {
	seed := smallCluster(t)
	addAuditor(seed, false)
	grant(seed, "/", "Administrator", true)
	s := start(t, pvesim.Options{Seed: seed})
	api, err := proxmox.OpenPower(t.Context(), configFor(t, s, "audit@pve!t"))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	vm := func(vmid int) *cluster.Guest { return &cluster.Guest{VMID: vmid, Node: "pve1", Kind: guest.VM} }
	for _, action := range []string{"start", "stop"} {
		if was, err := api.Stopped(t.Context(), vm(201)); was || err != nil {
			t.Errorf("before %s: %v, %v", action, was, err)
		}
		if _, err := api.Send(t.Context(), vm(201), []string{"status", action}, map[string]string{}); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := api.Stopped(t.Context(), vm(201)); !was || err != nil {
		t.Errorf("after a stop: %v, %v", was, err)
	}
	if was, err := api.Stopped(t.Context(), vm(203)); was || err != nil {
		t.Errorf("of another VM: %v, %v", was, err)
	}
}
