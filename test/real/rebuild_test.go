//go:build unix

package real

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

var rebuildSpec = strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {}, b: {checkpoint: true}, c: {profile: protected}}", 1)

// TestRebuild rebuilds one VM of three: the others get no write, VMID and MAC addresses stay, and
// the plan is empty. A rebuild of all that fails twice replaces none of them twice.
func TestRebuild(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": rebuildSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	before := p.identities()
	p.deployed(1, "rebuild live/b", "standard input is no terminal")
	p.deployed(1, "rebuild live --yes", "live is a stack: give --all")
	p.deployed(3, "rebuild live --all --yes", "blocked would-destroy live/c", "its profile protected", "stackgen rebuild live/c")
	p.deployed(0, "rebuild b --dry-run", "rebuild live: rebuild 1 VM", "b: VM 301 live-b on pve1, from template 9002; scsi0 8G on local-lvm; snapshots: baseline; no backup that the token sees")
	sim.ResetLog()
	p.deployed(1, "rebuild live/b --yes --backup local-lvm", "--backup local-lvm: the storage local-lvm takes no backups", "nothing was changed")
	noWrites(t, sim)
	p.deployed(0, "rebuild live/b --yes --backup local", "a backup of each is made on local before", "live/b: backed up", "rebuilding 1 VM of live", "live is as its spec says", "taking the checkpoint baseline of 1 VM")
	for _, vmid := range []int{300, 302, 9002} {
		if n := sim.Writes(vmid); n > 0 && vmid != 9002 || vmid == 9002 && n != 1 {
			t.Errorf("%d writes to VM %d", n, vmid)
		}
	}
	after := p.identities()
	if after["a"] != before["a"] || after["c"] != before["c"] || after["b"].uuid == before["b"].uuid || after["b"].macs != before["b"].macs {
		t.Errorf("before %v\nafter %v", before, after)
	}
	p.complete(sim, 300, 301, 302)
	p.deployed(0, "rebuild live/c --dry-run", "no backup that the token sees")
	p.deployed(0, "rebuild live/b --dry-run", "last backup 20")
	p.deployed(0, "rebuild live/c --yes", "live is as its spec says")
	if now := p.identities(); now["c"].uuid == after["c"].uuid {
		t.Error("c has its old disks")
	}

	// The configuration of b fails twice: a and c are replaced once, and b too.
	sim.ResetLog()
	check(t, sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/pve1/qemu/301/config", Do: pvesim.DoError, Status: 500}))
	check(t, sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/pve1/qemu/301/config", Do: pvesim.DoError, Status: 500}))
	const all = "rebuild live/a live/b live/c --yes"
	p.deployed(1, all)
	p.contains(p.read("stackgen.lock.yaml"), "rebuild: {uuid:")
	p.deployed(1, all, "live/a was rebuilt by a run that did not end; it is not rebuilt again")
	sim.ClearFaults()
	p.deployed(0, all, "live/c was rebuilt by a run that did not end", "live is as its spec says")
	p.destroyedOnce(sim, 300, 301, 302)
	p.complete(sim, 300, 301, 302)
	p.deployed(0, "preflight", "4 managed")
}

// An identity is what the lock records of a VM.
type identity struct{ uuid, macs string }

// identities are those of the VMs in the lock, which has no mark of a rebuild.
func (p *project) identities() map[string]identity {
	p.Helper()
	if strings.Contains(p.read("stackgen.lock.yaml"), "rebuild:") {
		p.Errorf("the lock has a mark:\n%s", p.read("stackgen.lock.yaml"))
	}
	return p.recorded()
}

// recorded are what the lock records of the VMs.
func (p *project) recorded() map[string]identity {
	p.Helper()
	out := map[string]identity{}
	for _, m := range regexp.MustCompile(`(?m)^ +(\w+): \{vmid.* fingerprint: \{uuid: ([-\w]+), macs: (\[[^]]*\])`).FindAllStringSubmatch(p.read("stackgen.lock.yaml"), -1) {
		out[m[1]] = identity{m[2], m[3]}
	}
	return out
}

// destroyedOnce fails unless each VM was destroyed once since the log was reset.
func (p *project) destroyedOnce(sim *pvesim.Server, vmids ...int) {
	p.Helper()
	n := map[int]int{}
	for _, r := range sim.Requests() {
		if r.Method == http.MethodDelete && strings.HasSuffix(strings.TrimSuffix(r.Path, "/"), fmt.Sprintf("/qemu/%d", r.VMID)) {
			n[r.VMID]++
		}
	}
	for _, vmid := range vmids {
		if n[vmid] != 1 {
			p.Errorf("VM %d was destroyed %d times: %v %q", vmid, n[vmid], n, writes(sim))
		}
	}
}

// TestRebuildGone: a VM that was deleted by hand is created again by the line that preflight
// prints, and one with another template by that of its finding.
func TestRebuildGone(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	sim.Remove(300)
	p.deployed(3, "preflight", "gone", "or create it again", "stackgen rebuild live/a")
	p.deployed(0, "rebuild live/a --yes", "create live: VM a", "live is as its spec says")
	p.complete(sim, 300)
	p.write("specs/live.yaml", strings.Replace(oneSpec, "template: 9002", "template: 9000, clone: linked", 1))
	p.render()
	p.deployed(0, "preflight", "1 outdated-template", "or, for new disks from template 9000", "stackgen rebuild live/a")
	p.deployed(0, "rebuild live/a --yes", "from template 9000", "live is as its spec says\n")
	p.deployed(0, "preflight", "2 managed")

	// A change of the spec that waits comes first; a guest that does not boot does not matter.
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "a: {}", "a: {}, b: {memory: 1024}", 1))
	p.render()
	p.deployed(3, "rebuild live/a --yes", "blocked: the plan of live also changes", "stackgen apply specs/live.yaml")
	p.deployed(0, "apply --yes")
	identity := p.identities()
	sim.ResetLog()
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "memory: 1024", "memory: 2048", 1))
	p.render()
	p.deployed(3, "rebuild live/a --yes", "also changes proxmox_virtual_environment_vm.this")
	noWrites(t, sim)
	p.deployed(0, "apply --yes")
	if now := p.identities(); now["a"] != identity["a"] {
		t.Error("a was rebuilt")
	}
}

// TestRebuildKilled kills a rebuild before each request that changes the VM. The same command goes
// on, and so does an apply: one VM, its plan is empty, and nothing was destroyed twice.
func TestRebuildKilled(t *testing.T) {
	t.Parallel()
	begun := appliedSpec(t, oneSpec)
	requests := rebuildRequests(t, begun)
	if len(requests) < 5 {
		t.Fatalf("a rebuild changes the VM by %d requests only: %v", len(requests), requests)
	}
	earlier := map[string]int{}
	for i, request := range requests {
		after := earlier[request]
		earlier[request]++
		for _, then := range []string{"rebuild live/a --yes", "apply --yes"} {
			t.Run(fmt.Sprintf("%d %s, %s", i+1, strings.ReplaceAll(request, "/", "."), strings.Fields(then)[0]), func(t *testing.T) {
				t.Parallel()
				rebuildKilledAt(t, begun, request, after, then)
			})
		}
	}
}

// A start is a project and the content of its cluster, from which several cases go on: each gets a copy.
type start struct {
	dir  string
	seed []byte
}

// appliedSpec is the stack live of a spec, applied.
func appliedSpec(t *testing.T, spec string) start {
	t.Helper()
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	var seed bytes.Buffer
	check(t, sim.Save(&seed))
	return start{p.dir, seed.Bytes()}
}

// copy is a project with a cluster of its own. Working folders of the tools are not in it, since they have paths in them.
func (s start) copy(t *testing.T) (*project, *pvesim.Server) {
	t.Helper()
	seed, err := pvesim.ParseSeed(s.seed)
	check(t, err)
	p := newProject(t, nil)
	check(t, os.Remove(filepath.Join(p.dir, "stackgen.yaml"))) // CopyFS overwrites no file
	check(t, os.CopyFS(p.dir, os.DirFS(s.dir)))
	check(t, os.RemoveAll(filepath.Join(p.dir, "stacks/live/.terragrunt-stack")))
	return p, p.simulateSeed(seed)
}

// rebuildRequests are the requests of a whole rebuild that change the cluster.
func rebuildRequests(t *testing.T, begun start) (out []string) {
	p, sim := begun.copy(t)
	p.deployed(0, "rebuild live/a --yes")
	for _, r := range sim.Requests() {
		if r.Write {
			out = append(out, r.Method+" "+strings.TrimPrefix(r.Path, "/api2/json"))
		}
	}
	return out
}

func rebuildKilledAt(t *testing.T, begun start, request string, after int, then string) {
	p, sim := begun.copy(t)
	was := p.identities()["a"]
	method, path, _ := strings.Cut(request, " ")
	check(t, sim.AddFault(&pvesim.Fault{Method: method, Path: path, After: after, Do: pvesim.DoError, Delay: time.Hour})) // the request of a killed client must not end meanwhile
	p.killedIn("rebuild live/a --yes", func() bool { return sim.Faults()[0].Hits > 0 })
	sim.ClearFaults()
	t.Log(p.deployed(0, then, "live is as its spec says"))
	kept := p.identities()["a"] == was
	if !kept {
		p.destroyedOnce(sim, 300)
	}
	p.complete(sim, 300)
	if kept && then != "apply --yes" {
		t.Error("it was not rebuilt")
	}
	p.deployed(0, "apply --yes", "nothing to do")
}

// TestRebuildKilledTwice kills a rebuild when it has destroyed the VM, and the run that completes it before that starts
// the new one. The state still has the VM of before, and proves nothing: the next run starts the new one.
func TestRebuildKilledTwice(t *testing.T) {
	t.Parallel()
	begun := appliedSpec(t, oneSpec)
	for _, then := range []string{"rebuild live/a --continue --yes", "apply --yes"} {
		t.Run(strings.Fields(then)[0], func(t *testing.T) {
			t.Parallel()
			p, sim := begun.copy(t)
			held := func(method, path string) {
				check(t, sim.AddFault(&pvesim.Fault{Method: method, Path: path, Do: pvesim.DoError, Delay: time.Hour})) // as in rebuildKilledAt
				p.killedIn("rebuild live/a --yes", func() bool { return sim.Faults()[0].Hits > 0 })
				sim.ClearFaults()
			}
			held(http.MethodPost, "/nodes/*/qemu/9002/clone")
			held(http.MethodPost, "/nodes/pve1/qemu/300/status/start")
			p.deployed(0, then, "live is as its spec says")
			p.destroyedOnce(sim, 300)
			p.complete(sim, 300)
			p.deployed(0, "apply --yes", "nothing to do")
		})
	}
}

// TestRebuildMeetsLock: while another process has the lock of a stopped VM, as `qm cleanup` of
// qemu-server 9.2 has after its end, the task that destroys it fails. The rebuild plans the rest of the wave
// again, and destroys nothing twice.
func TestRebuildMeetsLock(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {}, b: {}}", 1)})
	sim := p.simulateWith(pvesim.Options{Clock: clock.NewScaled(time.Now(), 10)})
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	callAPI(t, sim, http.MethodPost, "/nodes/pve1/qemu/300/status/stop", nil)
	waitUntil(t, "VM 300 is stopped", func() bool { return !stateOf(sim).guests[300].running })
	sim.ResetLog()
	release := sim.HoldConfig(300)
	c := p.command("rebuild --yes --all live")
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	check(t, err)
	defer func() { check(t, out.Close()) }()
	said := func() string {
		body, err := os.ReadFile(out.Name())
		check(t, err)
		return string(body)
	}
	c.Stdout, c.Stderr = out, out
	check(t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	const again = "another task has the lock of a VM of live; rebuilding again: a"
	waitUntil(t, "the rebuild meets the lock", func() bool { return len(ended) > 0 || strings.Contains(said(), again) })
	release()
	if err := <-ended; err != nil || !strings.Contains(said(), again) {
		t.Fatalf("rebuild: %v\n%s", err, said())
	}
	n := 0
	for _, r := range sim.Requests() {
		if r.VMID == 9002 && strings.HasSuffix(r.Path, "/clone") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d clones, want 2", n)
	}
	p.identities()
	p.complete(sim, 300, 301)
}

// TestRebuildOlderState: somebody changed a VM by hand, and the spec says that now, so that no apply has anything to do and the
// state stays older than the VM. That is no change which keeps another VM from its rebuild.
func TestRebuildOlderState(t *testing.T) {
	t.Parallel()
	const spec = "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\n" +
		"defaults: {node: pve1, template: 9002, started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\nvms: {a: {}, b: {}}\n"
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/301/config", url.Values{"memory": {"3072"}})
	p.write("specs/live.yaml", strings.Replace(spec, "b: {", "b: {memory: 3072", 1))
	p.render()
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says")
	t.Log(p.deployed(0, "rebuild live/a --yes", "reading the VMs of live: its state may be older than they are"))
	p.write("specs/live.yaml", strings.Replace(spec, "b: {", "b: {memory: 4096", 1))
	p.render()
	p.deployed(3, "rebuild live/a --yes", "also changes", "apply first")
}
