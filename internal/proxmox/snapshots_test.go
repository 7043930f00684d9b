package proxmox_test

import (
	"slices"
	"testing"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// TestSnapshotsAreReadWhereTheyMatter: the snapshots of a VM that comes from none of them are read
// only if they are wanted, with one request.
func TestSnapshotsAreReadWhereTheyMatter(t *testing.T) {
	seed := smallCluster(t)
	for _, g := range seed.Guests {
		if g.VMID == 201 {
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			g.Snapshots = []*pvesim.Snapshot{{Name: "b", Time: at, Config: map[string]string{}}, {Name: "a", Time: at.Add(time.Hour), Config: map[string]string{}}}
		}
	}
	s := start(t, pvesim.Options{Seed: seed})
	read := func(wanted func(*cluster.Guest) bool) (string, int) {
		inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{VMIDs: []int{201}, Snapshots: wanted})
		c := inv.Guest(201).Config
		if names := []string{"a", "b"}; len(c.Snapshots) > 0 && !slices.Equal(c.Snapshots, names) {
			t.Errorf("snapshots %v, want %v", c.Snapshots, names)
		}
		return c.Snapshot(), inv.Requests
	}
	none, few := read(func(*cluster.Guest) bool { return false })
	newest, more := read(func(g *cluster.Guest) bool { return g.VMID == 201 })
	if none != "" || newest != "a" || more != few+1 {
		t.Errorf("snapshot %q with %d requests, then %q with %d", none, few, newest, more)
	}
}
