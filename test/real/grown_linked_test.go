//go:build unix

package real

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestGrownLinkedClone: somebody has grown the disk of a linked clone. No printed line
// shrinks it, and the printed size is the one that it has.
func TestGrownLinkedClone(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": diskSpec("template: 9000, clone: linked, " + disksOf(3))})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/300/resize", url.Values{"disk": {"scsi0"}, "size": {"5G"}})
	const harm, keep = "a disk is larger than the spec says, and cannot shrink", "disks: [{interface: scsi0, datastore: shared, size: 5"
	for _, command := range []string{"preflight --verbose", "drift", "apply --yes"} {
		if out := p.deployed(3, command, harm, keep); strings.Contains(out, "resize --disk") {
			t.Errorf("%s prints a line that resizes the disk\n%s", command, out)
		}
	}
	p.edit("template: 9000, clone: linked, " + disksOf(5))
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.edit("template: 9000, clone: linked, " + disksOf(6))
	out := p.deployed(3, "preflight --verbose", "the provider neither moves nor resizes the disk of a linked clone", "--disk scsi0 --size 6G")
	p.resizePrinted(sim, out)
	p.deployed(0, "apply --yes", "live is as its spec says")
}

var resizeLine = regexp.MustCompile(`(?m)^ *pvesh set (/nodes/\S+/resize) --disk (\S+) --size (\S+)$`)

// resizePrinted runs the printed commands that resize disks.
func (p *project) resizePrinted(sim *pvesim.Server, output string) {
	p.Helper()
	all := resizeLine.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		p.Fatalf("no line resizes a disk\n%s", output)
	}
	for _, m := range all {
		callAPI(p.T, sim, "PUT", m[1], url.Values{"disk": {m[2]}, "size": {m[3]}})
	}
}
