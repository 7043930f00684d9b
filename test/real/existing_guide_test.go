//go:build unix

package real

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"stackgen/internal/pvesim"
	"stackgen/test/page"
)

// TestExistingCluster runs docs/guides/existing-cluster.md in an empty folder, in one shell,
// with the simulated cluster that the page starts. Only the VMs that the page changes have
// another configuration afterwards.
func TestExistingCluster(t *testing.T) {
	t.Parallel()
	blocks, err := page.Read(filepath.Join(repository, "docs", "guides", "existing-cluster.md"))
	check(t, err)
	seed, err := pvesim.HandmadeSeed()
	check(t, err)
	sim, err := pvesim.New(pvesim.Options{Seed: seed, NoAuthDelay: true})
	check(t, err)
	before := digests(t, sim)
	p := &project{T: t, dir: t.TempDir(), tools: findTools(t)}
	env := p.tools.With("PATH=" + filepath.Dir(stackgen) + string(filepath.ListSeparator) + p.pathOf()).Env
	wrong, err := page.Run(t.Context(), page.Shell{Dir: p.dir, Env: env}, append(blocks, readDigests(sim, p.dir)), "TestExistingCluster")
	check(t, err)
	for _, w := range wrong {
		t.Errorf("docs/guides/existing-cluster.md: %s", w)
	}
	for vmid, was := range before {
		var config struct{ Data struct{ Digest string } }
		body, err := os.ReadFile(filepath.Join(p.dir, fmt.Sprint(vmid)))
		check(t, err)
		check(t, json.Unmarshal(body, &config))
		// The page writes the defaults of all that a spec can say, and changes one.
		if changes := vmid >= 500 && vmid <= 505; config.Data.Digest == "" || changes == (config.Data.Digest == was) {
			t.Errorf("VM %d: its configuration must change: %t; before %s, after %s", vmid, changes, was, config.Data.Digest)
		}
	}
}

// readDigests is a block that saves the configurations of the page's cluster at its end:
// the cluster ends with the page.
func readDigests(sim *pvesim.Server, dir string) page.Block {
	body := ""
	for _, g := range guestsOf(sim) {
		body += fmt.Sprintf("$ curl -fsSk -o '%s/%d' -H \"Authorization: PVEAPIToken=$PROXMOX_VE_API_TOKEN\" \"${PROXMOX_VE_ENDPOINT}api2/json/nodes/%s/qemu/%[2]d/config\"\n", dir, g.VMID, g.Node)
	}
	return page.Block{Language: "console", Mark: "TestExistingCluster", Body: body}
}
