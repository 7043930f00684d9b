package guard

import (
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestMoveOfLentDisk: the provider has Proxmox VE delete the source of a disk that it moves, whichever guest has it, too.
func TestMoveOfLentDisk(t *testing.T) {
	for name, c := range map[string]struct {
		lent     string // what the other guest has
		unread   bool   // its configuration was read only to identify it
		running  bool
		refused  string
		evidence string
	}{
		"of nobody else":           {lent: "none"},
		"another disk":             {lent: "local-lvm:vm-100-disk-0"},
		"a volume of another name": {lent: "local-lvm:vm-100-disk-7"},
		"a disk of a VM": {lent: "local-lvm:vm-100-disk-1", refused: "move a disk and delete its volume, which another guest has, too",
			evidence: "has local-lvm:vm-100-disk-1 as scsi5"},
		"a disk of a container": {lent: "local-lvm:vm-100-disk-1", unread: true, refused: "move a disk and delete its volume", evidence: "container 400"},
		"a disk of a VM, and this one runs": {lent: "local-lvm:vm-100-disk-1", running: true, refused: "move a disk and delete its volume",
			evidence: "as scsi5"},
	} {
		g, other := newGuest(100, "web1"), newGuest(400, "other")
		g.Config.Raw = map[string]string{"scsi0": "local-lvm:vm-100-disk-0,aio=io_uring,size=8G", "scsi1": "local-lvm:vm-100-disk-1,aio=io_uring,size=8G"}
		other.Config.Raw = map[string]string{"scsi5": c.lent + ",size=8G"}
		if c.unread {
			other.Kind, other.Config = guest.Container, nil
			other.Identity = &cluster.Identity{Volumes: map[string]string{"mp0": c.lent}}
		}
		if c.running {
			g.Status = "running"
		}
		in := input([]tf.Resource{inState("web1", 100)}, g, other)
		disks := func(storage string) []any {
			return []any{
				map[string]any{"interface": "scsi0", "datastore_id": "local-lvm", "size": 8.0},
				map[string]any{"interface": "scsi1", "datastore_id": storage, "size": 8.0},
			}
		}
		plan := &tf.Plan{Changes: []*tf.ResourceChange{{Address: schema.VMAddress("", "web1"), Managed: true, Type: guest.VMResource, Key: "web1", Action: tf.Update,
			Before: map[string]any{"vm_id": 100.0, "disk": disks("local-lvm")}, After: map[string]any{"vm_id": 100.0, "disk": disks("nfs")}}}}
		out, updates, err := JudgePlan(in, nil, tf.VMUnit("lab"), plan)
		if err != nil || len(out) == 0 {
			t.Fatal(name, out, err)
		}
		f := &out[0]
		if lent := strings.Contains(said(f), "which another guest has"); lent != (c.refused != "") || !strings.Contains(said(f), c.refused) ||
			lent && (f.Severity != finding.Blocked || !strings.Contains(said(f), c.evidence) || len(f.Steps) == 0) {
			t.Errorf("%s: %s %d %q %q %v", name, f.Kind, f.Severity, f.Reason, f.Evidence, f.Steps)
		}
		for _, s := range f.Steps {
			for _, l := range s.Lines {
				if strings.Contains(l.String(), "--delete 1") {
					t.Errorf("%s: a step deletes the volume: %s", name, l.String())
				}
			}
		}
		if !DeletesVolumes(nil, updates[schema.VMAddress("", "web1")]) {
			t.Errorf("%s: %v does not ask who has the volumes", name, updates)
		}
	}
}

// TestStepsOfLentVolume: until a VM is destroyed, no step may delete a volume that it has itself. One that only the other
// guest has gets the VMID of that one.
func TestStepsOfLentVolume(t *testing.T) {
	g := newGuest(100, "web1")
	for has, want := range map[string]string{
		"local-lvm:vm-100-disk-1,size=4G": "/qemu/400/move_disk --disk scsi1 --storage STORAGE",
		"local-lvm:vm-100-disk-0,size=4G": "/qemu/400/move_disk --disk scsi1 --storage STORAGE --delete 1",
	} {
		g.Config.Raw = map[string]string{"scsi1": has}
		s := scene{Input: input(nil, g)}
		lend(&s, true)
		found := LentNow(s.Inventory, "lab", []Replacement{{Granted: Granted{Key: "web1", VMID: 100}, Guest: &g}})
		if len(found) != 1 || len(found[0].Steps) == 0 || !strings.HasSuffix(found[0].Steps[0].Lines[0].String(), want) {
			t.Errorf("%s: %+v", has, found)
		}
	}
	if found := LentNow(input(nil, g).Inventory, "lab", []Replacement{{Granted: Granted{Key: "web1", VMID: 100}, Guest: &g}}); found != nil {
		t.Errorf("nobody else has a volume: %+v", found)
	}
}
