package pvesim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A shutdown holds the lock of its guest: changes of the configuration and other power
// actions wait for it, unless a stop overrules it.
func TestShutdownHoldsLock(t *testing.T) {
	b := runningVM(t, "", nil)
	shutdown := b.data("POST", vm123+"/status/shutdown", "timeout", "60").(string)
	b.clk.Advance(time.Second)
	if r := b.do("PUT", vm123+"/config", "description", "x"); r.Status != 500 || !strings.Contains(string(r.Body), "can't lock file '/var/lock/qemu-server/lock-123.conf' - got timeout") {
		t.Errorf("update: %d %s", r.Status, r.Body)
	}
	if end, _ := b.task("POST", vm123+"/status/stop"); end != "can't lock file '/var/lock/qemu-server/lock-123.conf' - got timeout" {
		t.Errorf("stop ended %q", end)
	}
	stop := b.data("POST", vm123+"/status/stop", "overrule-shutdown", "1").(string)
	if end := b.wait(stop); end != "OK" {
		t.Errorf("overruling stop ended %q", end)
	}
	if end := b.wait(shutdown); end != "received interrupt" {
		t.Errorf("shutdown ended %q", end)
	}
	if log := fmt.Sprint(b.data("GET", "/nodes/pve3/tasks/"+stop+"/log")); !strings.Contains(log, "overruled qmshutdown tasks: "+shutdown) {
		t.Errorf("log of the stop: %s", log)
	}
}

func TestPausedGuestDoesNotShutDown(t *testing.T) {
	b := runningVM(t, "present", nil)
	b.task("POST", vm123+"/status/suspend")
	for _, action := range []string{"shutdown", "reboot"} {
		if r := b.do("POST", vm123+"/status/"+action); r.Status != 500 || r.Reason != "VM is paused - cannot shutdown" {
			t.Errorf("%s: %d %s", action, r.Status, r.Reason)
		}
	}
	if end, _ := b.task("POST", vm123+"/status/shutdown", "forceStop", "1"); end != "OK" || b.power() != "stopped" {
		t.Errorf("forced shutdown ended %q, %s", end, b.power())
	}
}

// The list of the cluster calls a paused guest paused, that of its node running. Source: pve-manager, pvestatd.
func TestPausedGuestInLists(t *testing.T) {
	b := runningVM(t, "", nil)
	b.task("POST", vm123+"/status/suspend")
	b.clk.Advance(time.Minute)
	for path, want := range map[string]string{"/cluster/resources?type=vm": "paused", "/nodes/pve3/qemu": "running"} {
		for _, g := range b.data("GET", path).([]any) {
			if g := g.(map[string]any); g["vmid"] == float64(123) && g["status"] != want {
				t.Errorf("%s: %v, want %s", path, g["status"], want)
			}
		}
	}
}

// The server starts a guest again in a task of its own, after the reboot.
func TestRebootStartsInAnotherTask(t *testing.T) {
	b := runningVM(t, "present", nil)
	if end, _ := b.task("POST", vm123+"/status/reboot"); end != "OK" || b.power() != "stopped" {
		t.Errorf("reboot ended %q, %s", end, b.power())
	}
	b.clk.Advance(time.Second)
	if tasks := fmt.Sprint(b.data("GET", "/nodes/pve3/tasks?vmid=123&typefilter=qmstart")); b.power() != "running" || !strings.Contains(tasks, "root@pam:") {
		t.Errorf("%s, %s", b.power(), tasks)
	}
}

func (b *testSim) power() string {
	b.t.Helper()
	return fmt.Sprint(b.data("GET", vm123+"/status/current").(map[string]any)["status"])
}
