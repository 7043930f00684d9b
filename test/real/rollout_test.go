//go:build unix

package real

import (
	"fmt"
	"strings"
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

// TestRebuildWaves rebuilds a class in waves of two. A VM of the second wave does not become healthy:
// the rollout stops, and says so; the same command again changes nothing; --continue rebuilds that VM
// once more, and goes on when it is repaired. No other VM is written to, every record is answered all
// the time, and the plan is empty.
func TestRebuildWaves(t *testing.T) {
	t.Parallel()
	p := &dnsProject{project: newProject(t, nil)}
	p.serve(dnstest.Any)
	p.write("specs/live.yaml", rolloutSpec+p.spec+", mode: per-stack}\n")
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	answered := p.watch(p.addresses(6)...)
	p.deployed(0, "rebuild live --all --dry-run", "student1: wave 1 of 3: VM 310", "student4: wave 2 of 3: VM 313", "student6: wave 3 of 3: VM 315",
		"live: a VM is healthy if its agent answers, within 2s")
	p.deployed(1, "rebuild live --all --template 9000 --dry-run", "write `template: 9000` at specs/live.yaml:5:")
	p.deployed(1, "rebuild live --continue --yes", "no rebuild of live was begun that is not done")
	const all = "rebuild live --all --yes"
	sim.ResetLog()
	check(t, sim.AddFault(&pvesim.Fault{Method: "GET", Path: "/nodes/pve1/qemu/312/agent/network-get-interfaces",
		Do: pvesim.DoError, Status: 500, Message: "QEMU guest agent is not running"}))
	p.deployed(1, all, "not healthy: live/student3: its agent does not answer", "stopped in wave 2 of 3 of live; as they were: student5, student6",
		"the rebuild of live is not done: 3 of 6; to go on: `stackgen rebuild live --continue`")
	p.destroyedOnce(sim, 310, 311, 312, 313)
	p.writtenOnly(sim, 310, 311, 312, 313)
	p.deployed(0, "preflight", "note: rebuild of live: 3 of 6 on 9002; not healthy: student3; to go on: `stackgen rebuild live --continue`")

	sim.ResetLog()
	p.deployed(1, all, "not healthy: live/student3", "no other VM is rebuilt before live/student3 is healthy: repair it", "> stackgen rebuild live/student3 --continue\n", "> stackgen rebuild live --yes --all")
	p.writtenOnly(sim)
	p.deployed(1, "rebuild live --continue --yes", "stopped in wave 1 of 2 (again) of live; as they were: student5, student6")
	p.writtenOnly(sim, 312)
	p.destroyedOnce(sim, 312)

	sim.ClearFaults() // it is repaired by hand
	sim.ResetLog()
	was := p.uuids()
	p.deployed(0, "rebuild live --continue --yes", "rebuilding 2 VMs of live", "live is as its spec says")
	p.writtenOnly(sim, 314, 315)
	p.destroyedOnce(sim, 314, 315)
	for key, id := range p.identities() {
		if rebuilt := key == "student5" || key == "student6"; rebuilt == (id.uuid == was[key]) {
			t.Errorf("%s was %s, and is %s", key, was[key], id.uuid)
		}
	}
	answered()
	p.complete(sim, 310, 311, 312, 313, 314, 315)
}

// addresses are the names of the records of the students, each with the address that is answered now.
func (p *dnsProject) addresses(students int) (pairs []string) {
	p.Helper()
	for n := range students {
		name := fmt.Sprintf("live-student%d", n+1)
		found, err := p.server.Lookup(name)
		if err != nil || len(found) != 1 {
			p.Fatalf("%s is %v, %v", name, found, err)
		}
		pairs = append(pairs, name, found[0])
	}
	return pairs
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
