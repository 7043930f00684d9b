//go:build unix

package real

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
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

	// It is restored to another storage. Another datastore in the spec than it has would replace it: the printed line keeps it.
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 300 {
				g.Config["rootfs"] = "shared:300/vm-300-disk-0.raw,size=4G"
			}
		}
	})
	said = p.deployed(3, "preflight", "the plan replaces it", "to keep what the container has, write into specs/live.yaml")
	line := regexp.MustCompile(`\n +(rootfs: .*?)( +#.*)?\n`).FindStringSubmatch(said)
	if line == nil {
		t.Fatal(said)
	}
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "rootfs: {datastore: local-lvm, size: 4}", line[1], 1))
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
}
