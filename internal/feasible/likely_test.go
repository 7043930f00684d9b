package feasible

import (
	"testing"

	"stackgen/internal/cluster"
)

// TestLarger: a storage is named with what it gets, and that of several kinds are volumes.
func TestLarger(t *testing.T) {
	const full = int64(8) << 30
	inv := &cluster.Inventory{}
	for _, id := range []string{"a", "b", "c"} {
		inv.Storages = append(inv.Storages, cluster.Storage{ID: id, Node: "pve1", Total: 16 << 30, Used: 10 << 30})
	}
	got := larger(inv, []volume{{"a", "pve1", full, "full clone"}, {"b", "pve1", full, "new volume"}, {"c", "pve1", full, "full clone"},
		{"c", "pve1", full, "new volume"}, {"c", "pve1", full, "full clone"}})
	want := []string{"the full clones on storage a", "the new volumes on storage b", "the new volumes on storage c"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i, d := range got {
		if d.Reason != want[i]+" of node pve1 are larger together than its free space" {
			t.Errorf("%q, want %q", d.Reason, want[i])
		}
	}
}
