//go:build unix

package real

import (
	"bytes"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestApplyInterrupted interrupts the apply of a class at random moments, as Ctrl-C and as a
// service manager do. What has begun is completed, nothing more begins, the end says what
// was done, and the same command does the rest.
func TestApplyInterrupted(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	for round := range rounds(1) {
		w := newClassApply(t)
		after := time.Duration(500+random.IntN(12000)) * time.Millisecond
		signal := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[random.IntN(2)]
		t.Logf("round %d: %v after %v", round, signal, after)
		w.interrupted(signal, after)
		w.deployed(0, "apply --yes")
		w.complete()
	}
}

// TestApplyTwice: of two applies of a stack at the same time, the second one says who has
// it, and does not wait.
func TestApplyTwice(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": killedSpec})
	sim := p.simulate()
	p.render()
	first := p.command("apply --yes")
	var out bytes.Buffer
	first.Stdout, first.Stderr = &out, &out
	check(t, first.Start())
	waitUntil(t, "the first apply has the stack", func() bool { return p.exists(".state/.stackgen/live.apply.json") })
	for _, line := range []string{"apply --yes", "destroy --yes", "apply --dry-run"} {
		p.deployed(1, line, "another stackgen is busy with live: `stackgen apply --yes`, process", "since 2")
	}
	if err := first.Wait(); err != nil {
		t.Fatalf("the first apply: %v\n%s", err, out.String())
	}
	p.complete(sim, 300, 301, 302, 303, 304, 305)
}

// TestApplyImports loses the state, and adopts everything in one command: the import
// changes nothing, and what an import cannot read is set at once.
func TestApplyImports(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(killedSpec, "vms: {", "vms: {registry: {adopt: {vmid: 123}}, ", 1)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "import live: VM registry")
	p.remove(".state")
	sim.ResetLog()
	p.deployed(0, "apply --yes", "apply live: import 1 pool, 7 VMs", "setting what only the provider knows on 6 imported VMs of live", "live is as its spec says")
	for _, w := range writes(sim) {
		if !strings.HasSuffix(w, "/config name") {
			t.Errorf("the adoption writes %s", w)
		}
	}
	if p.exists("stacks/live/imports") {
		t.Error("import files are left")
	}
	p.complete(sim, 300, 301, 302, 303, 304, 305)
}

// TestApplyBlocked: what preflight blocks is not planned, and leaves no file.
func TestApplyBlocked(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": killedSpec})
	sim := p.simulate()
	p.render()
	check(t, sim.Add(guestByHand(301, "pve2", "stranger")))
	before := p.list()
	p.deployed(3, "apply --yes", "blocked conflict live/b")
	p.deployed(3, "apply --dry-run", "blocked conflict live/b")
	if after := p.list(); !slices.Equal(after, before) {
		t.Errorf("files before: %v, and after: %v", before, after)
	}
	noWrites(t, sim)
}
