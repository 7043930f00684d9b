//go:build unix

package real

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

var offSpec = strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {}, b: {}}", 1)

// A rebuildEnds is a rebuild of VMs that ends after it has begun to shut them down.
type rebuildEnds struct {
	name  string
	spec  string
	fault *pvesim.Fault                          // from the beginning
	do    func(t *testing.T, sim *pvesim.Server) // while the shutdown of the VM is requested
	waves bool                                   // of one VM each: it ends in the second one
	sends syscall.Signal                         // that the command gets then
	exit  int
	says  []string
	start string // the command that is printed for VMs that are off; empty if nothing may start them
}

// TestRebuildLeavesOff: a rebuild that ends after it has shut VMs down, and before they are replaced, says which
// ones are off, and how they are started. That line starts them with the disks that they had. Also the line that goes on works.
func TestRebuildLeavesOff(t *testing.T) {
	t.Parallel()
	refuses := func(method, path string) *pvesim.Fault {
		return &pvesim.Fault{Method: method, Path: path, Do: pvesim.DoError, Status: 500}
	}
	const both, kept = "stackgen power start live/a live/b", "stackgen power start live/a"
	begun := map[string]start{offSpec: appliedSpec(t, offSpec), keepSpec: appliedSpec(t, keepSpec)}
	for _, c := range []rebuildEnds{
		{name: "template locked", spec: offSpec, do: lockTemplate, exit: 3, start: both},
		{name: "no answer for the second look", spec: offSpec, do: func(t *testing.T, sim *pvesim.Server) {
			check(t, sim.AddFault(refuses(http.MethodGet, "/cluster/resources")))
		}, exit: 1, says: []string{"whether they are off cannot be read"}, start: both},
		{name: "destroy fails", spec: offSpec, fault: refuses(http.MethodDelete, "/nodes/pve1/qemu/*"), exit: 1, start: both},
		{name: "one does not stop", spec: offSpec, fault: refuses(http.MethodPost, "/nodes/pve1/qemu/301/status/*"), exit: 1,
			says: []string{"live/b was not stopped, so nothing of live was rebuilt"}, start: kept},
		{name: "interrupted", spec: offSpec, sends: os.Interrupt.(syscall.Signal), exit: 1, start: both},
		{name: "second wave", spec: offSpec, waves: true, do: lockTemplate, exit: 3, start: "stackgen power start live/b"},
		{name: "no disk exchanged", spec: keepSpec, fault: refuses(http.MethodPost, "/nodes/pve1/qemu/399/move_disk"), exit: 1, start: kept},
		{name: "half exchanged", spec: keepSpec, fault: refuses(http.MethodPost, "/nodes/pve1/qemu/300/config"), exit: 1,
			says: []string{"live/a: off, with only some of the new disks"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(begun[c.spec].copy(t))
		})
	}
}

// lockTemplate locks the template: the guard refuses the plan that destroys the VMs.
func lockTemplate(_ *testing.T, sim *pvesim.Server) {
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 9002 {
				g.Config["lock"] = "backup"
			}
		}
	})
}

func (c *rebuildEnds) run(p *project, sim *pvesim.Server) {
	before := stateOf(sim).guests
	out := c.ends(p, sim)
	p.contains(out, c.says...)
	if strings.Contains(out, "created, but not completed") { // they are those of before
		p.Errorf("it says that VMs were created\n%s", out)
	}
	goesOn := regexp.MustCompile("to go on: `(stackgen [^`]*)`").FindStringSubmatch(out)
	if goesOn == nil {
		p.Fatalf("it does not say how to go on:\n%s", out)
	}
	sim.ClearFaults()
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 9002 {
				delete(g.Config, "lock")
			}
		}
	})
	if start := regexp.MustCompile(`(?m)^ +(stackgen power start .*)$`).FindStringSubmatch(out); (start != nil) != (c.start != "") {
		p.Errorf("it prints %q, want %q\n%s", start, c.start, out)
	} else if start != nil {
		if start[1] != c.start {
			p.Errorf("it prints %q, want %q", start[1], c.start)
		}
		p.Log(p.deployed(0, strings.TrimPrefix(start[1], "stackgen ")))
		now := stateOf(sim).guests
		for name, vmid := range map[string]int{"live/a": 300, "live/b": 301} {
			if !slices.Contains(strings.Fields(c.start), name) {
				continue
			}
			if is, was := now[vmid], before[vmid]; !is.running || is.identity() != was.identity() || is.config["scsi0"] != was.config["scsi0"] {
				p.Errorf("VM %d was %v, and is %v", vmid, was, is)
			}
		}
	}
	p.deployed(0, strings.TrimPrefix(goesOn[1], "stackgen ")+" --yes", "live is as its spec says")
	p.complete(sim, 300, 301)
	if now := stateOf(sim).guests; now[300].identity() == before[300].identity() {
		p.Error("live/a was not rebuilt")
	}
	p.deployed(0, "apply --yes", "nothing to do")
}

// ends runs the rebuild until it has ended, and returns what it printed.
func (c *rebuildEnds) ends(p *project, sim *pvesim.Server) string {
	line, vmid := "rebuild live --all --yes --progress plain", 300
	if c.waves {
		line, vmid = line+" --wave 1 --healthy none", 301
	}
	if c.spec == keepSpec {
		line = "rebuild live/a --yes"
	}
	if c.fault != nil {
		check(p.T, sim.AddFault(c.fault))
	}
	first := pvesim.Fault{Method: http.MethodPost, Path: fmt.Sprintf("/nodes/pve1/qemu/%d/status/shutdown", vmid), Do: pvesim.DoLatency, Delay: 2 * time.Second}
	check(p.T, sim.AddFault(&first))
	hit := func() bool {
		for _, f := range sim.Faults() {
			if f.Do == pvesim.DoLatency && f.Hits > 0 {
				return true
			}
		}
		return false
	}
	var b bytes.Buffer
	command := p.command(line)
	command.Stdout, command.Stderr = &b, &b
	check(p.T, command.Start())
	ended := make(chan bool, 1)
	go func() {
		_ = command.Wait() // its status says how it ended
		ended <- true
	}()
	for until := time.Now().Add(2 * time.Minute); !hit() && len(ended) == 0 && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	if c.do != nil {
		c.do(p.T, sim)
	}
	if c.sends != 0 {
		check(p.T, command.Process.Signal(c.sends))
	}
	<-ended
	if code := command.ProcessState.ExitCode(); code != c.exit {
		p.Errorf("exit %d, want %d", code, c.exit)
	}
	p.Log(b.String())
	return b.String()
}
