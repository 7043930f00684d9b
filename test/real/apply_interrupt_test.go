//go:build unix

package real

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestApplyInterrupted interrupts applies at random moments, as Ctrl-C and as a service
// manager do. What has begun is completed, nothing more begins, and the same command does
// the rest.
func TestApplyInterrupted(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	for round := range rounds(1) {
		p := newProject(t, map[string]string{"specs/live.yaml": killedSpec})
		sim := p.simulateApart()
		p.render()
		after := time.Duration(500+random.IntN(10000)) * time.Millisecond
		signal := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[random.IntN(2)]
		t.Logf("round %d: %v after %v", round, signal, after)
		output := p.interruptedApply(signal, after)
		if tainted := strings.Count(p.stateText(), "tainted"); tainted > 0 {
			t.Errorf("%d VMs are tainted\n%s", tainted, output)
		}
		p.deployed(0, "apply --yes")
		p.complete(sim, 300, 301, 302, 303, 304, 305)
	}
}

func (p *project) stateText() string {
	if !p.exists(".state/live/proxmox-vm/tofu.tfstate") {
		return ""
	}
	return p.read(".state/live/proxmox-vm/tofu.tfstate")
}

// interruptedApply starts an apply and sends it a signal, after which it must end with
// exit code 1 and say what to do, unless it was done before.
func (p *project) interruptedApply(signal syscall.Signal, after time.Duration) string {
	p.Helper()
	c := p.command("apply --yes")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	check(p.T, c.Start())
	time.Sleep(after)
	_ = c.Process.Signal(signal) // it may have ended
	_ = c.Wait()
	output := out.String()
	if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(output, "interrupted") {
		p.Errorf("exit %d\n%s", code, output)
	}
	p.Log(output)
	return output
}

// TestApplyTwice: of two applies of a stack at the same time, the second one says who has
// it, and ends at once.
func TestApplyTwice(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": killedSpec})
	sim := p.simulateApart()
	p.render()
	first := p.command("apply --yes")
	var out bytes.Buffer
	first.Stdout, first.Stderr = &out, &out
	check(t, first.Start())
	time.Sleep(3 * time.Second)
	began := time.Now()
	for _, line := range []string{"apply --yes", "destroy --yes", "apply --dry-run"} {
		p.deployed(1, line, "another stackgen is busy with live: `stackgen apply --yes`, process", "since 2")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("three refusals took %v", took)
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
	sim := p.simulateApart()
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
	sim := p.simulateApart()
	p.render()
	check(t, sim.Add(guest(301, "pve2", "stranger")))
	before := p.list()
	p.deployed(3, "apply --yes", "blocked conflict live/b")
	p.deployed(3, "apply --dry-run", "blocked conflict live/b")
	if after := p.list(); !slices.Equal(after, before) {
		t.Errorf("files before: %v, and after: %v", before, after)
	}
	noWrites(t, sim)
}

// TestApplyClass takes specs/cs101.yaml from nothing to 21 VMs and its registration. A
// second apply sends no write.
func TestApplyClass(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(repository + "/specs/cs101.yaml")
	check(t, err)
	p := newProject(t, map[string]string{"specs/cs101.yaml": strings.Replace(string(body), "parallelism: 4", "parallelism: 21", 1)})
	sim := p.simulateApart()
	p.deployed(0, "resolve")
	p.deployed(0, "render")
	p.deployed(0, "apply --yes specs", "apply cs101: create 21 VMs", "21 of 21 VMs done", "created registration/cs101.json", "cs101 is as its spec says")
	for _, want := range []string{`"key": "student20"`, `"ipv4": "192.0.2.`} {
		if !strings.Contains(p.read("registration/cs101.json"), want) {
			t.Errorf("the registration lacks %s\n%s", want, p.read("registration/cs101.json"))
		}
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do: cs101 is as its spec says")
	noWrites(t, sim)
}
