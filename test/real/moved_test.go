package real

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// vmAddress is the address of a VM in the resource block with a label.
func vmAddress(label, key string) string {
	return fmt.Sprintf("proxmox_virtual_environment_vm.%s[%q]", label, key)
}

func profileLabel(profile string) string {
	if profile == "default" {
		return "this"
	}
	return profile
}

const ownProfiles = "profiles: {own: {ignore_changes: [node_name]}, apart: {ignore_changes: [node_name, tags]}}\n"

// TestProfileChanges moves VMs from each profile to each other one, also from a profile
// that is no longer in a spec, without a change.
func TestProfileChanges(t *testing.T) {
	t.Parallel()
	profiles := []string{"default", "protected", "adopted", "own"}
	spec := func(pick func(from, to string) string) string {
		var b strings.Builder
		b.WriteString("vms:\n")
		for _, from := range append(profiles, "apart") {
			for _, to := range profiles {
				fmt.Fprintf(&b, "  %s-%s: {profile: %s}\n", from, to, pick(from, to))
			}
		}
		return b.String()
	}
	// The second render no longer has the profile apart.
	p := newStack(t, ownProfiles+spec(func(from, _ string) string { return from })).render()
	p.state(p.plan("live", "proxmox-vm"))
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"))

	var there, back []string
	for _, from := range append(profiles, "apart") {
		for _, to := range profiles {
			key := from + "-" + to
			if from != to {
				there = append(there, fmt.Sprintf("move %s -> %s", vmAddress(profileLabel(from), key), vmAddress(profileLabel(to), key)))
				back = append(back, fmt.Sprintf("move %s -> %s", vmAddress(profileLabel(to), key), vmAddress(profileLabel(from), key)))
			}
		}
	}
	gone := "profiles: {own: {ignore_changes: [node_name]}}\n" + spec(func(_, to string) string { return to })
	p.respec(gone)
	moved := p.plan("live", "proxmox-vm", "-refresh=false")
	p.expect(moved, there...)

	// Moved blocks may stay after the apply, and allow the way back.
	p.state(moved)
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"))
	p.respec(ownProfiles + spec(func(from, _ string) string { return from }))
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"), back...)
}

// TestLeaveSpec checks that a VM can be dropped from the spec only as retired, forgotten
// or renamed, and the resulting plan.
func TestLeaveSpec(t *testing.T) {
	t.Parallel()
	p := newStack(t, "vms: {keep: {}, old: {profile: protected}, name: {}, both: {profile: protected}, free: {}}\n").render()
	p.state(p.plan("live", "proxmox-vm"))

	p.write("specs/live.yaml", liveSpec("vms: {keep: {}, name: {}, both: {profile: protected}, free: {}}\n"))
	if code, output := p.stackgen("render", p.dir); code != 3 {
		t.Errorf("a protected VM can be dropped: exit %d\n%s", code, output)
	}
	p.respec("retired: [old]\nforgotten: [free]\nrenamed: {name: renamed, both: moved-on}\nvms: {keep: {}, renamed: {}, moved-on: {}}\n")
	if moved := p.read("stacks/live/moved/proxmox-vm.tf"); strings.Contains(moved, `"free"`) {
		t.Errorf("a forgotten VM has moved blocks:\n%s", moved)
	}
	p.generate("live")
	p.succeeds(unitDir("live", "proxmox-vm"), "terragrunt", "run", "--", "state", "rm", vmAddress("this", "free"))
	plan := p.plan("live", "proxmox-vm", "-refresh=false")
	for i, c := range plan.Changes { // the names follow the keys, in place
		if c.Previous != "" && strings.Join(c.Change.Actions, "") == "update" {
			plan.Changes[i].Change.Actions = []string{"no-op"}
		}
	}
	p.expect(plan,
		"move and delete "+vmAddress("protected", "old")+" -> "+vmAddress("this", "old"),
		"move "+vmAddress("this", "name")+" -> "+vmAddress("this", "renamed"),
		"move "+vmAddress("protected", "both")+" -> "+vmAddress("this", "moved-on"))
}

// TestRenameChangesNothing checks that a new key of a VM with an explicit name changes
// nothing, in any profile.
func TestRenameChangesNothing(t *testing.T) {
	t.Parallel()
	p := newStack(t, "vms: {a: {name: a}, p: {name: p, profile: protected}, b: {name: b}}\n").render()
	p.state(p.plan("live", "proxmox-vm"))
	p.respec("renamed: {a: a2, p: p2, b: b2}\nvms: {a2: {name: a}, p2: {name: p, profile: protected}, b2: {name: b, profile: adopted}}\n")
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"),
		"move "+vmAddress("this", "a")+" -> "+vmAddress("this", "a2"),
		"move "+vmAddress("protected", "p")+" -> "+vmAddress("protected", "p2"),
		"move "+vmAddress("this", "b")+" -> "+vmAddress("adopted", "b2"))
}

// TestUnknownProfile checks that a VM with a profile without a resource block fails the
// plan, which would otherwise destroy the VM.
func TestUnknownProfile(t *testing.T) {
	t.Parallel()
	p := newStack(t, "vms: {a: {}}\n").render()
	stack := p.read("stacks/live/terragrunt.stack.hcl")
	p.write("stacks/live/terragrunt.stack.hcl", regexp.MustCompile(`(profile +=) "default"`).ReplaceAllString(stack, `$1 "other"`))
	p.generate("live")
	p.fails(unitDir("live", "proxmox-vm"), []string{"run", "--", "plan"},
		"A VM has a profile this module has no resource block for. It knows: default.")
}

// TestRetiredStack checks that a retired stack is destroyed as a whole, also protected
// VMs and those of a profile that is no longer in a spec.
func TestRetiredStack(t *testing.T) {
	t.Parallel()
	p := newStack(t, ownProfiles+"vms: {a: {}, p: {profile: protected}, x: {profile: apart}}\n").render()
	p.state(p.plan("live", "proxmox-vm"))
	output := p.fails(unitDir("live", "proxmox-vm"), []string{"run", "--", "plan", "-destroy", "-refresh=false"}, "cannot be destroyed", vmAddress("protected", "p"))
	if strings.Contains(output, "connection refused") {
		t.Errorf("a server was contacted:\n%s", output)
	}
	p.remove("specs/live.yaml")
	if code, output := p.stackgen("render", p.dir); code != 3 {
		t.Errorf("a stack can be dropped: exit %d\n%s", code, output)
	}
	p.write("stackgen.yaml", noGuard+"retired: {stacks: [live]}\n")
	p.render()
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"),
		"delete "+vmAddress("this", "a"),
		"move and delete "+vmAddress("protected", "p")+" -> "+vmAddress("this", "p"),
		"move and delete "+vmAddress("apart", "x")+" -> "+vmAddress("this", "x"))
}
