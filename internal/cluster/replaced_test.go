package cluster

import (
	"slices"
	"testing"
)

// TestReplaced: of some VMIDs, a later inventory says who has them, whether they are free, and what could
// not be read. Of the others, it says nothing.
func TestReplaced(t *testing.T) {
	old := &Inventory{Guests: []Guest{{VMID: 100}, {VMID: 101}}, Free: []int{110, 111}}
	now := &Inventory{Guests: []Guest{{VMID: 100, Name: "other"}, {VMID: 110, Name: "stranger"}}, Free: []int{112},
		Gaps: []Gap{{Path: "/vms", Privilege: VMAudit}}}
	got := old.Replaced(now, []int{110, 111, 112})
	if g := got.Guest(110); g == nil || g.Name != "stranger" || got.Guest(100).Name != "" || got.Guest(101) == nil {
		t.Errorf("guests: %v", got.Guests)
	}
	if len(got.GapsForVM(111)) != 1 {
		t.Errorf("VMID 111 is not seen any more, and has the gaps %v", got.Gaps)
	}
	if slices.Contains(got.Free, 110) || len(old.Free) != 2 || len(old.Guests) != 2 {
		t.Errorf("free: %v; the old one has %v and %v", got.Free, old.Free, old.Guests)
	}
}
