package drift

import (
	"fmt"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/schema"
)

// TestCoverage: guests that no spec has count with a VMID of the range of a spec, VMs and containers, and no templates.
func TestCoverage(t *testing.T) {
	in := inputOf(values(), values(), values(), nil)
	in.Project.Stacks[0].VMIDs = &schema.Range{First: 100, Last: 109}
	for vmid, g := range map[int]cluster.Guest{101: {Kind: guest.VM}, 102: {Kind: guest.Container}, 103: {Kind: guest.VM, Template: true}, 110: {Kind: guest.VM}} {
		g.VMID, g.Name, g.Node = vmid, fmt.Sprint("g", vmid), "pve1"
		in.Inventory.Guests = append(in.Inventory.Guests, g)
	}
	c := ScopeOf(in).Coverage
	found := map[int]bool{}
	for _, u := range c.Unmanaged {
		found[u.VMID] = true
	}
	if c.Managed != 1 || len(found) != 2 || !found[101] || !found[102] || len(c.Steps) != 1 {
		t.Errorf("%+v", c)
	}
}
