//go:build unix

package real

import (
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestRebuildStranger: plain Terragrunt has changed the state since the lock was written, and somebody has made a VM with the VMID,
// the name and the MAC address of one that was deleted. A rebuild does not destroy it before somebody has said that it is the VM.
func TestRebuildStranger(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {}, b: {}}", 1)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "b: {}", "b: {tags: [late]}", 1))
	p.render()
	p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	uuid := func() string {
		return regexp.MustCompile(`uuid=[^,]+`).FindString(config(t, sim, 300)["smbios1"].(string))
	}
	const stranger = "uuid=5f0e1a52-0000-4000-8000-000000000300"
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 300 {
				g.Config["smbios1"] = stranger
			}
		}
	})
	said := p.deployed(3, "rebuild live/a --yes", "a smbios1 uuid is recorded, and it has another one: a state that is newer is too little to destroy it")
	if is := uuid(); is != stranger {
		t.Fatalf("VM 300 has %s now", is)
	}
	for _, line := range []string{"resolve", "render"} {
		p.contains(said, "      stackgen "+line+"\n")
		p.deployed(0, line)
	}
	p.deployed(0, "rebuild live/a --yes")
	if is := uuid(); is == stranger {
		t.Error("VM 300 is the one of before")
	}
}
