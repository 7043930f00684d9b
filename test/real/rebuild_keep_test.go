//go:build unix

package real

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

const keepSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002}
vms:
  a: {disks: [{interface: scsi0, size: 8, datastore: local-lvm}, {interface: scsi1, size: 20, datastore: local-lvm, keep: true, discard: true}]}
  b: {disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
`

// TestRebuildKeeps rebuilds a VM that keeps a disk: it has a new system disk of the size of its spec, and the
// same volume as scsi1, which no request has named. Its plan is empty, and nothing of the VM is left that was made
// for this. The other VM is replaced in a wave of its own.
func TestRebuildKeeps(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": keepSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	before, disks := p.identities(), drivesOf(sim)
	p.deployed(0, "rebuild live/a --dry-run", "scsi0 8G on local-lvm, scsi1 20G on local-lvm", "it keeps scsi1, and loses scsi0")
	sim.ResetLog()
	t.Log(p.deployed(0, "rebuild live/a --yes", "cloning new disks for 1 VM of live", "exchanging the disks of a", "live is as its spec says"))
	after, now := p.identities(), drivesOf(sim)
	if after["a"].uuid == before["a"].uuid || after["a"].macs != before["a"].macs || after["b"] != before["b"] {
		t.Errorf("before %v\nafter %v", before, after)
	}
	if now["scsi1"] != disks["scsi1"] || now["scsi0"] == disks["scsi0"] || !strings.Contains(now["scsi0"], "size=8G") || len(now) != len(disks) {
		t.Errorf("before %v\nafter %v", disks, now)
	}
	for _, r := range sim.Requests() {
		if r.Write && (strings.HasSuffix(r.Path, "/qemu/300") || r.VMID == 301) {
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
	p.complete(sim, 300, 301)
	p.deployed(0, "apply --yes", "nothing to do")

	// Another template: its state still says what the disk of before was made from.
	p.write("specs/live.yaml", strings.Replace(keepSpec, "template: 9002", "template: 9000", 1))
	p.render()
	p.deployed(0, "preflight", "2 outdated-template")
	check(t, sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/pve1/qemu/9000/clone", Do: pvesim.DoError, Status: 500}))
	p.deployed(1, "rebuild live --all --yes", "wave 1 of 2 of live: b", "as they were: a", "0 of 2; to go on: `stackgen rebuild live --continue`")
	sim.ClearFaults()
	p.deployed(0, "rebuild live --continue --yes", "exchanging the disks of a", "live is as its spec says")
	if last := drivesOf(sim); last["scsi1"] != disks["scsi1"] || last["scsi0"] == now["scsi0"] || len(last) != len(disks) {
		t.Errorf("before %v\nafter %v", now, last)
	}
	p.identities()
	p.deployed(0, "preflight", "2 managed")
	p.deployed(0, "render")
	p.deployed(0, "apply --yes", "nothing to do")
	p.complete(sim, 300, 301)

	// The cluster cannot be read after the exchange: the line that is printed goes on, and starts the VM.
	before = p.identities()
	c, out := p.command("rebuild live/a --yes"), &strings.Builder{}
	c.Stdout, c.Stderr = out, out
	sim.ResetLog()
	check(t, c.Start())
	given := func(e pvesim.Entry) bool { return strings.HasSuffix(e.Path, "/move_disk") } // who has its volumes was asked before
	for until := time.Now().Add(2 * time.Minute); !slices.ContainsFunc(sim.Requests(), given) && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	check(t, sim.AddFault(&pvesim.Fault{Method: "GET", Path: "/cluster/resources", Do: pvesim.DoError, Status: 500}))
	const line = "rebuild live/a --continue"
	if err := c.Wait(); err == nil || !strings.Contains(out.String(), "to go on: `stackgen "+line+"`") {
		t.Errorf("%v\n%s", err, out)
	}
	sim.ClearFaults()
	p.deployed(0, line+" --yes", "live/a was rebuilt by a run that did not end", "live is as its spec says")
	if last := p.identities(); last["a"].uuid == before["a"].uuid || last["b"] != before["b"] {
		t.Errorf("before %v\nafter %v", before, last)
	}
	p.complete(sim, 300, 301)
	p.deployed(0, "destroy --dry-run", "note: live/a: scsi1 is destroyed, too: `keep` is for `stackgen rebuild` only")
}

// TestRebuildOfRunningNotStarted rebuilds VMs that run although their spec does not start them when it creates them: the one that keeps
// a disk is the same guest, and runs again. The other one is created, and the command says that it is off.
func TestRebuildOfRunningNotStarted(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(keepSpec, "template: 9002", "template: 9002, started: false", 1)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.deployed(0, "power start live --yes", "2 started")
	const off = "live/b ran before the rebuild, and is created off, because of `started: false`; to start it: `stackgen power start live/b`"
	p.deployed(0, "rebuild live --all --yes", "exchanging the disks of a", off)
	if a, b := stateOf(sim).guests[300].running, stateOf(sim).guests[301].running; !a || b {
		t.Errorf("a runs: %t, b runs: %t", a, b)
	}
	p.deployed(0, "apply --yes", "nothing to do")
	if a, b := stateOf(sim).guests[300].running, stateOf(sim).guests[301].running; !a || b {
		t.Errorf("after an apply, a runs: %t, b runs: %t", a, b)
	}
}

// drivesOf are the entries of the disks of VM 300.
func drivesOf(sim *pvesim.Server) map[string]string {
	out := map[string]string{}
	for key, value := range stateOf(sim).guests[300].config {
		if regexp.MustCompile(`^(scsi|unused|virtio|efidisk)\d+$`).MatchString(key) {
			out[key] = value
		}
	}
	return out
}

// removeUnused removes the unused volumes of VM 300.
func removeUnused(sim *pvesim.Server) {
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 300 {
				maps.DeleteFunc(g.Config, func(key, _ string) bool { return strings.HasPrefix(key, "unused") })
			}
		}
	})
}

// TestRebuildKeepsKilled kills such a rebuild before each request that changes the cluster. Until it has ended, an
// apply is blocked if disks were exchanged; the same command ends it, and the kept disk is the same volume.
func TestRebuildKeepsKilled(t *testing.T) {
	t.Parallel()
	only := strings.Replace(keepSpec, "  b: {disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\n", "", 1)
	begun := appliedSpec(t, only)
	p, sim := begun.copy(t)
	p.deployed(0, "rebuild live/a --yes")
	var requests []string
	for _, r := range sim.Requests() {
		if r.Write {
			requests = append(requests, r.Method+" "+strings.TrimPrefix(r.Path, "/api2/json"))
		}
	}
	if len(requests) < 8 {
		t.Fatalf("%q", requests)
	}
	earlier := map[string]int{}
	for i, request := range requests {
		after := earlier[request]
		earlier[request]++
		t.Run(fmt.Sprintf("%d %s", i+1, strings.ReplaceAll(request, "/", ".")), func(t *testing.T) {
			t.Parallel()
			p, sim := begun.copy(t)
			was := drivesOf(sim)
			method, path, _ := strings.Cut(request, " ")
			check(t, sim.AddFault(&pvesim.Fault{Method: method, Path: path, After: after, Do: pvesim.DoError, Delay: time.Hour}))
			p.killedIn("rebuild live/a --yes", func() bool { return sim.Faults()[0].Hits > 0 })
			sim.ClearFaults()
			if half := strings.Contains(p.read("stackgen.lock.yaml"), "holder:"); half {
				out, err := p.command("apply --yes").CombinedOutput()
				open, as := strings.Contains(p.read("stackgen.lock.yaml"), "holder:"), drivesOf(sim)
				asBefore := as["scsi0"] == was["scsi0"] && len(as) == len(was)
				if (err == nil) != (asBefore || !open) || open && !strings.Contains(string(out), "stackgen rebuild live/a") {
					t.Errorf("%v; it had %v, and has %v\n%s", err, was, as, out)
				}
				if removeUnused(sim); err != nil && stateOf(sim).guests[399].config != nil { // by hand, for space
					p.deployed(3, "apply --yes", "stackgen rebuild live/a")
				}
			}
			t.Log(p.deployed(0, "rebuild live/a --yes", "live is as its spec says"))
			now := drivesOf(sim)
			if now["scsi1"] != was["scsi1"] || !strings.Contains(now["scsi0"], "size=8G") || len(now) != 2 {
				t.Errorf("it had %v, and has %v", was, now)
			}
			p.complete(sim, 300)
			p.identities()
			p.deployed(0, "apply --yes", "nothing to do")
		})
	}
}

// TestRebuildLooksFirst refuses a rebuild whose creation would fail after the destroy: a clone of a protected template
// is protected, too, and the provider replaces its cloud-init drive. It refuses one of which that is not known: the token
// does not see the template, or has no access to it. Nothing is written before.
func TestRebuildLooksFirst(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(keepSpec, "template: 9002", "template: 9002, cloud_init: {datastore: local-lvm}", 1)})
	seed, err := pvesim.DefaultSeed()
	check(t, err)
	roleWithoutAudit(seed)
	sim := p.simulateSeed(seed)
	p.render()
	p.deployed(0, "apply --yes")
	protect := func(value string) {
		sim.Change(func(s *pvesim.Seed) {
			for _, g := range s.Guests {
				if g.VMID == 9002 {
					g.Config["protection"] = value
				}
			}
		})
	}
	refuses := func(texts ...string) {
		before := p.identities()
		sim.ResetLog()
		p.deployed(3, "rebuild live/b --yes", texts...)
		for _, r := range sim.Requests() {
			if r.Write {
				t.Errorf("%s %s", r.Method, r.Path)
			}
		}
		if !maps.Equal(p.identities(), before) {
			t.Errorf("%v, before %v", p.identities(), before)
		}
	}
	protect("1")
	refuses("its template 9002 is protected", "pvesh set /nodes/pve1/qemu/9002/config --protection 0")
	protect("0")

	administrator := p.tools
	w := &faultCase{T: t, sim: sim, tools: p.tools}
	hideGuests("/vms/9002")(w)
	p.tools = w.tools
	refuses("whether it can be created again is not known", "the token lacks VM.Audit on /vms/9002", "pveum acl modify /vms/9002")
	sim.Change(func(s *pvesim.Seed) { s.ACL[len(s.ACL)-1].Role = "NoAccess" })
	refuses("VM.Clone on /vms/9002: to clone the template", "the token lacks VM.Audit on /vms/9002",
		"pveum acl delete /vms/9002 --tokens 'root@pam!narrow' --roles NoAccess")
	p.tools = administrator
	p.deployed(0, "rebuild live/b --yes", "live is as its spec says")
}
