//go:build unix

package real

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanOfOtherNICs: a network device that a person adds after a plan of the others stays. The provider would delete it.
// So would an apply that does not refresh its state. A new plan says that it removes the device, and is refused, too.
func TestPlanOfOtherNICs(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.write("specs/live.yaml", strings.Replace(oneSpec, "a: {}", "a: {networks: [{firewall: true}]}", 1))
	p.render()
	p.generate("live")
	unit, plan := unitDir("live", "proxmox-vm"), filepath.Join(t.TempDir(), "plan")
	p.succeeds(unit, "terragrunt", "run", "--", "plan", "-out="+plan)

	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/300/config", url.Values{"net1": {"virtio,bridge=vmbr0"}})
	const added = "a network device was added after the plan was made"
	p.fails(unit, []string{"apply", plan}, "blocked would-harm live/a", added, "for a saved plan after another plan")
	p.fails(unit, []string{"apply", "-refresh=false", "-auto-approve"}, "blocked would-harm live/a", added)
	p.deployed(3, "apply --yes", "would-harm", "net1")
	if c := stateOf(sim).guests[300].config; c["net1"] == "" || strings.Contains(c["net0"], "firewall=1") {
		t.Errorf("the VM has net0 %q, net1 %q", c["net0"], c["net1"])
	}
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/300/config", url.Values{"delete": {"net1"}})
	p.succeeds(unit, "terragrunt", "apply", plan)
	if c := stateOf(sim).guests[300].config; !strings.Contains(c["net0"], "firewall=1") {
		t.Errorf("the VM has net0 %q", c["net0"])
	}
}
