package report

import "testing"

// TestRecordedCounts: what was recorded is counted by what it is of.
func TestRecordedCounts(t *testing.T) {
	r := &Resolve{Recorded: []Recording{
		{Stack: "lab"}, {Stack: "lab", Key: "proxmox-vm", Unit: true}, {Stack: "lab", Key: "a"}, {Stack: "lab", Key: "ns", Container: true},
	}}
	if got, want := r.counts(), "1 VM and 1 container, 1 unit, 1 stack"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.Recorded = r.Recorded[:2]
	if got, want := r.counts(), "1 unit, 1 stack"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
