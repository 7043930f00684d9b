package cluster

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/lock"
)

// TestClaimed: the lock of another project has a guest by its UUID, else by a MAC address,
// else by the VMID. Templates, retired and forgotten VMs and other clusters have none.
func TestClaimed(t *testing.T) {
	guest := func(vmid int, uuid string, macs ...string) *Guest {
		return &Guest{VMID: vmid, Kind: guest.VM, Config: &Config{UUID: uuid, MACs: macs}}
	}
	const mac = "BC:24:11:00:00:01"
	template := guest(300, "u")
	template.Template = true
	for _, c := range []struct {
		name  string
		entry lock.VM
		guest *Guest
		want  bool
	}{
		{"uuid", lock.VM{VMID: 1, Fingerprint: &lock.Fingerprint{UUID: "U"}}, guest(300, "u"), true},
		{"another uuid, the MAC of a predecessor", lock.VM{VMID: 300, MACs: []string{mac}, Fingerprint: &lock.Fingerprint{UUID: "v"}}, guest(300, "u", mac), false},
		{"MAC", lock.VM{VMID: 1, MACs: []string{mac}}, guest(300, "u", "bc:24:11:00:00:01"), true},
		{"VMID and another MAC", lock.VM{VMID: 300, MACs: []string{mac}}, guest(300, "u", "BC:24:11:00:00:02"), false},
		{"VMID, nothing recorded", lock.VM{VMID: 300}, guest(300, "u"), true},
		{"another VMID", lock.VM{VMID: 301}, guest(300, "u"), false},
		{"forgotten", lock.VM{VMID: 300, Status: lock.Forgotten}, guest(300, "u"), false},
		{"template", lock.VM{VMID: 300}, template, false},
	} {
		other := lock.Other{File: "../x", Lock: &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "live", Value: lock.Stack{VMs: lock.Ordered[lock.VM]{{Key: "a", Value: c.entry}}}}}}}
		if got := (&Inventory{}).Claimed([]lock.Other{other}, c.guest); (got != nil) != c.want || c.want && got.String() != "live/a in ../x" {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestNamedFor: a name begins with the pool or a tag of the VM.
func TestNamedFor(t *testing.T) {
	for _, c := range []struct {
		name, pool, want string
		tags             []string
	}{
		{"live-a", "live", "live", nil},
		{"live-a", "", "live", []string{"x", "live"}},
		{"live", "live", "", nil},
		{"live-", "live", "", nil},
		{"lively-a", "live", "", nil},
		{"live-a", "other", "", nil},
	} {
		if got := NamedFor(&Guest{Name: c.name, Pool: c.pool, Tags: c.tags}); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
