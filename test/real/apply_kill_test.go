//go:build unix

package real

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"stackgen/internal/pvesim"
)

const killedSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms: {a: {}, b: {}, c: {}, d: {started: false}, e: {node: pve2, template: {vmid: 9002, node: pve1}}, f: {}}
apply: {parallelism: 3}
`

// oneSpec has one VM.
const oneSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms: {a: {}}
`

// rounds is how many times a test with random moments runs.
func rounds(few int) int {
	if n, err := strconv.Atoi(os.Getenv("STACKGEN_ROUNDS")); err == nil {
		return n
	}
	return few
}

// seeded is a source of random moments. Its seed is printed; STACKGEN_SEED sets it.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("STACKGEN_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("STACKGEN_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// TestApplyKilled kills the apply of a class at random moments: stackgen alone, or everything
// that it has started. The same command is right in the end, every time.
func TestApplyKilled(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	for round := range rounds(1) {
		w := newClassApply(t)
		for kill := range 1 + random.IntN(2) {
			after := time.Duration(1500+random.IntN(16000)) * time.Millisecond
			all := random.IntN(2) == 0
			t.Logf("round %d, kill %d: everything %v, after %v", round, kill, all, after)
			w.killedApply(after, all)
		}
		t.Log(w.deployed(0, "apply --yes"))
		w.complete()
	}
}

// TestApplyKilledForgets kills everything during a clone and removes the folder of the
// stack that Git ignores, as a fresh checkout lacks it: the VM runs in the end.
func TestApplyKilledForgets(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	c := p.command("apply --yes")
	check(t, c.Start())
	cloned(t, sim)
	for _, pid := range append(descendants(c.Process.Pid), c.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	_ = c.Wait() // it was killed
	p.remove("stacks/live/.terragrunt-stack")
	t.Log(p.deployed(0, "apply --yes", "complete live: VM a", "start live: VM a"))
	p.complete(sim, 300)
}

// TestApplyKilledMigrating kills everything while a clone is migrated to its node. The same command waits until that has
// ended, and completes the VM.
func TestApplyKilledMigrating(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "node: pve1, template: 9002", "node: pve2, template: {vmid: 9002, node: pve1}", 1)})
	sim := p.simulateWith(pvesim.Options{Durations: func(kind string, _ int) (time.Duration, bool) { return 8 * time.Second, kind == "qmigrate" }})
	p.render()
	p.killedIn("apply --yes", func() bool {
		return slices.ContainsFunc(writes(sim), func(w string) bool { return strings.Contains(w, "/qemu/300/migrate ") })
	})
	p.deployed(0, "apply --yes", "live/a; waiting until it has ended", "live is as its spec says")
	p.complete(sim, 300)
	if node := stateOf(sim).guests[300].node; node != "pve2" {
		t.Errorf("the VM is on %s", node)
	}
}

// TestApplyKilledTainted kills everything after a VM could not be configured, and before its
// state is not marked as tainted any more. The same command keeps and completes the VM, even
// without the folder of the stack that Terragrunt removes.
func TestApplyKilledTainted(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	check(t, sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/300/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	const state = ".state/live/proxmox-vm/tofu.tfstate"
	p.killedOnce(func() bool { return p.exists(state) && strings.Contains(p.read(state), "tainted") })
	sim.ClearFaults()
	p.remove("stacks/live/.terragrunt-stack")
	p.deployed(3, "apply --dry-run", "tainted in state")
	if p.exists("stacks/live/.terragrunt-stack") {
		t.Error("a dry run leaves .terragrunt-stack")
	}
	p.deployed(0, "apply --yes", "live/a was created halfway by an apply that was interrupted", "change live: VM a", "start live: VM a", "live is as its spec says")
	p.complete(sim, 300)
	if left := p.list(); slices.ContainsFunc(left, func(path string) bool { return strings.Contains(path, ".stackgen") }) {
		t.Errorf("records of the apply are left: %v", left)
	}
}

// TestApplyKilledWaits kills stackgen alone during a clone. An apply that waits for its
// Terragrunt is interrupted, and the next one still knows what to wait for.
func TestApplyKilledWaits(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	folders := "TMPDIR=" + t.TempDir()
	p.tools = p.tools.With(folders)
	first := p.command("apply --yes")
	check(t, first.Start())
	cloned(t, sim)
	check(t, first.Process.Kill())
	_ = first.Wait() // it was killed
	second := p.command("apply --yes")
	var out safeBuffer
	second.Stdout, second.Stderr = &out, &out
	check(t, second.Start())
	waitUntil(t, "the second apply waits", func() bool { return strings.Contains(out.String(), "waiting until it has ended") })
	check(t, second.Process.Signal(os.Interrupt))
	_ = second.Wait() // it ends with 1
	if second.ProcessState.ExitCode() != 1 {
		t.Errorf("the interrupted apply: %v", second.ProcessState)
	}
	p.contains(out.String(), "waiting until it has ended", "interrupted; nothing was changed")
	t.Log(out.String(), p.deployed(0, "apply --yes", "waiting until it has ended"))
	left, err := filepath.Glob(filepath.Join(strings.TrimPrefix(folders, "TMPDIR="), "stackgen-apply-*"))
	if check(t, err); len(left) > 0 {
		t.Errorf("private folders are left: %v", left)
	}
	p.complete(sim, 300)
}

// TestApplyKilledStopped kills stackgen alone during a clone. Terragrunt completes the VM, and
// a person stops it: the next apply does not start it.
func TestApplyKilledStopped(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	c := p.command("apply --yes")
	check(t, c.Start())
	cloned(t, sim)
	run := descendants(c.Process.Pid)
	check(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	for slices.ContainsFunc(run, func(pid int) bool { alive, _ := process.PidExists(int32(pid)); return alive }) {
		time.Sleep(100 * time.Millisecond)
	}
	if !stateOf(sim).guests[300].running || !strings.Contains(p.read(".state/live/proxmox-vm/tofu.tfstate"), `"vm_id": 300`) {
		t.Fatal("Terragrunt has not completed the VM")
	}
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			g.Running = g.Running && g.VMID != 300
		}
	})
	t.Log(p.deployed(0, "apply --yes", "live is as its spec says"))
	if stateOf(sim).guests[300].running {
		t.Error("the apply has started a VM that a person stopped")
	}
	if left := p.list(); slices.ContainsFunc(left, func(path string) bool { return strings.Contains(path, "unfinished") }) {
		t.Errorf("the record of the run is left: %v", left)
	}
}

// cloned waits until the VM of oneSpec exists.
func cloned(t *testing.T, sim *pvesim.Server) {
	t.Helper()
	waitUntil(t, "VM 300 exists", func() bool { _, made := stateOf(sim).guests[300]; return made })
}

// killedApply starts an apply and kills it.
func (p *project) killedApply(after time.Duration, all bool) {
	p.Helper()
	c := p.command("apply --yes")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	check(p.T, c.Start())
	time.Sleep(after)
	var tree []int
	if all {
		tree = descendants(c.Process.Pid)
	}
	for _, pid := range append([]int{c.Process.Pid}, tree...) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	_ = c.Wait() // it was killed
	p.Log(out.String())
}

// descendants are the processes that a process has started, and that these have started.
func descendants(pid int) []int {
	all, _ := process.Processes()
	children := map[int32][]int32{}
	for _, p := range all {
		if parent, err := p.Ppid(); err == nil {
			children[parent] = append(children[parent], p.Pid)
		}
	}
	var out []int
	todo := children[int32(pid)]
	for len(todo) > 0 {
		out = append(out, int(todo[0]))
		todo = append(todo[1:], children[todo[0]]...)
	}
	return out
}

// complete fails unless the cluster has exactly these VMs of the range, running unless the
// spec says otherwise, the state has them, and another apply does nothing.
func (p *project) complete(sim *pvesim.Server, want ...int) {
	p.Helper()
	var got []int
	for vmid := range stateOf(sim).guests {
		if vmid >= 300 && vmid < 400 {
			got = append(got, vmid)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		p.Errorf("the cluster has %v, want %v", got, want)
	}
	w := &simulation{t: p.T, sim: sim}
	for _, x := range w.api("GET", "/cluster/resources?type=vm", nil).([]any) {
		g := x.(map[string]any)
		id := int(g["vmid"].(float64))
		if !slices.Contains(want, id) {
			continue
		}
		status := "running"
		if id == 303 {
			status = "stopped"
		}
		now := w.api("GET", fmt.Sprintf("/nodes/%s/qemu/%d/status/current", g["node"], id), nil).(map[string]any) // the list is late
		if now["status"] != status {
			p.Errorf("VM %d is %v, want %s", id, now["status"], status)
		}
	}
	state := p.outputs("proxmox-vm")
	if vms, _ := state["vms"].(map[string]any); len(vms) < len(want) {
		p.Errorf("the outputs have %d VMs, want at least %d", len(vms), len(want))
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(p.T, sim)
	for _, line := range writes(sim) {
		if strings.HasPrefix(line, "DELETE") {
			p.Errorf("a VM was destroyed: %s", line)
		}
	}
}
