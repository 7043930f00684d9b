//go:build unix

package real

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// TestStoppedKilled kills runs that have stopped a running guest and that do not live to start it again, or to destroy
// it. The next apply starts it, and changes nothing else. It is not started once more after a person has stopped it.
func TestStoppedKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, then, command, at, starts string }{
		"restart":             {restartSpec, strings.Replace(restartSpec, "1024", "2064", 1), "apply --yes", "POST /nodes/pve1/qemu/300/status/start", "start live: VM a"},
		"destroyed VM":        {oneSpec, oneSpec, "destroy live/a --yes", "DELETE /nodes/pve1/qemu/300", "start live: VM a"},
		"destroyed stack":     {oneSpec, oneSpec, "destroy --yes", "DELETE /nodes/pve1/qemu/300", "start live: VM a"},
		"destroyed container": {killedContainers, killedContainers, "destroy live/n --yes", "DELETE /nodes/pve1/lxc/300", "start live: container n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"specs/live.yaml": c.spec})
			sim := p.simulate()
			p.render()
			p.deployed(0, "apply --yes")
			all := vmidsOf(stateOf(sim))
			p.write("specs/live.yaml", c.then)
			p.render()
			method, path, _ := strings.Cut(c.at, " ")
			check(t, sim.AddFault(&pvesim.Fault{Method: method, Path: path, Do: pvesim.DoError, Delay: time.Hour}))
			p.killedIn(c.command, func() bool { return sim.Faults()[0].Hits > 0 && !stateOf(sim).guests[300].running })
			sim.ClearFaults()
			p.deployed(0, "apply --yes", c.starts, "live is as its spec says")
			if now := stateOf(sim); !now.guests[300].running || !slices.Equal(vmidsOf(now), all) {
				t.Errorf("300 is %+v, and there are %v, want %v", now.guests[300], vmidsOf(now), all)
			}
			p.deployed(0, "apply --yes", "nothing to do")
			p.deployed(0, "power stop live/"+c.starts[strings.LastIndex(c.starts, " ")+1:]+" --yes")
			p.deployed(0, "apply --yes", "nothing to do")
		})
	}
}

// TestStoppedKeeps kills a rebuild that keeps disks while it shuts the VM down. An apply starts the VM as it was, and the
// rebuild goes on.
func TestStoppedKeeps(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": keepSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	down := false
	p.killedIn("rebuild live/a --yes", func() bool {
		if !down && slices.ContainsFunc(writes(sim), func(w string) bool { return strings.Contains(w, "/qemu/300/status/shutdown") }) {
			down = true // nothing hears of its end
			for _, path := range []string{"/nodes/*/tasks/**", "/nodes/*/qemu/300/**"} {
				check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodGet, Path: path, Do: pvesim.DoError, Delay: time.Hour}))
			}
		}
		return down && !stateOf(sim).guests[300].running
	})
	sim.ClearFaults()
	p.deployed(0, "apply --yes", "start live: VM a", "to go on: `stackgen rebuild live/a`")
	if !stateOf(sim).guests[300].running {
		t.Error("the VM is off")
	}
	p.deployed(0, "rebuild live/a --yes", "live is as its spec says")
	p.deployed(0, "apply --yes", "nothing to do")
}

// TestStoppedWaits kills a destroy while the guest still shuts down. The next apply waits until it is off, and starts it.
func TestStoppedWaits(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulateWith(pvesim.Options{Durations: func(kind string, _ int) (time.Duration, bool) {
		return 8 * time.Second, kind == "qmshutdown" || kind == "qmstop"
	}})
	p.render()
	p.deployed(0, "apply --yes")
	p.killedIn("destroy live/a --yes", func() bool {
		return slices.ContainsFunc(writes(sim), func(w string) bool { return strings.Contains(w, "/qemu/300/status/s") && !strings.Contains(w, "start") })
	})
	if !stateOf(sim).guests[300].running {
		t.Fatal("the VM is off already")
	}
	p.deployed(0, "apply --yes", "live/a; waiting until it has ended", "start live: VM a", "live is as its spec says")
	p.complete(sim, 300)
}

// restartSpec is a VM that an apply may restart.
var restartSpec = strings.Replace(oneSpec, "a: {}", "a: {restart: true, agent: false, memory: 1024}", 1)

// restarted is a project whose next apply restarts its VM.
func restarted(t *testing.T) (*project, *pvesim.Server) {
	t.Helper()
	p := newProject(t, map[string]string{"specs/live.yaml": restartSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", strings.Replace(restartSpec, "1024", "2064", 1))
	p.render()
	return p, sim
}

// TestStoppedNot: an apply that would restart a VM fails before it stops it. Who stops the VM afterwards wants it off.
func TestStoppedNot(t *testing.T) {
	t.Parallel()
	p, sim := restarted(t)
	check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodPut, Path: "/nodes/pve1/qemu/300/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	p.deployed(1, "apply --yes", "out of luck")
	sim.ClearFaults()
	p.write("specs/live.yaml", restartSpec)
	p.render()
	p.deployed(0, "power stop live/a --yes")
	p.deployed(0, "apply --yes", "nothing to do")
	if stateOf(sim).guests[300].running {
		t.Error("the VM was started")
	}
}

// TestStoppedNotStarted: an apply that may restart a VM cannot start it again. It says how to start it, and so does the
// next apply, which does that.
func TestStoppedNotStarted(t *testing.T) {
	t.Parallel()
	p, sim := restarted(t)
	check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodPost, Path: "/nodes/pve1/qemu/300/status/start", Do: pvesim.DoError, Status: 500, Message: "cannot allocate memory"}))
	p.deployed(1, "apply --yes", "stackgen power start live/a", "qm start 300")
	p.deployed(1, "apply --yes", "apply: start 1 VM\n", "VM a (VMID 300, node pve1) was not started: QEMU could not start it", "qm start 300")
	sim.ClearFaults()
	p.step(0, "preflight", "note: an apply starts live/a, which a run has left off")
	p.deployed(0, "apply --yes", "start live: VM a", "live is as its spec says")
	p.complete(sim, 300)
	p.deployed(0, "apply --yes", "nothing to do")
}

// vmidsOf are the VMIDs of all guests.
func vmidsOf(s *clusterState) []int {
	var out []int
	for vmid := range s.guests {
		out = append(out, vmid)
	}
	slices.Sort(out)
	return out
}
