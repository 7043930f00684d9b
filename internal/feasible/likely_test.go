package feasible

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
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

// TestLargerClones: all volumes of a template come to the storage of the root file system.
func TestLargerClones(t *testing.T) {
	inv := &cluster.Inventory{
		Nodes:    []cluster.Node{{Name: "pve1", Online: true}},
		Storages: []cluster.Storage{{ID: "local-lvm", Node: "pve1", Total: 32 << 30, Used: 2 << 30}},
		Guests: []cluster.Guest{{VMID: 9100, Node: "pve1", Kind: guest.Container, Template: true,
			Config: &cluster.Config{Raw: map[string]string{"rootfs": "local-lvm:base-9100-disk-0,size=4G", "mp0": "other:base-9100-disk-1,size=28G,mp=/srv"}}}},
	}
	root := set(&schema.Node{Shape: schema.ShapeMap}, guest.Size, scalar(schema.ShapeInt, "8"))
	root = set(root, guest.Datastore, scalar(schema.ShapeString, "local-lvm"))
	vm := &schema.VM{Kind: guest.Container, ClonedFrom: 9100, Values: set(&schema.Node{Shape: schema.ShapeMap}, guest.RootFS, root)}
	created := []Created{{vm, &lock.VM{Kind: guest.Container, VMID: 110, Node: "pve1"}}}
	for size, want := range map[string]int{"28G": 1, "20G": 0} {
		inv.Guests[0].Config.Raw["mp0"] = "other:base-9100-disk-1,size=" + size + ",mp=/srv"
		if got := diskDemands(inv, created); len(got) != want {
			t.Errorf("%s: %v", size, got)
		}
	}
}
