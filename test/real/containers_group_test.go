//go:build unix

package real

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// containersGroup is a group of containers, each on a node of its own.
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
    placement: {strategy: spread, nodes: [pve1, pve2, pve3]}
    networks: [{bridge: vmbr0, ipv4: "10.0.0.{10+n}/24", gateway: 10.0.0.1}]
`

// TestContainersGroup is the life of a group of two containers that resolve places on two nodes: on those that have
// the archive.
func TestContainersGroup(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": containersGroup})
	sim := p.simulate()
	archiveOn := func(nodes ...string) {
		sim.Change(func(seed *pvesim.Seed) {
			seed.Volumes = slices.DeleteFunc(seed.Volumes, func(v *pvesim.Volume) bool { return v.ID == containerArchive })
			for _, node := range nodes {
				seed.Volumes = append(seed.Volumes, &pvesim.Volume{ID: containerArchive, Node: node, Size: 3 << 20, Format: "txz", Content: "vztmpl"})
			}
		})
	}
	archiveOn()
	p.deployed(1, "render", "needs the cluster")
	p.deployed(1, "resolve", "does not have the archive")
	archiveOn("pve1", "pve2")
	p.deployed(0, "resolve", "web1: node pve", "web2: node pve")
	p.render()

	// An archive that goes away after that is refused before anything is written, and the node stays.
	archiveOn("pve3")
	sim.ResetLog()
	p.deployed(3, "apply --yes", "blocked cannot-create live/web1", "one of pve3")
	noWrites(t, sim)
	p.deployed(0, "resolve")
	archiveOn("pve1", "pve2")
	p.deployed(0, "apply --yes", "2 of 2 containers done")
	macs, nodes := map[string]bool{}, map[string]bool{}
	for i, id := range []int{300, 301} {
		g := stateOf(sim).guests[id]
		net0 := g.config["net0"]
		if want := fmt.Sprintf("ip=10.0.0.%d/24", 11+i); g.node == "pve3" || nodes[g.node] || !strings.Contains(net0, want) || macs[net0] {
			t.Errorf("container %d is on %s with %s", id, g.node, net0)
		}
		macs[net0], nodes[g.node] = true, true
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do")

	// One member more is created where another archive is now, and nothing happens to the others.
	archiveOn("pve3")
	p.write("specs/live.yaml", strings.Replace(containersGroup, "count: 2", "count: 3", 1))
	noWrites(t, sim)
	before := stateOf(sim)
	p.deployed(0, "resolve", "web3: node pve3")
	p.render()
	p.deployed(0, "apply --yes", "1 of 1 container done")
	if is := stateOf(sim); is.guests[302].node != "pve3" || !is.guests[300].started.Equal(before.guests[300].started) {
		t.Errorf("after one member more: %v", is.guests)
	}

	// A group of VMs of the same keys is none of them.
	p.write("specs/live.yaml", strings.Replace(containersGroup, "kind: container\n    count: 2\n    placement: {strategy: spread, nodes: [pve1, pve2, pve3]}\n    networks: [{bridge: vmbr0, ipv4: \"10.0.0.{10+n}/24\", gateway: 10.0.0.1}]",
		"count: 3\n    node: pve1\n    template: 9002", 1))
	p.deployed(3, "render", "its key is that of a guest of another kind in the lock")
	p.write("specs/live.yaml", strings.Replace(containersGroup, "count: 2", "count: 3", 1))
	p.deployed(0, "destroy --yes")
}
