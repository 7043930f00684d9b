//go:build unix

package real

import (
	"strings"
	"testing"
)

const migratedSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
profiles: {placed: {ignore_changes: [started]}}
defaults: {node: pve1, template: 9002, agent: false, numa: true, cores: 2, memory: 2048, profile: placed}
vms:
  a: {numa_nodes: [{cpus: 0, memory: 2048, host_nodes: 0}]}
`

// TestDevicesChangedWithMigration: the provider removes the NUMA nodes and devices that change before it migrates a VM, and
// stops it for that. Where it may not, nothing is sent.
func TestDevicesChangedWithMigration(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": migratedSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	changed := strings.NewReplacer("node: pve1", "node: pve2", "cpus: 0,", "cpus: 0-1,").Replace(migratedSpec)
	p.write("specs/live.yaml", changed)
	p.render()
	before := len(writes(sim))
	p.deployed(3, "apply --yes", "cpus of numa0: 0 -> 0-1, needs the VM off")
	if after := writes(sim)[before:]; len(after) > 0 {
		t.Errorf("the apply sent %v", after)
	}
	p.write("specs/live.yaml", strings.Replace(changed, "memory: 2048,", "memory: 2048, restart: true,", 1))
	p.render()
	p.deployed(0, "apply --yes", "cpus of numa0: 0 -> 0-1, stops the VM hard and starts it again: no agent answers")
	if g := stateOf(sim).guests[300]; g.node != "pve2" || !g.running {
		t.Errorf("the VM is on %s; it runs: %v", g.node, g.running)
	}
}
