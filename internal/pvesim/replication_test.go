package pvesim_test

import (
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestReplication: a guest with a replication job gets no disk that cannot be replicated, unless the disk is left out, and a
// running one migrates only to a node to which a job copies it.
func TestReplication(t *testing.T) {
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: 300, Node: "pve1", Running: true, Config: map[string]string{"name": "a", "memory": "512"}})
	seed.Jobs = []*pvesim.Job{{Guest: 300, Target: "pve2"}, {Guest: 301, Target: "pve2"}}
	b := newTestSim(t, pvesim.Options{Seed: seed})
	const config, refused = "/nodes/pve1/qemu/300/config", "cannot add non-replicatable volume to a replicated VM"
	for disk, want := range map[string]string{
		"scsi1=local-lvm:1": refused, "scsi2=local-lvm:1,replicate=1": refused, "scsi3=local-lvm:1,replicate=0": "", "scsi4=shared:1": "", "scsi5=local-zfs:1": "",
		"ide0=none,media=cdrom": "", "ide2=local-lvm:cloudinit": "",
	} {
		key, value, _ := strings.Cut(disk, "=")
		if r := b.do("PUT", config, key, value); (r.Status == 200) != (want == "") || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %d %s", disk, r.Status, r.Reason)
		}
	}
	if r := b.do("POST", "/nodes/pve1/qemu/300/migrate", "target", "pve3", "online", "1"); r.Status != 500 || !strings.Contains(r.Reason, "not a replication target") {
		t.Errorf("a migration to another node: %d %s", r.Status, r.Reason)
	}
	if end, _ := b.task("POST", "/nodes/pve1/qemu/300/migrate", "target", "pve2", "online", "1", "with-local-disks", "1"); end != "OK" {
		t.Errorf("a migration to the target: %s", end)
	}
	if list := b.data("GET", "/cluster/replication").([]any); len(list) != 2 {
		t.Errorf("jobs: %v", list)
	}
}
