//go:build unix

package real

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

// TestDestroyMeetsLock: while another process has the lock of a VM's configuration, as `qm cleanup`
// of qemu-server 9.2 has after a restart, the tasks of a destroy fail. It is sent again, for a part
// of a stack and for a whole one, and destroys nothing else.
func TestDestroyMeetsLock(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {}, b: {}}", 1)})
	sim := p.simulateWith(pvesim.Options{Clock: clock.NewScaled(time.Now(), 10)})
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	timeouts := func() (n int) {
		for _, task := range callAPI(t, sim, http.MethodGet, "/cluster/tasks", nil).([]any) {
			if text, _ := task.(map[string]any)["status"].(string); strings.Contains(text, "got timeout") {
				n++
			}
		}
		return n
	}
	for _, d := range []struct{ what, says string }{{"live/a", "destroyed live/a; "}, {"live", "live is destroyed"}} {
		vmid := 300
		if d.what == "live" {
			vmid = 301
		}
		before, release := timeouts(), sim.HoldConfig(vmid)
		c := p.command("destroy --yes " + d.what)
		var out strings.Builder
		c.Stdout, c.Stderr = &out, &out
		check(t, c.Start())
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		waitUntil(t, "a task does not get the lock", func() bool { return timeouts() > before || len(ended) > 0 })
		release()
		if err := <-ended; err != nil || !strings.Contains(out.String(), "another task has the lock of a guest of live; destroying") ||
			!strings.Contains(out.String(), d.says) {
			t.Fatalf("destroy %s: %v\n%s", d.what, err, out.String())
		}
		if _, left := stateOf(sim).guests[vmid]; left {
			t.Errorf("VM %d is left", vmid)
		}
		if _, other := stateOf(sim).guests[301]; !other && d.what == "live/a" {
			t.Error("VM 301 is gone")
		}
	}
}
