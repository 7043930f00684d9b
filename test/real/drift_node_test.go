//go:build unix

package real

import (
	"net/url"
	"strings"
	"testing"
)

// TestDriftAcceptsNode accepts the node of VMs that were migrated by hand: of one with an entry
// of its own, of a group and of a class. Drift and the next apply agree with what it wrote.
func TestDriftAcceptsNode(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(authorsSpec, "vms:\n", "groups:\n  w: {count: 2}\nvms:\n", 1) + "  own: {node: pve1}\n"
	p := newProject(t, map[string]string{"specs/live.yaml": spec, "specs/class.yaml": acceptClass})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	for _, vmid := range []string{"300", "302", "304", "1000"} { // w1, a, own, student1
		callAPI(t, sim, "POST", "/nodes/pve1/qemu/"+vmid+"/migrate", url.Values{"target": {"pve2"}, "online": {"1"}, "with-local-disks": {"1"}})
	}
	p.deployed(2, "drift", "stackgen drift --accept class/student1", "stackgen drift --accept live/a live/own live/w1")
	p.deployed(0, "drift --accept class/student1 live/a live/own live/w1")
	for _, want := range []string{"w: {count: 2, overrides: {w1: {node: pve2}}}", "a: {node: pve2}", "own: {node: pve2}"} {
		if !strings.Contains(p.read("specs/live.yaml"), want) {
			t.Errorf("the spec lacks %s:\n%s", want, p.read("specs/live.yaml"))
		}
	}
	p.render()
	out := p.deployed(2, "drift --verbose", "it was migrated by hand or by HA to the node that the spec says: an apply leaves it there")
	if strings.Contains(out, "--accept") {
		t.Errorf("drift offers to write the node again:\n%s", out)
	}
	p.deployed(0, "drift --accept class/student1 live/a live/own live/w1")
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.deployed(0, "apply --yes", "nothing to do")
	p.deployed(0, "drift")
}
