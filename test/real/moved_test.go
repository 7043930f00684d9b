package real

import (
	"fmt"
	"strings"
	"testing"
)

// realVM is the address of a VM in the block of a label.
func realVM(label, key string) string {
	return fmt.Sprintf("proxmox_virtual_environment_vm.%s[%q]", label, key)
}

func realLabel(profile string) string {
	if profile == "default" {
		return "this"
	}
	return profile
}

const realOwn = "profiles: {own: {ignore_changes: [node_name]}, apart: {ignore_changes: [node_name, tags]}}\n"

// TestRealMoves: a VM goes from any profile to any other without anything
// happening to it, also from one that no spec has any more.
func TestRealMoves(t *testing.T) {
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
	// The first render knows the profile apart; the second one has lost it.
	p := realStack(t, realOwn+spec(func(from, _ string) string { return from })).render()
	p.state("live", p.plan("live", "proxmox-vm"), nil)
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"))

	var there, back []string
	places := map[string]realPlace{}
	for _, from := range append(profiles, "apart") {
		for _, to := range profiles {
			key := from + "-" + to
			places[key] = realPlace{realLabel(to), key}
			if from != to {
				there = append(there, fmt.Sprintf("move %s -> %s", realVM(realLabel(from), key), realVM(realLabel(to), key)))
				back = append(back, fmt.Sprintf("move %s -> %s", realVM(realLabel(to), key), realVM(realLabel(from), key)))
			}
		}
	}
	gone := "profiles: {own: {ignore_changes: [node_name]}}\n" + spec(func(_, to string) string { return to })
	p.respec(gone)
	moved := p.plan("live", "proxmox-vm", "-refresh=false")
	p.expect(moved, there...)

	// The blocks may stay when all is done, and do not stand in the way back.
	p.state("live", moved, nil)
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"))
	p.respec(realOwn + spec(func(from, _ string) string { return from }))
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"), back...)
}

// TestRealWaysOut: a VM leaves the spec only on somebody's word, and then
// exactly as that word says.
func TestRealWaysOut(t *testing.T) {
	t.Parallel()
	p := realStack(t, "vms: {keep: {}, old: {profile: protected}, name: {}, both: {profile: protected}, free: {}}\n").render()
	p.state("live", p.plan("live", "proxmox-vm"), nil)

	p.write("specs/live.yaml", realSpec("vms: {keep: {}, name: {}, both: {profile: protected}, free: {}}\n"))
	if code, said := p.stackgen("render", p.dir); code != 3 {
		t.Errorf("a protected VM may leave: exit %d\n%s", code, said)
	}
	p.respec("retired: [old]\nforgotten: [free]\nrenamed: {name: renamed, both: moved-on}\nvms: {keep: {}, renamed: {}, moved-on: {}}\n")
	if moved := p.read("stacks/live/moved/proxmox-vm.tf"); strings.Contains(moved, `"free"`) {
		t.Errorf("a forgotten VM has moved blocks:\n%s", moved)
	}
	p.generate("live")
	p.good(realUnit("live", "proxmox-vm"), "terragrunt", "run", "--", "state", "rm", realVM("this", "free"))
	plan := p.plan("live", "proxmox-vm", "-refresh=false")
	for i, c := range plan.Changes { // the names follow the keys, in place
		if c.Previous != "" && strings.Join(c.Change.Actions, "") == "update" {
			plan.Changes[i].Change.Actions = []string{"no-op"}
		}
	}
	p.expect(plan,
		"move and delete "+realVM("protected", "old")+" -> "+realVM("this", "old"),
		"move "+realVM("this", "name")+" -> "+realVM("this", "renamed"),
		"move "+realVM("protected", "both")+" -> "+realVM("this", "moved-on"))
}

// TestRealRenamePure: renaming a VM whose name does not follow its key changes
// nothing at all, in any profile.
func TestRealRenamePure(t *testing.T) {
	t.Parallel()
	p := realStack(t, "vms: {a: {name: a}, p: {name: p, profile: protected}, b: {name: b}}\n").render()
	p.state("live", p.plan("live", "proxmox-vm"), nil)
	p.respec("renamed: {a: a2, p: p2, b: b2}\nvms: {a2: {name: a}, p2: {name: p, profile: protected}, b2: {name: b, profile: adopted}}\n")
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"),
		"move "+realVM("this", "a")+" -> "+realVM("this", "a2"),
		"move "+realVM("protected", "p")+" -> "+realVM("protected", "p2"),
		"move "+realVM("this", "b")+" -> "+realVM("adopted", "b2"))
}

// TestRealUnknownProfile: a VM of a profile the module has no block for fails
// the plan; it would otherwise be in no block, and be destroyed.
func TestRealUnknownProfile(t *testing.T) {
	t.Parallel()
	p := realStack(t, "vms: {a: {}}\n").render()
	stack := p.read("stacks/live/terragrunt.stack.hcl")
	p.write("stacks/live/terragrunt.stack.hcl", strings.Replace(stack, `profile          = "default"`, `profile          = "other"`, 1))
	p.generate("live")
	p.bad(realUnit("live", "proxmox-vm"), "terragrunt", []string{"run", "--", "plan"},
		"A VM has a profile this module has no resource block for. It knows: default.")
}

// TestRealStackGone: a retired stack goes whole, protected VMs and those of a
// profile that no spec has any more included.
func TestRealStackGone(t *testing.T) {
	t.Parallel()
	p := realStack(t, realOwn+"vms: {a: {}, p: {profile: protected}, x: {profile: apart}}\n").render()
	p.state("live", p.plan("live", "proxmox-vm"), nil)
	said := p.bad(realUnit("live", "proxmox-vm"), "terragrunt", []string{"run", "--", "plan", "-destroy", "-refresh=false"}, "cannot be destroyed", realVM("protected", "p"))
	if strings.Contains(said, "connection refused") {
		t.Errorf("a server was asked:\n%s", said)
	}
	p.remove("specs/live.yaml")
	if code, said := p.stackgen("render", p.dir); code != 3 {
		t.Errorf("a stack may leave: exit %d\n%s", code, said)
	}
	p.write("stackgen.yaml", realSettings+"retired: {stacks: [live]}\n")
	p.render()
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"),
		"delete "+realVM("this", "a"),
		"move and delete "+realVM("protected", "p")+" -> "+realVM("this", "p"),
		"move and delete "+realVM("apart", "x")+" -> "+realVM("this", "x"))
}
