//go:build unix

package real

import (
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

const restartOffSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, restart: true, usb: [{mapping: stick}]}
vms:
  a: {cores: 2}
`

// TestRestartThatWouldLeaveVMOff: what a VM runs with was removed. An apply that restarts it is refused before the provider stops
// the VM, and is made when the spec does without it.
func TestRestartThatWouldLeaveVMOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gone   func(*pvesim.Seed)
		says   string
		remove []string // from the spec
	}{
		"mapping": {func(s *pvesim.Seed) { s.Mappings = nil }, "the cluster has no USB mapping stick", []string{", usb: [{mapping: stick}]", ""}},
		"bridge": {func(s *pvesim.Seed) { s.Nodes[0].Bridges = []string{"vmbr1"} }, "node pve1 has no bridge or virtual network vmbr0",
			[]string{"cores: 4", "cores: 4, networks: [{bridge: vmbr1}]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"specs/live.yaml": restartOffSpec})
			sim := p.simulate()
			p.render()
			p.deployed(0, "apply --yes")
			sim.Change(c.gone)
			spec := strings.Replace(restartOffSpec, "cores: 2", "cores: 4", 1)
			p.write("specs/live.yaml", spec)
			p.render()
			before := len(writes(sim))
			p.deployed(3, "apply --yes", "its next update would stop it, and it would not start again", c.says)
			if after := writes(sim)[before:]; len(after) > 0 || !stateOf(sim).guests[300].running {
				t.Errorf("the apply sent %v; the VM runs: %v", after, stateOf(sim).guests[300].running)
			}
			p.write("specs/live.yaml", strings.NewReplacer(c.remove...).Replace(spec))
			p.render()
			p.deployed(0, "apply --yes", "live is as its spec says")
			if !stateOf(sim).guests[300].running {
				t.Error("the VM is off")
			}
		})
	}
}
