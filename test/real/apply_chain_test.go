//go:build unix

package real

import (
	"strings"
	"testing"
)

// TestApplyRenameChain checks that a VM which was renamed twice, with the first rename rendered and not
// applied, moves to its last key, and that the lines may stay.
func TestApplyRenameChain(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{"both lines": "renamed: {w4: x1, x1: x2}\n", "the last line": "renamed: {x1: x2}\n"} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			spec := func(key, rest string) string {
				return strings.Replace(oneSpec, "a: {}", key+": {name: w4, started: false}", 1) + rest
			}
			p := newProject(t, map[string]string{"specs/live.yaml": spec("w4", "")})
			p.simulate()
			p.render()
			p.deployed(0, "apply --yes", "live is as its spec says")
			p.write("specs/live.yaml", spec("x1", "renamed: {w4: x1}\n"))
			p.render()
			p.write("specs/live.yaml", spec("x2", last))
			p.render()
			p.deployed(0, "apply --yes", "live is as its spec says")
			p.render()
			p.deployed(0, "apply --yes", "nothing to do")
			p.render()
		})
	}
}

// TestApplyNodeAndProfile checks that a new node migrates a VM with a profile that manages it, whether
// the profile comes with the node or after it.
func TestApplyNodeAndProfile(all *testing.T) {
	all.Parallel()
	world := &faultWorld{build: faultStack, tools: findFaultTools(all)}
	for name, edits := range map[string][][2]string{
		"one edit":  {{"a: {node: pve1", "a: {profile: placed, node: pve2"}},
		"two edits": {{"a: {node: pve1", "a: {node: pve2"}, {"a: {node: pve2", "a: {profile: placed, node: pve2"}},
	} {
		all.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			w := world.copy(all, t)
			w.before = stateOf(w.sim)
			w.settings("profiles: {placed: {ignore_changes: [started]}}\n")
			for _, edit := range edits {
				w.editSpec(edit[0], edit[1])
			}
			if r := w.stackgen("preflight"); r.code != 0 || !strings.Contains(r.output, "1 migrate") {
				t.Errorf("preflight: exit %d\n%s", r.code, r.output)
			}
			if r := w.apply(); r.code != 0 {
				t.Errorf("the apply: exit %d\n%s", r.code, r.output)
			}
			w.checkInvariants(&fault{moved: moves{300: "pve2"}}, nil)
			w.checkEmptyPlan()
		})
	}
}
