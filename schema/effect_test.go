package schema

import (
	"testing"
)

// TestEveryPropertyHasAnEffect: a property with an attribute has the effect of its
// change, and no attribute has two rows.
func TestEveryPropertyHasAnEffect(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Attributes() {
		if a.Change == "" {
			t.Errorf("%s has no effect", a.HCL)
		}
		if seen[a.HCL] {
			t.Errorf("%s has two rows", a.HCL)
		}
		seen[a.HCL] = true
		if rows := AttributesAt(a.HCL); len(rows) != 1 {
			t.Errorf("%s has the rows %v", a.HCL, rows)
		}
	}
}

// TestEffects are effects that a guest would notice.
func TestEffects(t *testing.T) {
	for path, want := range map[string]Attribute{
		"name":                                 {Change: Live, Removal: Live, Key: "name"},
		"memory.dedicated":                     {Change: Restart, Removal: Restart, Key: "memory"},
		"agent.timeout":                        {Change: NeedlessRestart, Removal: NeedlessRestart, Key: "agent"},
		"disk":                                 {Change: Live, Removal: Detach, Key: "disks"},
		"disk.interface":                       {Change: Detach, Removal: Detach, Key: "disks"},
		"disk.datastore_id":                    {Change: Move, Removal: Move, Key: "disks"},
		"disk.size":                            {Change: Grow, Removal: Grow, Key: "disks"},
		"disk.speed.read":                      {Change: Live, Removal: Live, Key: "disks"},
		"network_device":                       {Change: Live, Removal: Unplug, Key: "networks"},
		"efi_disk.type":                        {Change: Replace, Removal: Replace, Key: "efi"},
		"tpm_state":                            {Change: PowerOff, Removal: Detach, Key: "tpm"},
		"rng.source":                           {Change: Restart, Removal: Never},
		"initialization.user_account.username": {Change: Restart, Removal: Never, Key: "cloud_init"},
		"clone.vm_id":                          {Change: Creation, Removal: Creation},
		"ipv4_addresses":                       {Change: Noise, Removal: Noise},
	} {
		rows := AttributesAt(path)
		if len(rows) != 1 || rows[0].Change != want.Change || rows[0].Removal != want.Removal || rows[0].Key != want.Key {
			t.Errorf("%s: got %v, want %v", path, rows, want)
		}
	}
	if rows := AttributesAt("disk.colour"); len(rows) != 0 {
		t.Errorf("got %v for an attribute that does not exist", rows)
	}
}
