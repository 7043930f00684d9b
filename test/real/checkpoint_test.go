//go:build unix

package real

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestCheckpoint applies two VMs and takes a checkpoint of those whose plan is empty. After a
// reset, the plan has what the reset announced: nothing, or what the spec changed since.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {}, b: {}}", 1)})
	sim := p.simulate()
	p.render()
	p.deployed(3, "checkpoint", "refused", "it does not exist")
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.deployed(0, "power shutdown b --yes", "1 VM: 1 shut down")

	// A change by hand keeps a VM from having a checkpoint, and a change that waits does too.
	vms := map[string]*pvesim.Guest{}
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			vms[g.Config["name"]] = g
		}
	})
	a, b := vms["live-a"].VMID, vms["live-b"].VMID
	memory := func(vmid int, value string) {
		sim.Change(func(s *pvesim.Seed) {
			for _, g := range s.Guests {
				if g.VMID == vmid {
					g.Config["memory"] = value
				}
			}
		})
	}
	memory(b, "4096")
	p.deployed(3, "checkpoint", "1 given a checkpoint, 1 refused", "refused  live/b  its plan is not empty", "stackgen drift")
	memory(b, "2048")
	p.deployed(0, "checkpoint --dry-run", "1 would be given a checkpoint, 1 already so")
	p.deployed(0, "checkpoint", "1 given a checkpoint, 1 already so")
	p.deployed(0, "checkpoint", "2 VMs: 2 already so")
	p.deployed(0, "status", "CHECKPOINT", "  baseline 20")

	p.deployed(3, "reset live/a --to week1 --yes", "refused  live/a  it has no checkpoint week1; its snapshots are baseline", "stackgen reset --to baseline live/a")
	p.deployed(0, "checkpoint week1 live/a", "1 given a checkpoint")
	p.deployed(1, "checkpoint live", "live is a name of the stack live")

	// What was done by hand since is gone, and both VMs do what they did.
	memory(a, "3072")
	p.deployed(1, "reset live", "rollback of 2 VMs was not confirmed, and nothing was sent")
	p.deployed(1, "reset", "reset needs guests")
	p.deployed(0, "reset live --dry-run", "2 would be reset", "what it has written since then is lost")
	p.deployed(0, "reset live --dry-run --format json", `"action": "rollback"`, `"checkpoint": {`, `"name": "baseline"`, `"result": "planned"`)
	p.deployed(0, "reset live --yes", "2 VMs: 2 reset", "and running", "and stopped")
	waitUntil(t, "the agents answer", func() bool { code, _ := p.stackgen("preflight", p.dir); return code == 0 })
	p.deployed(0, "apply --yes", "live is as its spec says")

	// The spec was changed since: the reset names what the next apply changes again, and it does.
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "{a: {}, b: {}}", "{a: {}, b: {memory: 3072, tags: [late]}}", 1))
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.deployed(0, "reset live/b --yes", "1 VM: 1 reset", "the next apply changes memory, tags")
	p.deployed(2, "drift", "live/b", "memory", "tags", "task log: a reset to a snapshot (qmrollback) by ")
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.deployed(0, "drift", "no drift: 2 VMs are as their specs say")
}

// TestCheckpointWanted: an apply takes the checkpoint of the VMs whose specs want one, once, and
// the next one that of a VM that has none. preflight says which VMs cannot have one.
func TestCheckpointWanted(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "vms: {a: {}}",
		"checkpoint: true\nvms: {a: {}, b: {checkpoint: false}, c: {disks: [{interface: scsi0, size: 8, datastore: local, format: raw}]}}", 1)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "preflight", "note: live/c: the spec wants a checkpoint, and an apply cannot take it: scsi0 on local (dir) is raw")
	p.deployed(0, "apply --dry-run", "note: afterwards, 2 VMs without a snapshot: the checkpoint baseline is taken, as the specs say")
	p.deployed(0, "apply --yes", "live is as its spec says", "taking the checkpoint baseline of 1 VM", "no checkpoint of live/c: scsi0 on local (dir) is raw")
	points := func() (out string) {
		sim.Change(func(s *pvesim.Seed) {
			for _, g := range s.Guests {
				for _, point := range g.Snapshots {
					out += g.Config["name"] + " " + point.Name + "\n"
				}
			}
		})
		return out
	}
	if got := points(); got != "live-a baseline\n" {
		t.Errorf("checkpoints: %s", got)
	}
	p.deployed(0, "apply --yes", "nothing to do")
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.Config["name"] == "live-a" {
				g.Snapshots = nil
				delete(g.Config, "parent")
			}
		}
	})
	p.deployed(0, "apply --yes", "taking the checkpoint baseline of 1 VM")
	if got := points(); got != "live-a baseline\n" {
		t.Errorf("checkpoints: %s", got)
	}
}

// TestResetDetaches: a reset detaches the disks that were added since its checkpoint, and keeps their volumes. It says so, and the
// lines that preflight prints then attach them again. It says, too, what no apply gives back.
func TestResetDetaches(t *testing.T) {
	t.Parallel()
	const last = ", datastore: local-lvm}]"
	p := newProject(t, map[string]string{"specs/live.yaml": strings.NewReplacer("shared", "local-lvm", "restart: true", "agent: false\n    restart: true").Replace(updatedSpec)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.deployed(0, "checkpoint", "1 given a checkpoint")
	p.write("specs/live.yaml", strings.NewReplacer(last, ", datastore: local-lvm}, {interface: scsi2, size: 3, datastore: local-lvm}]",
		"memory: 2048", "memory: 3072\n    hotplug: disk\n    efi: {datastore: local-lvm}\n    bios: ovmf").Replace(p.read("specs/live.yaml")))
	p.render()
	p.deployed(0, "apply --yes")
	had := volumesOf(sim)["scsi2"]
	p.deployed(0, "reset live/a --yes", "it detaches scsi2, which `stackgen preflight` says how to attach again; the next apply changes bios, disks, memory; no apply changes back efi, hotplug")
	said := p.deployed(3, "preflight", "an apply would attach an empty disk where one was detached by hand or by a reset, or never added")
	line := regexp.MustCompile(`pvesh set (/nodes/pve1/qemu/300/config) --(scsi2) '?([^'\n]+?)'?\n`).FindStringSubmatch(said)
	if line == nil {
		t.Fatal(said)
	}
	callAPI(t, sim, "PUT", line[1], url.Values{line[2]: {line[3]}})
	p.deployed(0, "apply --yes", "live is as its spec says, except that live/a has no efi, live/a has no hotplug")
	if is := volumesOf(sim)["scsi2"]; is != had {
		t.Errorf("scsi2 is %s, and was %s", is, had)
	}
}
