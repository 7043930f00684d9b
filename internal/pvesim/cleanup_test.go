package pvesim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// The cleanup after a QEMU keeps the lock of a VM that was started again for 30 seconds, and no
// list of tasks has it. It comes too early to matter without a delay.
func TestCleanupHoldsLock(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Second} {
		seed, err := pvesim.DefaultSeed()
		if err != nil {
			t.Fatal(err)
		}
		seed.Cleanup = delay
		b := newTestSim(t, pvesim.Options{Seed: seed})
		b.task("POST", vm123+"/status/stop")
		b.task("POST", vm123+"/status/start")
		b.clk.Advance(2 * time.Second)
		if got := b.runningTasks(); len(got) > 0 {
			t.Errorf("running tasks: %v", got)
		}
		want := []string{"OK", "OK"}
		if delay > 0 {
			want = []string{"can't lock file '/var/lock/qemu-server/lock-123.conf' - got timeout", "OK"}
		}
		first, _ := b.task("POST", vm123+"/snapshot", "snapname", "one")
		b.clk.Advance(20 * time.Second)
		second, _ := b.task("POST", vm123+"/snapshot", "snapname", "two")
		if got := []string{first, second}; !slices.Equal(got, want) {
			t.Errorf("after %s: %q, want %q", delay, got, want)
		}
	}
}

// TestHoldConfig: another process has the lock of a configuration until it is released.
func TestHoldConfig(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	release := b.sim.HoldConfig(123)
	if end, _ := b.task("POST", vm123+"/snapshot", "snapname", "one"); !strings.Contains(end, "got timeout") {
		t.Errorf("held: %s", end)
	}
	release()
	b.clk.Advance(2 * time.Second)
	if end, _ := b.task("POST", vm123+"/snapshot", "snapname", "one"); end != "OK" {
		t.Errorf("released: %s", end)
	}
}

// A VM runs while the task of its start goes on, which has its lock.
func TestStartGoesOn(t *testing.T) {
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Starting = 5 * time.Second
	b := newTestSim(t, pvesim.Options{Seed: seed})
	b.task("POST", vm123+"/status/stop")
	b.data("POST", vm123+"/status/start")
	b.clk.Advance(time.Second)
	if got := b.runningTasks(); b.power() != "running" || !slices.Equal(got, []string{"qmstart 123"}) {
		t.Errorf("%s, tasks %v", b.power(), got)
	}
	b.clk.Advance(5 * time.Second)
	if got := b.runningTasks(); len(got) > 0 {
		t.Errorf("later: tasks %v", got)
	}
}
