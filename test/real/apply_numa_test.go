//go:build unix

package real

import (
	"net/url"
	"strings"
	"testing"
)

const nodesSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false, memory: 2048, numa: true, cores: 2, started: false}
vms:
  one: {started: true, restart: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0}]}
  two: {numa_nodes: [{cpus: 0, memory: 1024, host_nodes: 0}, {cpus: 1, memory: 1024, host_nodes: 0}]}
  unread: {numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0}]}
  added: {numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0}]}
  same: {}
`

// TestApplyRestoresNUMANodes: no plan shows that somebody removed a NUMA node, before the
// state says it. Drift, preflight and the summary of an apply say the same, one apply adds the
// nodes again, also together with another change, and the next one has nothing to do.
func TestApplyRestoresNUMANodes(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": nodesSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	byHand := func() {
		for vmid, form := range map[string]url.Values{
			"300": {"delete": {"numa0"}},
			"301": {"delete": {"numa0"}},
			"302": {"numa0": {"cpus=0-1,memory=2048"}}, // without nodes of the host, the provider does not read it
			"303": {"numa1": {"cpus=0,hostnodes=0,memory=64,policy=bind"}},
		} {
			callAPI(t, sim, "PUT", "/nodes/pve1/qemu/"+vmid+"/config", form)
		}
	}
	restarts := func() int { return strings.Count(strings.Join(writes(sim), "\n"), "/qemu/300/status/start") }
	byHand()
	_, said := p.stackgen("preflight", "--verbose", p.dir)
	p.contains(said, "an apply changes numa0 (stops the VM hard and starts it again: no agent answers)", "no plan adds numa0 before the state says that it is missing")
	if strings.Contains(said, "numa1") {
		t.Errorf("preflight names numa1, which no apply changes:\n%s", said)
	}
	_, said = p.stackgen("drift", "--verbose", p.dir)
	p.contains(said, "numa0 was changed by hand: an apply sets it back, and stops the VM hard", "specs/live.yaml:8:22 says cpus=0 memory=1024")
	if strings.Contains(said, "an apply does not change it") {
		t.Errorf("drift says that nothing changes:\n%s", said)
	}
	p.deployed(0, "apply --dry-run", "change live: 3 VMs  one, two, unread")
	before := restarts()
	p.deployed(0, "apply --yes", "change  live: 3 VMs  one, two, unread", "numa0: none -> cpus=0-1", "live is as its spec says")
	if n := restarts() - before; n != 1 {
		t.Errorf("%d starts of the VM, want 1", n)
	}
	want := func() {
		t.Helper()
		const all = "numa0=cpus=0-1,hostnodes=0,memory=2048,policy=preferred"
		for vmid, want := range map[int]string{300: all, 301: "numa0=cpus=0,hostnodes=0,memory=1024,policy=preferred numa1=cpus=1,hostnodes=0,memory=1024,policy=preferred", 302: all, 303: all + " numa1=cpus=0,hostnodes=0,memory=64,policy=bind"} {
			if got := entries(config(t, sim, vmid), "numa0", "numa1"); got != want {
				t.Errorf("VM %d has %s, want %s", vmid, got, want)
			}
		}
	}
	want()
	p.deployed(0, "apply --yes", "nothing to do")

	byHand() // and another change of the same VM, and of another one
	p.write("specs/live.yaml", strings.NewReplacer("two: {", "two: {description: pair, ", "same: {}", "same: {cores: 1}").Replace(nodesSpec))
	p.render()
	p.deployed(0, "apply --yes", "change  live: 4 VMs  one, same, two and 1 more", "live is as its spec says")
	want()
	p.deployed(0, "apply --yes", "nothing to do")
}
