package pvesim_test

import (
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// runningTasks are the types and ids of the running tasks.
func (b *testSim) runningTasks() (out []string) {
	b.t.Helper()
	for _, t := range b.data("GET", "/cluster/tasks").([]any) {
		if e := t.(map[string]any); e["endtime"] == nil {
			out = append(out, e["type"].(string)+" "+e["id"].(string))
		}
	}
	return out
}

// A hibernated guest is stopped, locked and without a task. Its start or resume
// removes the lock; nothing else does.
func TestHibernatedGuestIsLockedWithoutTask(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	if end, _ := b.task("POST", "/nodes/pve3/qemu/123/status/suspend", "todisk", "1"); end != "OK" {
		t.Fatalf("suspend ended %q", end)
	}
	c := b.config("pve3", 123)
	if c["lock"] != "suspended" || c["vmstate"] == nil || len(b.runningTasks()) > 0 {
		t.Errorf("hibernated: lock %v, vmstate %v, tasks %v", c["lock"], c["vmstate"], b.runningTasks())
	}
	if r := b.do("PUT", "/nodes/pve3/qemu/123/config", "cores", "4"); r.Reason != "VM is locked (suspended)" {
		t.Errorf("a change of a hibernated guest: %d %s", r.Status, r.Reason)
	}
	if end, _ := b.task("POST", "/nodes/pve3/qemu/123/status/resume"); end != "OK" {
		t.Fatalf("resume ended %q", end)
	}
	c = b.config("pve3", 123)
	if s := b.data("GET", "/nodes/pve3/qemu/123/status/current").(map[string]any); c["lock"] != nil || c["vmstate"] != nil || s["status"] != "running" {
		t.Errorf("resumed: lock %v, vmstate %v, status %v", c["lock"], c["vmstate"], s["status"])
	}
}

// An open console is a running task with the VMID of its guest, and no lock.
func TestConsoleIsTaskWithoutLock(t *testing.T) {
	b := newTestSim(t, pvesim.Options{Durations: func(kind string, _ int) (time.Duration, bool) { return time.Hour, kind == "vncproxy" }})
	b.data("POST", "/nodes/pve3/qemu/123/vncproxy", "websocket", "1")
	b.clk.Advance(time.Minute)
	if got := b.runningTasks(); len(got) != 1 || got[0] != "vncproxy 123" {
		t.Errorf("running tasks: %v", got)
	}
	if r := b.do("PUT", "/nodes/pve3/qemu/123/config", "cores", "4"); r.Status != 200 {
		t.Errorf("a change with an open console: %d %s", r.Status, r.Reason)
	}
}

// The backup of several guests is one task without a VMID. It locks one guest at a
// time.
func TestBackupOfSeveralGuestsHasNoVMID(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	for _, id := range []string{"201", "202"} {
		if end, _ := b.task("POST", "/nodes/pve1/qemu/9002/clone", "newid", id, "full", "0"); end != "OK" {
			t.Fatalf("clone ended %q", end)
		}
	}
	upid, err := b.sim.Backup("pve1", 201, 202)
	if err != nil {
		t.Fatal(err)
	}
	b.clk.Advance(time.Second)
	if got := b.runningTasks(); len(got) != 1 || got[0] != "vzdump " {
		t.Errorf("running tasks: %v", got)
	}
	first, second := b.config("pve1", 201)["lock"], b.config("pve1", 202)["lock"]
	if first != "backup" || second != nil {
		t.Errorf("locks: %v and %v, want the first only", first, second)
	}
	if end := b.wait(upid); end != "OK" || b.config("pve1", 201)["lock"] != nil || b.config("pve1", 202)["lock"] != nil {
		t.Errorf("the backup ended %q and leaves the locks %v and %v", end, b.config("pve1", 201)["lock"], b.config("pve1", 202)["lock"])
	}
	if upid, _ = b.sim.Backup("pve1", 201); b.runningTasks()[0] != "vzdump 201" {
		t.Errorf("the backup of one guest: %v", b.runningTasks())
	}
	b.wait(upid)
}
