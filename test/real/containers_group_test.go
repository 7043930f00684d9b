//go:build unix

package real

import (
	"fmt"
	"strings"
	"testing"
)

// containersGroup is a group of containers on two nodes.
const containersGroup = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults:
  containers: {template: "` + containerArchive + `"}
groups:
  web:
    kind: container
    count: 2
    node: pve{n}
    networks: [{bridge: vmbr0, ipv4: "10.0.0.{10+n}/24", gateway: 10.0.0.1}]
`

// TestContainersGroup is the life of a group of two containers on two nodes.
func TestContainersGroup(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": containersGroup})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "2 of 2 containers done")
	macs := map[string]bool{}
	for i, id := range []int{300, 301} {
		g := stateOf(sim).guests[id]
		net0 := g.config["net0"]
		if want := fmt.Sprintf("ip=10.0.0.%d/24", 11+i); g.node != fmt.Sprintf("pve%d", 1+i) || !strings.Contains(net0, want) || macs[net0] {
			t.Errorf("container %d is on %s with %s", id, g.node, net0)
		}
		macs[net0] = true
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do")

	// One member more is created, and nothing happens to the others.
	p.write("specs/live.yaml", strings.Replace(containersGroup, "count: 2", "count: 3", 1))
	noWrites(t, sim)
	before := stateOf(sim)
	p.render()
	p.deployed(0, "apply --yes", "1 of 1 container done")
	if is := stateOf(sim); is.guests[302].node != "pve3" || !is.guests[300].started.Equal(before.guests[300].started) {
		t.Errorf("after one member more: %v", is.guests)
	}

	// A group of VMs of the same keys is none of them.
	p.write("specs/live.yaml", strings.Replace(containersGroup, "kind: container\n    count: 2\n    node: pve{n}\n    networks: [{bridge: vmbr0, ipv4: \"10.0.0.{10+n}/24\", gateway: 10.0.0.1}]",
		"count: 3\n    node: pve1\n    template: 9002", 1))
	p.deployed(3, "render", "its key is that of a guest of another kind in the lock")
	p.write("specs/live.yaml", strings.Replace(containersGroup, "count: 2", "count: 3", 1))
	p.deployed(0, "destroy --yes")
}
