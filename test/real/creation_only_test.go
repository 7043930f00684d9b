//go:build unix

package real

import (
	"strings"
	"testing"
)

// TestCreationOnly changes the clone mode of a VM that exists, and whether a new VM starts.
// Nothing changes it; render, apply, preflight and drift say so, until the spec says again what
// the VM was made with.
func TestCreationOnly(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", strings.Replace(oneSpec, "template: 9002", "template: 9002, clone: linked, started: false", 1))
	p.step(0, "render", "live: clone: linked is another value than before: a.", "live: started: false is another value than before: a.")
	p.contains(p.read("stackgen.lock.yaml"), "made_with: {clone: full, started: true}")
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says, except that live/a with clone: full, live/a with started: true")
	noWrites(t, sim)
	p.step(0, "preflight", "1 creation-only", "made with clone: full, and the spec says linked", "clone: full  # vms.a", "stackgen power shutdown live/a")
	p.step(2, "drift", "live/a", "made with clone: full, and the spec says linked", "made with started: true, and the spec says false")

	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "started: false", "started: false, tags: [late]", 1))
	p.step(0, "render")
	p.deployed(0, "apply --yes", "\nlive is as its spec says, except that live/a with clone: full, live/a with started: true")
	p.step(0, "power shutdown --yes")
	if code, out := p.stackgen("drift", p.dir); code != 2 || strings.Contains(out, "made with started") {
		t.Errorf("a VM that is off is as the spec says: exit %d\n%s", code, out)
	}

	// A VM that is created again is made with the values of the spec.
	sim.Remove(300)
	p.step(3, "preflight", "gone")
	p.succeeds(unitDir("live", "proxmox-vm"), "terragrunt", "state", "rm", vmAddress("this", "a"))
	p.deployed(0, "apply --yes", "create live: VM a", "live is as its spec says")
	if lock := p.read("stackgen.lock.yaml"); strings.Contains(lock, "made_with") {
		t.Errorf("the lock does not have the new VM:\n%s", lock)
	}
	p.step(0, "drift")
}
