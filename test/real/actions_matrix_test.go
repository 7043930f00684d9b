//go:build unix

package real

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	folder "stackgen/internal/files"
	"stackgen/internal/pvesim"
)

// A vmAction is a command that acts on VMs, and the state of both VMs before and after it.
type vmAction struct {
	line     string // without its VMs
	from, to string // running, paused or stopped
	right    string // the privilege that it needs
	pending  bool   // a change must wait for a restart
	holds    bool   // it keeps applies out
	plans    bool   // it needs a plan of the stack
}

var vmActions = []vmAction{
	{line: "power start", from: "stopped", to: "running", right: "VM.PowerMgmt"},
	{line: "power shutdown --yes", from: "running", to: "stopped", right: "VM.PowerMgmt"},
	{line: "power stop --yes", from: "running", to: "stopped", right: "VM.PowerMgmt"},
	{line: "power reboot --yes", from: "running", to: "running", right: "VM.PowerMgmt"},
	{line: "power suspend --yes", from: "running", to: "paused", right: "VM.PowerMgmt"},
	{line: "power resume", from: "paused", to: "running", right: "VM.PowerMgmt"},
	{line: "restart --pending --yes", from: "running", to: "running", right: "VM.PowerMgmt", pending: true},
	{line: "checkpoint week1", from: "running", to: "running", right: "VM.Snapshot", holds: true, plans: true},
	{line: "reset --yes", from: "running", to: "running", right: "VM.Snapshot.Rollback", holds: true},
}

// An actionWorld is a stack of two applied VMs with checkpoints: a on pve2, to which things
// happen, and b beside it on pve1.
type actionWorld struct {
	*project
	sim     *pvesim.Server
	a, b    int
	configs map[int]map[string]string // as they were applied
	points  map[int][]*pvesim.Snapshot
}

// each calls do for both VMs.
func (w *actionWorld) each(do func(g *pvesim.Guest)) {
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == w.a || g.VMID == w.b {
				do(g)
			}
		}
	})
}

// arrange brings both VMs into the state before an action.
func (w *actionWorld) arrange(a vmAction) {
	w.Helper()
	waitUntil(w.T, "no task is left", func() (idle bool) {
		idle = true
		w.each(func(g *pvesim.Guest) { idle = idle && g.Config["lock"] == "" })
		for _, task := range callAPI(w.T, w.sim, http.MethodGet, "/cluster/tasks", nil).([]any) {
			_, ended := task.(map[string]any)["endtime"]
			idle = idle && ended // that of an interrupted command goes on
		}
		return idle
	})
	w.each(func(g *pvesim.Guest) {
		g.Config, g.Snapshots = maps.Clone(w.configs[g.VMID]), append([]*pvesim.Snapshot{}, w.points[g.VMID]...)
		g.Running, g.Paused = a.from != "stopped", a.from == "paused"
		if g.Pending = nil; a.pending {
			g.Pending = map[string]string{"memory": "3072"}
		}
	})
	w.sim.ResetLog()
}

// states are the states of both VMs.
func (w *actionWorld) states() map[int]string {
	out := map[int]string{}
	w.each(func(g *pvesim.Guest) {
		switch {
		case g.Paused:
			out[g.VMID] = "paused"
		case g.Running:
			out[g.VMID] = "running"
		default:
			out[g.VMID] = "stopped"
		}
	})
	return out
}

// begun is an action that runs.
type begun struct {
	*exec.Cmd
	out bytes.Buffer
}

func (w *actionWorld) begin(line string) *begun {
	w.Helper()
	c := &begun{Cmd: w.command(line)}
	c.Stdout, c.Stderr = &c.out, &c.out
	check(w.T, c.Start())
	return c
}

func (c *begun) ends() (code int, output string) {
	_ = c.Wait() // the exit code says it
	return c.ProcessState.ExitCode(), c.out.String()
}

// causes are what happens to each action, by name.
var causes = []struct {
	name string
	test func(w *actionWorld, a vmAction)
}{
	{"another guest has the VMID", func(w *actionWorld, a vmAction) {
		w.edit(w.a, func(g *pvesim.Guest) { g.Config["smbios1"] = "uuid=00000000-0000-4000-8000-000000000000" })
		w.deployed(3, a.line+" live", "refused", "live/a  its VMID")
		w.untouched(w.a)
		w.reaches(a, w.b)
	}},
	{"a lock", func(w *actionWorld, a vmAction) {
		w.edit(w.a, func(g *pvesim.Guest) { g.Config["lock"] = "backup" })
		w.deployed(3, a.line+" live --timeout 5s", "refused", "live/a  it is locked (backup), and was for 5s")
		w.untouched(w.a)
		w.reaches(a, w.b)
		w.edit(w.a, func(g *pvesim.Guest) { delete(g.Config, "lock") })
	}},
	{"a node that is down", func(w *actionWorld, a vmAction) {
		check(w.T, w.sim.SetNode("pve2", pvesim.NodeDown))
		w.deployed(3, a.line+" live", "refused", "live/a")
		w.untouched(w.a)
		if !a.plans { // without the node, nothing can be planned
			w.reaches(a, w.b)
		}
		check(w.T, w.sim.SetNode("pve2", pvesim.NodeOnline))
	}},
	{"a missing privilege", func(w *actionWorld, a vmAction) {
		w.with("PROXMOX_VE_API_TOKEN=ci@pve!t=secret-of-ci", func() {
			w.deployed(3, a.line+" live", "the token may not do that: it lacks "+a.right, "  > pveum role add ", a.right)
		})
		noWrites(w.T, w.sim)
	}},
	{"the same command beside it", func(w *actionWorld, a vmAction) {
		first, second := w.begin(a.line+" live"), w.begin(a.line+" live")
		code, output := first.ends()
		codeToo, outputToo := second.ends()
		if code != 0 && codeToo != 0 {
			w.Errorf("%s twice: exit %d and %d\n%s\n%s", a.line, code, codeToo, output, outputToo)
		}
		if a.holds && code+codeToo != 0 && !strings.Contains(output+outputToo, "another stackgen") {
			w.Errorf("%s twice: exit %d and %d\n%s\n%s", a.line, code, codeToo, output, outputToo)
		}
		w.reaches(a, w.a)
		w.reaches(a, w.b)
	}},
	{"an apply beside it", func(w *actionWorld, a vmAction) {
		unlock, _, err := folder.TryLock(filepath.Join(w.dir, "stacks", "live")) // as an apply does
		check(w.T, err)
		defer func() { check(w.T, unlock()) }()
		if a.holds {
			w.deployed(1, a.line+" live", "another stackgen", "applies or destroys live")
			noWrites(w.T, w.sim)
			return
		}
		w.deployed(0, a.line+" live")
		w.reaches(a, w.a)
	}},
	{"an interrupt", func(w *actionWorld, a vmAction) {
		check(w.T, w.sim.AddFault(&pvesim.Fault{Method: "GET", Path: "/nodes/*/tasks/*/status", Do: pvesim.DoLatency, Delay: 5 * time.Second}))
		defer w.sim.ClearFaults()
		c := w.begin(a.line + " live --parallelism 1")
		waitUntil(w.T, "the first call is sent", func() bool { return w.sim.Writes(w.a) > 0 })
		check(w.T, c.Process.Signal(os.Interrupt))
		if code, output := c.ends(); code != 1 || !strings.Contains(output, "interrupted") {
			w.Errorf("%s: exit %d\n%s", a.line, code, output)
		}
		w.untouched(w.b)
	}},
}

func (w *actionWorld) edit(vmid int, change func(g *pvesim.Guest)) {
	w.each(func(g *pvesim.Guest) {
		if g.VMID == vmid {
			change(g)
		}
	})
}

func (w *actionWorld) untouched(vmid int) {
	w.Helper()
	if n := w.sim.Writes(vmid); n != 0 {
		w.Errorf("%d writes to VM %d", n, vmid)
	}
}

// reaches fails unless a VM comes into the state after the action.
func (w *actionWorld) reaches(a vmAction, vmid int) {
	w.Helper()
	waitUntil(w.T, "VM is "+a.to, func() bool { return w.states()[vmid] == a.to })
}

// TestActions: what each action does to a guest that is not the VM, to a VM that is locked, is
// on a node that is down, or needs a privilege that is missing, beside the same command and
// beside an apply, and when it is interrupted.
func TestActions(t *testing.T) {
	t.Parallel()
	seed, err := pvesim.DefaultSeed()
	check(t, err)
	seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: "secret-of-ci"}}})
	seed.ACL = append(seed.ACL, &pvesim.Grant{Path: "/", To: "ci@pve", Type: "user", Role: "PVEAuditor"})
	spec := strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {node: pve2, template: {vmid: 9002, node: pve1}}, b: {}}", 1)
	w := &actionWorld{project: newProject(t, map[string]string{"specs/live.yaml": spec}), a: 300, b: 301,
		configs: map[int]map[string]string{}, points: map[int][]*pvesim.Snapshot{}}
	w.sim = w.simulateSeed(seed)
	w.render()
	w.deployed(0, "apply --yes", "live is as its spec says")
	w.deployed(0, "checkpoint", "2 given a checkpoint")
	w.each(func(g *pvesim.Guest) {
		w.configs[g.VMID], w.points[g.VMID] = maps.Clone(g.Config), append([]*pvesim.Snapshot{}, g.Snapshots...)
	})
	for _, a := range vmActions {
		for _, c := range causes {
			w.arrange(a)
			began := time.Now()
			c.test(w, a)
			t.Logf("%s, %s: %v", a.line, c.name, time.Since(began).Round(100*time.Millisecond))
		}
	}
}
