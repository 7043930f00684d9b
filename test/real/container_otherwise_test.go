//go:build unix

package real

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestContainerOtherwise: somebody takes a container out of its pool, and its spec gets nesting after it was made. No plan shows
// either. Each command names them, and the printed lines set them.
func TestContainerOtherwise(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": updatedContainer})
	sim := p.simulate()
	p.write("specs/live.yaml", strings.Replace(updatedContainer, "containers:", "pool: {id: live, create: true}\ncontainers:", 1))
	p.render()
	p.deployed(0, "apply --yes")
	callAPI(t, sim, "PUT", "/pools/live", url.Values{"vms": {"300"}, "delete": {"1"}})
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "    restart: true", "    restart: true\n    features: {nesting: true}", 1))
	p.render()
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says, except that live/a has pool: none, live/a has features: none")
	p.deployed(2, "drift", "live/a pool: container 300 on pve1      it has another value than the spec", "it has features: none, and the spec says nesting")
	said := p.deployed(0, "preflight", "it has pool: none, and the spec says live")
	for _, m := range regexp.MustCompile(`pvesh set (\S+) --(\S+) '?([^'\n]+?)'?\n`).FindAllStringSubmatch(said, -1) {
		callAPI(t, sim, "PUT", m[1], url.Values{m[2]: {m[3]}})
	}
	if said := p.deployed(0, "apply --yes", "nothing to do: live is as its spec says"); strings.Contains(said, "except") {
		t.Error(said)
	}
}
