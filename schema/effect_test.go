package schema

import (
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
)

// TestEveryAttributeIsExplained: an attribute has one row, an effect that the
// documentation explains, and a link to what decides it.
func TestEveryAttributeIsExplained(t *testing.T) {
	for _, resource := range []string{guest.VMResource, guest.ContainerResource, guest.PoolResource, guest.RecordResource} {
		seen := map[string]bool{}
		rows := Attributes(resource)
		if len(rows) < 4 {
			t.Fatalf("%s has only %d rows", resource, len(rows))
		}
		for _, a := range rows {
			at := resource + " " + a.HCL
			for _, e := range []Effect{a.Change, a.Removal} {
				if !slices.ContainsFunc(effectRows, func(r effectRow) bool { return r.effect == e }) {
					t.Errorf("%s has the effect %q", at, e)
				}
			}
			if seen[a.HCL] {
				t.Errorf("%s has two rows", at)
			}
			seen[a.HCL] = true
			if a.Source == "" || a.Function == "" {
				t.Errorf("%s has no source", at)
			}
			if got := ResourceAttribute(resource, a.HCL); got == nil || got.HCL != a.HCL || got.Change != a.Change || got.Removal != a.Removal || got.Key != a.Key || got.Name != a.Name {
				t.Errorf("%s: its row is %v", at, got)
			}
			for _, below := range rows {
				if !a.block && below.HCL != a.HCL && inBlock(below.HCL, a.HCL) {
					t.Errorf("%s has a row, and so has its block %s", below.HCL, at)
				}
			}
		}
	}
	if rows := Attributes("proxmox_virtual_environment_file"); rows != nil {
		t.Errorf("a resource that is not rendered has the rows %v", rows)
	}
}

// TestLeftOut: what no property sets has a reason, in a sentence, and what one sets has none.
func TestLeftOut(t *testing.T) {
	var names []string
	for _, a := range LeftOut(guest.VMResource) {
		if names = append(names, a.HCL); a.Key != "" || a.Group || !strings.HasSuffix(a.Why, ".") {
			t.Errorf("%s: property %q sets it, or %q is not a sentence", a.HCL, a.Key, a.Why)
		}
	}
	for _, a := range Attributes(guest.VMResource) {
		if a.Key == "" && !a.Group && !slices.Contains(names, a.HCL) {
			t.Errorf("no property sets %s, and no reason says why", a.HCL)
		}
	}
}

// TestEveryReasonIsUsed: a reason is about an attribute or a block that has a row.
func TestEveryReasonIsUsed(t *testing.T) {
	for i, r := range reasons {
		if row := ResourceAttribute(r.resource, r.hcl); row == nil || row.HCL != r.hcl {
			t.Errorf("%s %s has a reason, and no row", r.resource, r.hcl)
		}
		if slices.ContainsFunc(reasons[:i], func(other reason) bool { return other.resource == r.resource && other.hcl == r.hcl }) {
			t.Errorf("%s %s has two reasons", r.resource, r.hcl)
		}
		if sources[r.source] == "" || r.line < 1 {
			t.Errorf("%s %s: the link is %s", r.resource, r.hcl, r.link())
		}
		if r.note != "" && !strings.HasSuffix(r.note, ".") {
			t.Errorf("%s %s: the note %q is not a sentence", r.resource, r.hcl, r.note)
		}
	}
}

// TestDependencies are what effects depend on.
func TestDependencies(t *testing.T) {
	rows := Attributes(guest.VMResource)
	for path, want := range map[string][]Dependency{
		"description":        nil,
		"cpu.cores":          {RebootAfterUpdate, Agent, Running},
		"memory.dedicated":   {RebootAfterUpdate, Hotplug, Agent, Running},
		"disk":               {Hotplug, Agent, Running},
		"disk.ssd":           {Running},
		"network_device.mtu": {Hotplug, Agent, Running},
		"efi_disk.type":      nil,
	} {
		i := slices.IndexFunc(rows, func(a Attribute) bool { return a.HCL == path })
		if i < 0 || !slices.Equal(rows[i].DependsOn, want) {
			t.Errorf("the rows of %s do not say that it depends on %q", path, want)
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
		"hostpci.mapping":                      {Change: Restart, Removal: Restart, Key: "hostpci"},
		"initialization.user_account.username": {Change: Restart, Removal: Never, Key: "cloud_init"},
		"clone.vm_id":                          {Change: Creation, Removal: Creation},
		"ipv4_addresses":                       {Change: Noise, Removal: Noise},
	} {
		row := ResourceAttribute(guest.VMResource, path)
		if row == nil || row.Change != want.Change || row.Removal != want.Removal || row.Key != want.Key {
			t.Errorf("%s: got %v, want %v", path, row, want)
		}
	}
	for path, want := range map[string]Effect{"addresses": Live, "ttl": Replace} {
		if row := ResourceAttribute(guest.RecordResource, path); row == nil || row.Change != want {
			t.Errorf("%s of a record: got %v, want %s", path, row, want)
		}
	}
	if row := ResourceAttribute(guest.VMResource, "disk.colour"); row != nil {
		t.Errorf("got %v for an attribute that does not exist", row)
	}
}
