package real

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
	"stackgen/internal/shell"
)

// pairSpec has two VMs, which are created one after the other.
const pairSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms: {a: {started: false}, b: {started: false}}
apply: {parallelism: 1}
`

// TestInterruptReachesOpenTofu ends two applies and a destroy from their terminal, each while
// it works on one of two VMs. OpenTofu ends that VM, writes it to the state and begins no
// other one. Terragrunt gets no signal: it would kill OpenTofu 30 seconds later.
func TestInterruptReachesOpenTofu(t *testing.T) {
	t.Parallel()
	p, sim := newInterrupted(t, 5*time.Second) // on a busy machine, the interrupt itself takes seconds
	p.recordSignals()
	p.interruptedDuring("apply --yes", hangUp, func() bool { return len(p.made(sim)) == 1 })
	p.interruptedVMs(sim, 1)
	p.interruptedDuring("apply --yes", "\x03", func() bool { return len(p.made(sim)) == 2 })
	p.interruptedVMs(sim, 2)
	p.interruptedDuring("destroy --yes", "\x03", func() bool {
		return slices.ContainsFunc(writes(sim), func(w string) bool { return strings.HasPrefix(w, "DELETE") })
	})
	p.interruptedVMs(sim, 1)
	if p.exists("signals") {
		t.Errorf("Terragrunt got the signals %q", p.read("signals"))
	}
	p.write("interrupted", "") // the hook of a unit that has not begun then
	p.tools = p.tools.With("STACKGEN_INTERRUPTED=" + filepath.Join(p.dir, "interrupted"))
	p.deployed(1, "guard live/proxmox-vm -- apply", "the run was interrupted before this unit began")
}

// TestInterruptLongClone interrupts an apply during a clone that takes longer than the 30
// seconds after which Terragrunt kills what it has interrupted. It takes a minute: make
// faults runs it.
func TestInterruptLongClone(t *testing.T) {
	if !strings.Contains(testFilter(), "TestInterruptLongClone") {
		t.Skip("it waits for clones of 35 seconds; make faults runs it")
	}
	t.Parallel()
	p, sim := newInterrupted(t, 35*time.Second)
	p.interruptedDuring("apply --yes", "\x03", func() bool { return len(p.made(sim)) == 1 })
	p.interruptedVMs(sim, 1)
	p.deployed(0, "apply --yes", "create live: VM ", "live is as its spec says")
}

// newInterrupted is a project of pairSpec on a cluster whose clones and removals take a
// time.
func newInterrupted(t *testing.T, took time.Duration) (*project, *pvesim.Server) {
	t.Helper()
	p := newProject(t, map[string]string{"specs/live.yaml": pairSpec})
	sim := p.simulateWith(pvesim.Options{Durations: func(kind string, _ int) (time.Duration, bool) {
		return took, kind == "qmclone" || kind == "qmdestroy"
	}})
	return p.render(), sim
}

// recordSignals writes the signals that Terragrunt gets into the file signals.
func (p *project) recordSignals() {
	p.Helper()
	path, err := p.tools.Path("terragrunt")
	check(p.T, err)
	log := shell.Word(filepath.Join(p.dir, "signals"))
	p.write("bin/terragrunt", "#!/bin/sh\nfor s in HUP INT TERM; do trap \"echo $s >> "+log+"\" $s; done\n"+shell.Word(path)+" \"$@\"\n")
	check(p.T, os.Chmod(filepath.Join(p.dir, "bin", "terragrunt"), 0o755))
	p.tools = p.tools.With("PATH=" + filepath.Join(p.dir, "bin") + string(filepath.ListSeparator) + p.pathOf())
}

// hangUp closes the terminal instead of typing something.
const hangUp = ""

// interruptedDuring runs a command on a terminal, and types something there, or closes it,
// as soon as something is true.
func (p *project) interruptedDuring(line, typed string, is func() bool) {
	p.Helper()
	c := p.onTerminal(line)
	for until := time.Now().Add(time.Minute); !is() && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	if typed == hangUp {
		check(p.T, c.master.Close())
	} else {
		c.types(typed)
	}
	code, text := c.ends()
	p.Log(text)
	if code != 1 {
		p.Errorf("stackgen %s, %q typed: exit %d, want 1", line, typed, code)
	}
	if typed != hangUp {
		p.contains(text, "interrupted: OpenTofu starts nothing more", "interrupted after")
	}
}

// made are the VMs of the spec that exist.
func (p *project) made(sim *pvesim.Server) []int {
	out := slices.Collect(maps.Keys(stateOf(sim).guests))
	return slices.Sorted(slices.Values(slices.DeleteFunc(out, func(vmid int) bool { return vmid < 300 || vmid > 399 })))
}

// interruptedVMs fails unless the cluster has a number of VMs, and the state the same ones.
func (p *project) interruptedVMs(sim *pvesim.Server, want int) {
	p.Helper()
	made := p.made(sim)
	state := p.read(".state/live/proxmox-vm/tofu.tfstate")
	var known []int
	for _, vmid := range []int{300, 301} {
		if strings.Contains(state, fmt.Sprintf(`"vm_id": %d`, vmid)) {
			known = append(known, vmid)
		}
	}
	if len(made) != want || !slices.Equal(known, made) || strings.Contains(state, "tainted") {
		p.Errorf("the cluster has %v, the state %v, tainted %v; want %d VMs", made, known, strings.Contains(state, "tainted"), want)
	}
}
