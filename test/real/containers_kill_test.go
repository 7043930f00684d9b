//go:build unix

package real

import (
	"bytes"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// killedContainers is a stack of two containers.
const killedContainers = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults:
  node: pve1
  containers: {template: "local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz"}
containers:
  n: {networks: [{bridge: vmbr0, ipv4: 10.0.0.53/24}]}
  p: {}
`

// createContainer is the path of the request that creates a container.
const createContainer = "/nodes/pve1/lxc"

// TestContainersKilled: a stranger gets the VMID of a container after the hook has read the cluster,
// and before the request that creates it; and everything is killed before the one request of a creation,
// and after it. No stranger is changed, no container is made twice, and the same command is right in the end.
func TestContainersKilled(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": killedContainers})
	sim := p.simulate()
	p.render()
	strangerBefore(p, sim)
	strangerMeanwhile(p, sim)

	p.killedAt(sim, http.MethodPost, createContainer)
	if g := stateOf(sim).guests[300]; g.kind != "" {
		t.Fatal("the request was executed before the kill")
	}
	p.deployed(0, "apply --yes")
	others := stateOf(sim).guests[301]
	for _, r := range sim.Requests() {
		if r.Write && r.VMID == 300 && !strings.HasSuffix(r.Path, createContainer) {
			t.Errorf("a creation also sends %s %s: kill it before that, too", r.Method, r.Path)
		}
	}

	p.deployed(0, "destroy --yes live/n")
	if after := stateOf(sim).guests; after[300].kind != "" || !reflect.DeepEqual(after[301], others) {
		t.Errorf("after the destroy of 300: %v and %v, want none and %v", after[300], after[301], others)
	}

	p.killedAt(sim, http.MethodGet, "/nodes/pve1/tasks/**")
	p.listed(sim, 300)
	made := stateOf(sim).guests[300]
	sim.ResetLog()
	p.deployed(0, "apply --yes", "import")
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(t, sim)
	if is := stateOf(sim).guests[300]; !made.running || !reflect.DeepEqual(is, made) {
		t.Errorf("the container was %v after the kill, and is %v", made, is)
	}
}

// strangerBefore: a stranger gets the VMID of a container while the hook makes its plan. The hook looks
// once more after that, and refuses the apply before any write.
func strangerBefore(p *project, sim *pvesim.Server) {
	p.Helper()
	const looks = 2 // of the command, and of the hook before its plan
	check(p.T, sim.AddFault(&pvesim.Fault{Method: http.MethodGet, Path: "/cluster/resources", After: looks, Count: 1, Do: pvesim.DoLatency, Delay: 2 * time.Second}))
	out, code := p.meanwhile(sim, func() { check(p.T, sim.Add(containerByHand(300, "pve1", "erp", "BC:24:11:AA:AA:01"))) })
	if code != 3 {
		p.Fatalf("the apply ended with %d\n%s", code, out)
	}
	p.contains(out, "blocked conflict live/n", "container 300 (erp) on pve1")
	noWrites(p.T, sim)
	sim.Remove(300)
	sim.ResetLog()
}

// meanwhile applies, and does something during the first request that has a fault.
func (p *project) meanwhile(sim *pvesim.Server, do func()) (out string, code int) {
	p.Helper()
	var b bytes.Buffer
	c := p.command("apply --yes")
	c.Stdout, c.Stderr = &b, &b
	check(p.T, c.Start())
	for until := time.Now().Add(2 * time.Minute); sim.Faults()[0].Hits == 0 && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	do()
	sim.ClearFaults()
	_ = c.Wait() // its status says how it ended
	return b.String(), c.ProcessState.ExitCode()
}

// strangerMeanwhile: the provider takes the container of a stranger, which has got the VMID since the
// hook has read the cluster, for the one that it creates, and starts it. Nothing changes it afterwards.
func strangerMeanwhile(p *project, sim *pvesim.Server) {
	p.Helper()
	check(p.T, sim.AddFault(&pvesim.Fault{Method: http.MethodPost, Path: createContainer, Do: pvesim.DoLatency, Delay: 3 * time.Second}))
	var before guestState
	out, code := p.meanwhile(sim, func() {
		check(p.T, sim.Add(containerByHand(300, "pve1", "erp", "BC:24:11:AA:AA:01")))
		before = stateOf(sim).guests[300]
	})
	if code != 1 {
		p.Fatalf("the apply that met a stranger ended with %d\n%s", code, out)
	}
	p.contains(out, "live was applied, but is not as its spec says", "blocked conflict live/n", "belongs to another container")
	stranger := stateOf(sim).guests[300]
	if !reflect.DeepEqual(stranger.config, before.config) || strings.Contains(p.read("stackgen.lock.yaml"), "AA:AA:01") {
		p.Errorf("the stranger was %v, and is %v; the lock is\n%s", before.config, stranger.config, p.read("stackgen.lock.yaml"))
	}
	p.deployed(3, "apply --yes", "conflict live/n", "terragrunt state rm")
	p.deployed(3, "destroy --yes", "conflict live/n")
	p.deployed(3, "destroy --yes live/n", "conflict live/n")
	if is := stateOf(sim).guests[300]; !reflect.DeepEqual(is, stranger) {
		p.Errorf("the stranger was %v, and is %v", stranger, is)
	}
	p.succeeds(unitDir("live", "proxmox-container"), "terragrunt", "state", "rm", `proxmox_virtual_environment_container.this["n"]`)
	sim.Remove(300)
	sim.ResetLog()
}

// killedAt kills an apply before a request is executed.
func (p *project) killedAt(sim *pvesim.Server, method, path string) {
	p.Helper()
	check(p.T, sim.AddFault(&pvesim.Fault{Method: method, Path: path, Do: pvesim.DoError, Delay: time.Hour}))
	p.killedOnce(func() bool { return sim.Faults()[0].Hits > 0 })
	sim.ClearFaults()
}

// listed waits until a container runs, and the lists of the cluster, which are late, have it without a lock,
// and no task that creates it.
func (p *project) listed(sim *pvesim.Server, vmid float64) {
	p.Helper()
	w := &simulation{t: p.T, sim: sim}
	each := func(path string, is func(map[string]any) bool) bool {
		return slices.ContainsFunc(w.api(http.MethodGet, path, nil).([]any), func(x any) bool { return is(x.(map[string]any)) })
	}
	waitUntil(p.T, "the container is in the lists", func() bool {
		return stateOf(sim).guests[int(vmid)].running && each("/cluster/resources?type=vm", func(g map[string]any) bool {
			return g["vmid"] == vmid && g["status"] == "running" && g["lock"] == nil
		}) && !each("/cluster/tasks", func(task map[string]any) bool { return task["type"] == "vzcreate" && task["endtime"] == nil })
	})
}
