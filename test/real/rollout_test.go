//go:build unix

package real

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stackgen/internal/dnstest"
	"stackgen/internal/pvesim"
)

const rolloutSpec = `apiVersion: stackgen/v1
kind: Class
name: live
vmids: 310-399
template: 9002
defaults: {node: pve1, agent: {timeout: 5s}, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
students: {count: 6}
rollout: {wave: 2, healthy: {timeout: 2s}}
`

// TestRebuildWaves rebuilds a class of 20 in waves of five. A VM of the second wave does not become healthy:
// the rollout stops, and says so; the same command again changes nothing; --continue rebuilds that VM
// once more, and goes on when it is repaired. No other VM is written to, every record is answered all
// the time, with the address of before and then with the new one, and the plan is empty.
func TestRebuildWaves(t *testing.T) {
	t.Parallel()
	p := &dnsProject{project: newProject(t, nil)}
	p.serve(dnstest.Any)
	p.write("specs/live.yaml", strings.NewReplacer("count: 6", "count: 20", "wave: 2", "wave: 5").Replace(rolloutSpec)+p.spec+", mode: per-stack}\n")
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	var names []string
	for n := range 20 {
		names = append(names, fmt.Sprintf("live-student%d", n+1))
	}
	answered := p.watchMoves(names...)
	p.deployed(0, "rebuild live --all --dry-run", "student1: wave 1 of 4: VM 310", "student6: wave 2 of 4: VM 315", "student20: wave 4 of 4: VM 329",
		"live: a VM is healthy if its agent answers, within 2s")
	p.deployed(1, "rebuild live --all --template 9000 --dry-run", "write `template: 9000` at specs/live.yaml:5:")
	p.deployed(1, "rebuild live --continue --yes", "no rebuild of live was begun that is not done")
	const all = "rebuild live --all --yes"
	sim.ResetLog()
	check(t, sim.AddFault(&pvesim.Fault{Method: "GET", Path: "/nodes/pve1/qemu/317/agent/network-get-interfaces",
		Do: pvesim.DoError, Status: 500, Message: "QEMU guest agent is not running"}))
	p.deployed(1, all, "not healthy: live/student8: its agent does not answer", "stopped in wave 2 of 4 of live; as they were: student11, ",
		"the rebuild of live is not done: 9 of 20; to go on: `stackgen rebuild live --continue`")
	first := vmids(310, 10)
	p.destroyedOnce(sim, first...)
	p.writtenOnly(sim, first...)
	p.deployed(0, "preflight", "note: rebuild of live: 9 of 20 on 9002; not healthy: student8; to go on: `stackgen rebuild live --continue`")

	sim.ResetLog()
	p.deployed(1, all, "not healthy: live/student8", "no other VM is rebuilt before live/student8 is healthy: repair it", "> stackgen rebuild live/student8 --continue\n", "> stackgen rebuild live --yes --all")
	p.writtenOnly(sim)
	p.deployed(1, "rebuild live --continue --yes", "stopped in wave 1 of 3 (again) of live; as they were: student11, ",
		"student8 is not healthy: find out why, and repair the cause. Then, to rebuild it once more and go on: `stackgen rebuild live --continue`")
	p.writtenOnly(sim, 317)
	p.destroyedOnce(sim, 317)

	sim.ClearFaults() // it is repaired by hand
	sim.ResetLog()
	was := p.uuids()
	out := p.deployed(0, "rebuild live --continue --yes", "wave 2 of 2 of live", "live is as its spec says")
	if n := strings.Count(out, "live is as its spec says"); n != 1 {
		t.Errorf("it says %d times that live is as its spec says", n)
	}
	rest := vmids(320, 10)
	p.writtenOnly(sim, rest...)
	p.destroyedOnce(sim, rest...)
	for key, id := range p.identities() {
		n, err := strconv.Atoi(strings.TrimPrefix(key, "student"))
		if rebuilt := err == nil && n > 10; rebuilt == (id.uuid == was[key]) {
			t.Errorf("%s was %s, and is %s", key, was[key], id.uuid)
		}
	}
	answered()
	p.complete(sim, append(first, rest...)...)
}

// vmids are n of them.
func vmids(first, n int) (out []int) {
	for i := range n {
		out = append(out, first+i)
	}
	return out
}

// watchMoves asks for names all the time. What it returns stops that, and fails unless each was answered
// with the address of before, and from some moment on with another one.
func (p *dnsProject) watchMoves(names ...string) func() {
	p.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	had := map[string][]string{}
	look := func() {
		for _, name := range names {
			got, err := p.server.Lookup(name)
			text := strings.Join(got, " ")
			if err != nil {
				text = err.Error()
			}
			if had[name] == nil || had[name][len(had[name])-1] != text {
				had[name] = append(had[name], text)
			}
		}
	}
	look()
	go func() {
		defer close(done)
		for {
			look()
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() {
		p.Helper()
		close(stop)
		<-done
		look()
		for _, name := range names {
			if h := had[name]; len(h) != 2 || !netip.MustParsePrefix("192.0.2.0/24").Contains(addressOf(h[0])) || !netip.MustParsePrefix("192.0.2.0/24").Contains(addressOf(h[1])) {
				p.Errorf("%s was answered with %q, want the address of before, then the new one", name, h)
			}
		}
	}
}

// addressOf is the address that a text is, or the zero one.
func addressOf(text string) netip.Addr {
	a, _ := netip.ParseAddr(text) // the zero address is in no network
	return a
}

// TestRebuildRecords: a rebuilt VM has another address, and its records get it, and no other record does. Without the key
// nothing is rebuilt; with a wrong one the run says which records are not right, and the same command
// corrects them and rebuilds nothing.
func TestRebuildRecords(t *testing.T) {
	t.Parallel()
	p := &dnsProject{project: newProject(t, nil)}
	p.serve(dnstest.Any)
	p.write("specs/live.yaml", strings.Replace(oneSpec, "vms: {a: {}}", p.spec+"}\nvms: {a: {dns: {records: [a, \"*.a\"]}}, b: {}}", 1))
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	right := p.tools
	p.tools = right.With("DNS_UPDATE_KEYSECRET=")
	sim.ResetLog()
	p.deployed(3, "rebuild live/a --yes", "DNS_UPDATE_KEYSECRET")
	noWrites(t, sim)

	gone := make(chan error, 1)
	go func() { // the server goes down while the VM is replaced
		for len(writes(sim)) == 0 {
			time.Sleep(time.Millisecond)
		}
		gone <- p.server.Close()
	}()
	p.tools = right
	p.deployed(3, "rebuild live/a --yes", "live/a rebuilt, but with the records of before", "a.lab.test.", "does not respond",
		"all VMs are replaced, and what follows is left to do: `stackgen rebuild live/a --continue`")
	check(t, <-gone)
	check(t, p.server.Restart(t.Context(), "a 300 A 192.0.2.52", "*.a 300 A 192.0.2.52", "live-b 300 A 192.0.2.53"))
	p.deployed(0, "rebuild live/a --continue --yes", "it is not rebuilt again", "live is as its spec says")
	p.destroyedOnce(sim, 300)
	b := p.watch("live-b", "192.0.2.53")
	moves := p.watchMoves("a", "x.a")
	p.deployed(0, "rebuild live/a --yes", "correcting the records of live", "live is as its spec says")
	moves()
	b()
	p.complete(sim, 300, 301)
}

// TestRolloutKilled kills a rollout at random moments: stackgen and all that it has started. The same
// command, or --continue, does the rest: each VM is destroyed once, and the plan is empty.
func TestRolloutKilled(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	for round := range rounds(1) {
		p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(rolloutSpec, "count: 6", "count: 4", 1)})
		sim := p.simulate()
		p.render()
		p.deployed(0, "apply --yes")
		sim.ResetLog()
		command := "rebuild live --all --yes"
		for kill, sent := range []int{1 + random.IntN(8), 9 + random.IntN(8)} {
			after := time.Duration(random.IntN(1500)) * time.Millisecond
			t.Logf("round %d, kill %d: %s, %v after %d writes", round, kill, command, after, sent)
			var reached time.Time
			p.killedIn(command, func() bool {
				if reached.IsZero() && len(writes(sim)) >= sent {
					reached = time.Now()
				}
				return !reached.IsZero() && time.Since(reached) >= after
			})
			command = []string{command, "rebuild live --continue --yes"}[random.IntN(2)]
		}
		if out := p.deployed(0, command, "live is as its spec says"); strings.Contains(out, "not done") {
			t.Errorf("%s has done all, and says:\n%s", command, out)
		}
		p.identities()
		p.destroyedOnce(sim, 310, 311, 312, 313)
		p.complete(sim, 310, 311, 312, 313)
	}
}

// TestRebuildStarts kills a rebuild while the VMs that it has made start. The same command waits until that
// has ended, and does the rest.
func TestRebuildStarts(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(rolloutSpec, "count: 6", "count: 2", 1)})
	var slow atomic.Bool
	sim := p.simulateWith(pvesim.Options{Durations: func(kind string, _ int) (time.Duration, bool) {
		return 20 * time.Second, kind == "qmstart" && slow.Load()
	}})
	p.render()
	p.deployed(0, "apply --yes")
	slow.Store(true)
	sim.ResetLog()
	p.killedIn("rebuild live --all --yes", func() bool {
		return slices.ContainsFunc(writes(sim), func(w string) bool { return strings.HasPrefix(w, "POST /nodes/pve1/qemu/311/status/start") })
	})
	slow.Store(false)
	p.deployed(0, "rebuild live --all --yes", "live/student1, live/student2; waiting until it has ended", "live is as its spec says")
	p.identities()
	p.destroyedOnce(sim, 310, 311)
	p.complete(sim, 310, 311)
}

// writtenOnly fails unless exactly these VMs got a write since the log was reset, and the template at
// most clones.
func (p *project) writtenOnly(sim *pvesim.Server, want ...int) {
	p.Helper()
	wanted := map[int]bool{}
	for _, vmid := range want {
		wanted[vmid] = true
	}
	for vmid := range stateOf(sim).guests {
		if n := sim.Writes(vmid); vmid != 9002 && (n > 0) != wanted[vmid] {
			p.Errorf("%d writes to VM %d", n, vmid)
		}
	}
	for _, r := range sim.Requests() {
		if r.Write && r.VMID == 9002 && !strings.HasSuffix(strings.TrimSuffix(r.Path, "/"), "/clone") {
			p.Errorf("a write to the template: %s %s", r.Method, r.Path)
		}
	}
}

// uuids are those of the VMs in the lock, by their keys.
func (p *project) uuids() map[string]string {
	p.Helper()
	out := map[string]string{}
	for key, id := range p.recorded() {
		out[key] = id.uuid
	}
	return out
}
