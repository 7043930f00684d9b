//go:build unix

package real

import (
	"regexp"
	"strings"
	"testing"
)

// TestApplyOtherProject checks that an apply puts the id of the project into the state, and that the
// lock of another project is refused beside it, also without a recorded lineage.
func TestApplyOtherProject(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "a: {}", "a: {started: false}", 1)})
	sim := p.simulate()
	p.render()
	decided := p.read("stackgen.lock.yaml")
	p.deployed(0, "apply --yes", "live is as its spec says")
	recorded := p.read("stackgen.lock.yaml")
	p.write("stackgen.lock.yaml", regexp.MustCompile(`(?m)^project: .*$`).ReplaceAllString(decided, `project: "ffeeddccbbaa9988"`))
	p.deployed(3, "render", "the lock is another project's than the files that were rendered here")
	p.remove("root.hcl")
	p.render()
	sim.ResetLog()
	p.deployed(3, "apply --yes", "the lock is not that of the project which applied this state", "restore the lock of this project")
	noWrites(t, sim)
	p.write("stackgen.lock.yaml", recorded)
	p.remove("root.hcl")
	p.render()
	p.deployed(0, "apply --yes", "nothing to do")
}
