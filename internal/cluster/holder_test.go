package cluster

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/lock"
)

// TestHalfExchanged: a VM that has only some of its new disks is known also after its unused volumes were removed by hand.
func TestHalfExchanged(t *testing.T) {
	vm := func(vmid int, name string, raw map[string]string) Guest {
		return Guest{VMID: vmid, Name: name, Kind: guest.VM, Config: &Config{UUID: "u1", Raw: raw}}
	}
	two := map[string]string{"scsi0": "x:a", "scsi2": "x:b", "ide2": "x:cloudinit,media=cdrom"}
	e := &lock.VM{VMID: 100, Rebuild: &lock.Rebuild{UUID: "u1", Holder: 199, Volumes: []string{"x:old"}, From: &lock.Template{VMID: 9000}}}
	for name, c := range map[string]struct {
		change func(inv *Inventory)
		want   bool
	}{
		"it gave nothing":       {func(*Inventory) {}, false},
		"it gave one":           {func(inv *Inventory) { inv.Guests[1].Config.Raw = map[string]string{"scsi2": "x:b"} }, true},
		"it is being made":      {func(inv *Inventory) { inv.Guests[1].Config.Raw, inv.Guests[1].Lock = nil, "clone" }, false},
		"it was not read":       {func(inv *Inventory) { inv.Guests[1].Config = nil }, false},
		"a stranger":            {func(inv *Inventory) { inv.Guests[1].Name, inv.Guests[1].Config.Raw = "web", nil }, false},
		"of another VM":         {func(inv *Inventory) { inv.Guests[1].Name, inv.Guests[1].Config.Raw = "rebuild-1000-from-9000", nil }, false},
		"no template":           {func(inv *Inventory) { inv.Guests, inv.Guests[1].Config.Raw = inv.Guests[:2], nil }, false},
		"a lost volume":         {func(inv *Inventory) { inv.Guests[0].Config.Raw["unused0"] = "x:old" }, true},
		"a given volume":        {func(inv *Inventory) { inv.Guests[0].Config.Raw["unused160"] = "x:new" }, true},
		"its disk was moved":    {func(inv *Inventory) { inv.Guests[0].Config.Raw["unused0"] = "x:c" }, false},
		"it still has it":       {func(inv *Inventory) { inv.Guests[0].Config.Raw["scsi0"] = "x:old" }, false},
		"its configuration not": {func(inv *Inventory) { inv.Guests[0].Config = nil }, false},
		"all was done": {func(inv *Inventory) {
			inv.Guests[0].Config.UUID, inv.Guests[1].Config.Raw = "u2", nil
		}, false},
	} {
		inv := &Inventory{Guests: []Guest{vm(100, "db", map[string]string{"scsi0": "x:c"}), vm(199, "rebuild-100-from-9000", two), vm(9000, "debian", two)}}
		c.change(inv)
		if got := inv.HalfExchanged(e, &inv.Guests[0]); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
