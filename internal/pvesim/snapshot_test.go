package pvesim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// A rollback keeps the description and the disks that were added since, as unused.
func TestRollbackKeepsDescriptionAndDisks(t *testing.T) {
	b := runningVM(t, "", nil)
	b.task("POST", vm123+"/status/stop")
	b.task("POST", vm123+"/snapshot", "snapname", "before", "description", "comment")
	b.task("POST", vm123+"/config", "memory", "256", "description", "later", "scsi7", "shared:1")
	added := strings.Split(fmt.Sprint(b.config("pve3", 123)["scsi7"]), ",")[0]
	if end, _ := b.task("POST", vm123+"/snapshot/before/rollback"); end != "OK" {
		t.Fatalf("rollback ended %q", end)
	}
	conf := b.config("pve3", 123)
	if conf["memory"] == "256" || conf["description"] != "later" || conf["unused0"] != added || conf["scsi7"] != nil || conf["lock"] != nil {
		t.Errorf("config after the rollback: %v", conf)
	}
	if r := b.do("PUT", vm123+"/config", "delete", "unused0"); r.Status != 200 {
		t.Errorf("delete of an unused volume: %d %s", r.Status, r.Reason)
	}
	b.data("PUT", vm123+"/config", "delete", "scsi0")
	if r := b.do("PUT", vm123+"/config", "delete", "unused0"); r.Status != 500 || !strings.Contains(r.Reason, "volume is still in use (snapshot?)") {
		t.Errorf("delete of a volume that a snapshot has: %d %s", r.Status, r.Reason)
	}
}

// A snapshot with memory continues the guest; start=1 starts it in a task that lists
// show as running until the node looks again.
func TestRollbackStarts(t *testing.T) {
	b := runningVM(t, "", nil)
	b.task("POST", vm123+"/snapshot", "snapname", "cold")
	b.task("POST", vm123+"/snapshot", "snapname", "warm", "vmstate", "1")
	if list := fmt.Sprint(b.data("GET", vm123+"/snapshot")); !strings.Contains(list, "name:warm parent:cold") || !strings.Contains(list, "vmstate:1") {
		t.Errorf("snapshots: %s", list)
	}
	for _, c := range []struct{ name, start, want string }{{"cold", "0", "stopped"}, {"warm", "0", "running"}, {"cold", "1", "running"}} {
		end, _ := b.task("POST", vm123+"/snapshot/"+c.name+"/rollback", "start", c.start)
		b.clk.Advance(time.Second)
		if end != "OK" || b.power() != c.want {
			t.Errorf("rollback to %s, start %s: %q, %s", c.name, c.start, end, b.power())
		}
	}
	const starts = "/nodes/pve3/tasks?vmid=123&typefilter=qmstart&source="
	if active, archived := b.data("GET", starts+"active").([]any), b.data("GET", starts+"archive").([]any); len(active) != 1 || len(archived) != 0 {
		t.Errorf("starts: active %v, archived %v", active, archived)
	}
	b.clk.Advance(10 * time.Second)
	if archived := b.data("GET", starts+"archive").([]any); len(archived) != 1 {
		t.Errorf("starts after a cycle: %v", archived)
	}
}

// ZFS goes back to the newest snapshot of a disk only, and refuses before the guest is stopped.
func TestRollbackOnZFS(t *testing.T) {
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: 300, Node: "pve1", Running: true, Agent: pvesim.Agent{Mode: "present"},
		Config: map[string]string{"name": "a", "memory": "512", "scsi0": "local-zfs:vm-300-disk-0,size=1G"}})
	b := newTestSim(t, pvesim.Options{Seed: seed})
	const vm300 = "/nodes/pve1/qemu/300"
	for _, name := range []string{"first", "second"} {
		b.task("POST", vm300+"/snapshot", "snapname", name)
		b.clk.Advance(time.Second)
	}
	if end, _ := b.task("POST", vm300+"/snapshot/first/rollback"); end != "can't rollback, 'first' is not most recent snapshot on 'local-zfs:vm-300-disk-0'" {
		t.Errorf("rollback to the older one ended %q", end)
	}
	if s := fmt.Sprint(b.data("GET", vm300+"/status/current")); !strings.Contains(s, "status:running") {
		t.Errorf("after the refusal: %s", s)
	}
	if end, _ := b.task("POST", vm300+"/snapshot/second/rollback"); end != "OK" {
		t.Errorf("rollback to the newest ended %q", end)
	}
}

func TestFormatOfAttachedVolume(t *testing.T) {
	b := runningVM(t, "", nil)
	b.task("POST", vm123+"/status/stop")
	b.task("POST", vm123+"/config", "scsi7", "shared:1,format=qcow2")
	volume := strings.Split(fmt.Sprint(b.config("pve3", 123)["scsi7"]), ",")[0]
	b.data("PUT", vm123+"/config", "delete", "scsi7")
	b.data("PUT", vm123+"/config", "scsi6", volume+",format=qcow2")
	if got := b.config("pve3", 123)["scsi6"]; got != volume+",format=qcow2,size=1G" {
		t.Errorf("attached: %v", got)
	}
	want := "drive 'scsi6' - volume '" + volume + "' - 'format=raw' option different from storage format 'qcow2'"
	if r := b.do("PUT", vm123+"/config", "scsi6", volume+",format=raw"); r.Status != 500 || r.Reason != want {
		t.Errorf("another format: %d %s", r.Status, r.Reason)
	}
}

// TestSnapshotsWithoutParent: after a rollback to the first snapshot and its deletion, the guest comes from none, and has
// the later one, which keeps its disks from being moved. Source: snapshot_delete of AbstractConfig.
func TestSnapshotsWithoutParent(t *testing.T) {
	b := runningVM(t, "", nil)
	b.task("POST", vm123+"/status/stop")
	b.task("POST", vm123+"/snapshot", "snapname", "first")
	b.task("POST", vm123+"/snapshot", "snapname", "second")
	b.task("POST", vm123+"/snapshot/first/rollback")
	b.task("DELETE", vm123+"/snapshot/first")
	list := fmt.Sprint(b.data("GET", vm123+"/snapshot"))
	if parent := b.config("pve3", 123)["parent"]; parent != nil || !strings.Contains(list, "name:second") || strings.Contains(list, "parent:") {
		t.Errorf("parent %v, snapshots %s", parent, list)
	}
	r := b.do("POST", vm123+"/move_disk", "disk", "scsi0", "storage", "local-lvm", "delete", "1")
	if r.Status != 500 || !strings.Contains(r.Reason, "you can't move a disk with snapshots and delete the source") {
		t.Errorf("move of a disk: %d %s", r.Status, r.Reason)
	}
}
