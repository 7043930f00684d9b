package real

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestApplyWithoutReader closes the output of an apply, as head does, once it has said what it does: stackgen would be
// ended by that, and leave its tools running. It goes on to its end, and the next apply has nothing to do.
func TestApplyWithoutReader(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(killedSpec, "vms: {a: {}, b: {}, c: {}, ", "vms: {", 1)})
	p.simulate()
	p.render()
	read, write, err := os.Pipe()
	check(t, err)
	c := p.command("apply --yes")
	c.Stdout, c.Stderr = write, write
	check(t, c.Start())
	check(t, write.Close())
	lines := bufio.NewScanner(read)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "apply live: ") {
		t.Log(lines.Text())
	}
	check(t, read.Close())
	t.Log(c.Wait()) // its last message may end it
	p.deployed(0, "apply --yes", "nothing to do")
}

// TestApplyNotConfirmedAfterMove: a container that was moved is removed from its state before the question, since the plan
// depends on it. Without a yes, and where the plan is refused, that is said, and the next apply imports it without a write.
func TestApplyNotConfirmedAfterMove(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\n" +
		"defaults: {node: pve1, containers: {template: \"local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz\"}}\n" +
		"containers:\n  a: {rootfs: {datastore: shared, size: 2}}\n"})
	sim := p.simulate()
	sim.Change(func(s *pvesim.Seed) {
		for _, storage := range s.Storages {
			if storage.ID == "shared" {
				storage.Content = append(storage.Content, "rootdir")
			}
		}
	})
	p.render()
	p.deployed(0, "apply --yes")
	p.moves(sim, "pve2")
	sim.ResetLog()
	p.answered(1, "apply", "no\n", "not confirmed; nothing of the cluster was changed", "in no state until an apply imports it: live/a; to do that, once nothing blocks it: `stackgen apply`")
	p.deployed(0, "apply --yes", "live is as its spec says")

	// The plan of the import would restart it: it is refused after the container has left its state.
	p.moves(sim, "pve1")
	text := p.read("specs/live.yaml")
	p.write("specs/live.yaml", strings.Replace(text, "a: {", "a: {memory: 1024, ", 1))
	p.render()
	p.deployed(3, "apply --yes", "blocked would-harm live/a", "in no state until an apply imports it: live/a; to do that, once nothing blocks it: `stackgen apply --yes`")
	p.write("specs/live.yaml", text)
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(t, sim)
}

// moves moves guest 300 to another node, as somebody else does it.
func (p *project) moves(sim *pvesim.Server, node string) {
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 300 {
				g.Node = node
			}
		}
	})
}
