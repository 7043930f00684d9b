//go:build unix

package real

import (
	"strings"
	"testing"
)

// TestApplyRerender checks that an apply after which the files change names render: the lock
// drops a former address that the state does not have any more.
func TestApplyRerender(t *testing.T) {
	t.Parallel()
	const next = "next:\n  stackgen render  # the lock records what was applied: 4 files would change\n"
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "a: {}", "a: {started: false}", 1)})
	p.simulate()
	p.render()
	if out := p.deployed(0, "apply --yes", "live is as its spec says"); strings.Contains(out, "next:") {
		t.Errorf("a first apply names a next command:\n%s", out)
	}
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "a: {started: false}", "a: {started: false, profile: protected}", 1))
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says", next)
	p.render()
	if out := p.deployed(0, "apply --yes", "nothing to do"); strings.Contains(out, "next:") {
		t.Errorf("the apply after it names a next command:\n%s", out)
	}
}
