//go:build unix

package real

import (
	"strings"
	"testing"
)

// TestTemplateChanged changes the template of a VM that exists. Nothing changes it; render, apply,
// preflight and drift say so, and the lock keeps what it was made from until it is created again.
func TestTemplateChanged(t *testing.T) {
	t.Parallel()
	const made, next = "template: {vmid: 9002, node: pve1}", "next_template: {vmid: 9000, node: pve1}"
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", strings.Replace(oneSpec, "template: 9002", "template: 9000", 1))
	p.step(0, "render", "live: template 9000 is another one than before: a.")
	p.contains(p.read("stackgen.lock.yaml"), made+", "+next)
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says, except that live/a from 9002")
	noWrites(t, sim)
	p.step(0, "preflight", "1 outdated-template", "made from template 9002, and the spec says 9000", made+"  # vms.a")
	p.step(2, "drift", "live/a", "template", "made from template 9002, and the spec says 9000")
	p.contains(p.read("stackgen.lock.yaml"), made+", "+next)

	// Its line ends it.
	p.write("specs/live.yaml", strings.NewReplacer("template: 9002", "template: 9000", "a: {}", "a: {"+made+"}").Replace(oneSpec))
	p.step(0, "render")
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says\n")
	p.step(0, "drift")

	// A VM that is created again is made from the template of the spec.
	p.write("specs/live.yaml", strings.Replace(oneSpec, "template: 9002", "template: 9000", 1))
	p.step(0, "render")
	sim.Remove(300)
	p.step(3, "preflight", "gone")
	p.succeeds(unitDir("live", "proxmox-vm"), "terragrunt", "state", "rm", vmAddress("this", "a"))
	p.deployed(0, "apply --yes", "create live: VM a", "live is as its spec says")
	if lock := p.read("stackgen.lock.yaml"); !strings.Contains(lock, "template: {vmid: 9000, node: pve1}") || strings.Contains(lock, "next_template") {
		t.Errorf("the lock does not have the template of the new VM:\n%s", lock)
	}
}
