//go:build unix

package real

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// newTainted is a stack of two containers, n and p, in which p has a bridge of its own.
func newTainted(t *testing.T) (*project, *pvesim.Server) {
	t.Helper()
	spec := strings.Replace(killedContainers, "p: {}", "p: {networks: [{bridge: vmbr1, ipv4: 10.0.0.54/24}]}", 1)
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	bridges(sim, "vmbr0", "vmbr1")
	p.render()
	return p, sim
}

// bridges are those that the first node has from now on. A container starts only where its bridges are.
func bridges(sim *pvesim.Server, names ...string) {
	sim.Change(func(s *pvesim.Seed) { s.Nodes[0].Bridges = names })
}

// losesBridge applies, and the node loses the bridge of p before p is created: it is created, and cannot be started.
func (p *project) losesBridge(sim *pvesim.Server, do func()) string {
	p.Helper()
	check(p.T, sim.AddFault(&pvesim.Fault{Method: http.MethodPost, Path: createContainer, Do: pvesim.DoLatency, Delay: 2 * time.Second}))
	out, code := p.meanwhile(sim, func() { bridges(sim, "vmbr0"); do() })
	if code != 1 {
		p.Fatalf("the apply without the bridge ended with %d\n%s", code, out)
	}
	return out
}

// TestContainersTainted: a container is created and does not start. The provider marks it as tainted.
// The same command starts it once the cause is gone, and changes nothing else.
func TestContainersTainted(t *testing.T) {
	t.Parallel()
	p, sim := newTainted(t)
	out := p.losesBridge(sim, func() {})
	p.contains(out, "container p (VMID 301, node pve1) was created, but not completed: node pve1 has no bridge vmbr1", "then continue", "stackgen apply --yes")
	before := stateOf(sim)
	if !before.guests[300].running || before.guests[301].running {
		t.Fatalf("n and p are %v and %v", before.guests[300], before.guests[301])
	}
	p.deployed(1, "apply --yes", "start live: container p", "apply: start 1 container\n",
		"container p (VMID 301, node pve1) was not started: node pve1 has no bridge vmbr1", "then continue")
	bridges(sim, "vmbr0", "vmbr1")
	p.startsTainted(sim, before, 301, "start live: container p")
	p.deployed(0, "power stop live/p --yes", "stopped")
	p.deployed(0, "apply --yes", "nothing to do")
	if stateOf(sim).guests[301].running {
		t.Error("p was stopped on purpose, and runs again")
	}
}

// TestContainersTaintedFrozen: no plan starts a container whose profile ignores everything. That is said, once.
func TestContainersTaintedFrozen(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(killedContainers, "p: {}", "p: {profile: frozen, networks: [{bridge: vmbr1, ipv4: 10.0.0.54/24}]}", 1) +
		"profiles: {frozen: {ignore_changes: [all]}}\n"
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	bridges(sim, "vmbr0", "vmbr1")
	p.render()
	p.losesBridge(sim, func() {})
	bridges(sim, "vmbr0", "vmbr1")
	p.deployed(0, "apply --yes", "off, because no plan of its profile starts it; to do that: `stackgen power start live/p`")
	p.deployed(0, "apply --yes", "nothing to do")
	p.deployed(0, "power start live/p --yes", "started")
	p.deployed(0, "apply --yes", "nothing to do")
	if !stateOf(sim).guests[301].running {
		t.Error("p does not run")
	}
}

// TestContainersTaintedBesideVM: a VM is not made in the apply that leaves a container tainted. Nothing
// remembers it as begun: a stranger that gets its VMID and has its name is refused.
func TestContainersTaintedBesideVM(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(killedContainers, "p: {}", "p: {networks: [{bridge: vmbr1, ipv4: 10.0.0.54/24}]}", 1)
	spec = strings.Replace(spec, "  containers: {t", "  template: 9002\n  clone: full\n  disks: [{interface: scsi0, size: 8, datastore: local-lvm}]\n"+
		"  containers: {t", 1) + "vms: {v: {agent: false}}\n"
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	bridges(sim, "vmbr0", "vmbr1")
	p.render()
	check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodPost, Path: "/nodes/*/qemu/9002/clone", Do: pvesim.DoError, Status: 500, Message: "no space left"}))
	out := p.losesBridge(sim, func() {})
	if p.contains(out, "VM v", "container p (VMID 301, node pve1) was created, but not completed"); strings.Contains(out, "could not be written") {
		t.Errorf("the outputs were not written:\n%s", out)
	}
	sim.ClearFaults()
	bridges(sim, "vmbr0", "vmbr1")
	check(t, sim.Add(&pvesim.Guest{VMID: 302, Type: "qemu", Node: "pve1", Config: map[string]string{
		"name": "live-v", "memory": "4096", "scsihw": "virtio-scsi-pci", "scsi0": "local-lvm:vm-302-disk-0,size=8G",
		"net0": "virtio=BC:24:11:AA:AA:02,bridge=vmbr0", "smbios1": "uuid=11111111-2222-3333-4444-555555555555"}}))
	before := stateOf(sim).guests[302]
	p.deployed(3, "apply --yes", "conflict live/v")
	if is := stateOf(sim).guests[302]; !reflect.DeepEqual(is, before) {
		t.Errorf("the stranger was %v, and is %v", before, is)
	}
}

// TestContainersKilledTainted kills everything after the provider could not read a container that it
// had created and started, and before its state is not marked as tainted any more. The same command
// keeps it.
func TestContainersKilledTainted(t *testing.T) {
	t.Parallel()
	p, sim := newTainted(t)
	check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodGet, Path: "/nodes/*/lxc/300/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	const state = ".state/live/proxmox-container/tofu.tfstate"
	p.killedOnce(func() bool { return p.exists(state) && strings.Contains(p.read(state), "tainted") })
	sim.ClearFaults()
	p.listed(sim, 300)
	p.remove("stacks/live/.terragrunt-stack")
	p.deployed(3, "apply --dry-run", "tainted in state")
	p.startsTainted(sim, stateOf(sim), 0, "live/n was created halfway by an apply that was interrupted")
}

// startsTainted runs the same command again. It starts a container, if one is named, and changes nothing else.
func (p *project) startsTainted(sim *pvesim.Server, before *clusterState, stopped int, says string) {
	p.Helper()
	p.deployed(0, "apply --yes", says, "live is as its spec says")
	after := stateOf(sim)
	for _, vmid := range []int{300, 301} {
		was, is := before.guests[vmid], after.guests[vmid]
		if vmid == stopped {
			was.running, was.started = true, is.started
		}
		if !is.running || !reflect.DeepEqual(is, was) {
			p.Errorf("container %d was %v, and is %v", vmid, before.guests[vmid], is)
		}
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(p.T, sim)
	if left := p.list(); strings.Contains(strings.Join(left, " "), "unfinished") {
		p.Errorf("records of the apply are left: %v", left)
	}
}

// TestContainersTaintedStranger: a stranger gets the VMID of a container before it is created, and cannot
// be started. The state has it as tainted, and no apply or destroy changes or starts it.
func TestContainersTaintedStranger(t *testing.T) {
	t.Parallel()
	p, sim := newTainted(t)
	stranger := containerByHand(301, "pve1", "erp", "BC:24:11:AA:AA:01")
	stranger.Config["net0"] = strings.Replace(stranger.Config["net0"], "vmbr0", "vmbr1", 1)
	p.losesBridge(sim, func() { check(t, sim.Add(stranger)) })
	bridges(sim, "vmbr0", "vmbr1")
	before := stateOf(sim).guests[301]
	if before.running || before.config["hostname"] != "erp" {
		t.Fatalf("the stranger is %v", before)
	}
	sim.ResetLog()
	for range 2 {
		p.deployed(3, "apply --yes", "blocked conflict live/p", "belongs to another container", "terragrunt state rm")
		p.deployed(3, "destroy --yes", "conflict live/p")
	}
	noWrites(t, sim)
	if is := stateOf(sim).guests[301]; !reflect.DeepEqual(is, before) {
		t.Errorf("the stranger was %v, and is %v", before, is)
	}
	p.succeeds(unitDir("live", "proxmox-container"), "terragrunt", "state", "rm", `proxmox_virtual_environment_container.this["p"]`)
	sim.Remove(301)
	p.deployed(0, "apply --yes", "create live: container p")
}

// TestContainersTaintedRecords: a container does not start, and its record and those of the others are one unit.
// They are published at the end of the same apply, which fails by the container only.
func TestContainersTaintedRecords(t *testing.T) {
	t.Parallel()
	c := newDNSCluster(t, "DNS, mode: per-stack\ndefaults: {node: pve1, containers: {template: \"local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz\"}}\n"+
		"containers:\n  n: {name: web, networks: [{bridge: vmbr0, ipv4: 10.0.0.53/24}]}\n  p: {name: db, networks: [{bridge: vmbr1, ipv4: 10.0.0.54/24}]}\n")
	bridges(c.sim, "vmbr0", "vmbr1")
	out := c.losesBridge(c.sim, func() {})
	c.contains(out, "was created, but not completed", "then continue")
	c.has("web", "10.0.0.53")
	bridges(c.sim, "vmbr0", "vmbr1")
	c.deployed(0, "apply --yes", "start live: container p", "live is as its spec says")
	c.has("db", "10.0.0.54")
}
