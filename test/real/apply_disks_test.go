//go:build unix

package real

import (
	"net/url"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// diskProject applies a VM, 300, with disks of a spec.
func diskProject(t *testing.T, disks string) (*project, *pvesim.Server) {
	t.Helper()
	p := newProject(t, map[string]string{"specs/live.yaml": diskSpec(disks)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	return p, sim
}

func diskSpec(disks string) string {
	return `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002}
vms:
  a: {` + disks + `}
`
}

// edit renders other disks.
func (p *project) edit(disks string) {
	p.write("specs/live.yaml", diskSpec(disks))
	p.render()
}

// volumesOf are the disks and unused volumes of the VM 300, without their options.
func volumesOf(sim *pvesim.Server) map[string]string {
	out := map[string]string{}
	for key, text := range stateOf(sim).guests[300].config {
		switch strings.TrimRight(key, "0123456789") {
		case "scsi", "virtio", "sata", "unused":
			out[key], _, _ = strings.Cut(text, ",")
		}
	}
	delete(out, "scsihw")
	return out
}

// lineWith is the printed line that contains some text.
func lineWith(t *testing.T, output, contains string) string {
	t.Helper()
	for line := range strings.Lines(output) {
		if strings.Contains(line, contains) && strings.Contains(line, "pvesh") {
			return line
		}
	}
	t.Fatalf("no line contains %q\n%s", contains, output)
	return ""
}

// TestApplyRemovesAndAddsDisks: one command makes two applies of an edit that removes a disk
// and adds one, asked once. Terragrunt alone is refused.
func TestApplyRemovesAndAddsDisks(t *testing.T) {
	t.Parallel()
	p, sim := diskProject(t, disksOf(8, 5))
	before := volumesOf(sim)
	p.edit("disks: [{interface: scsi0, size: 8, datastore: shared}, {interface: scsi2, size: 6, datastore: shared}], memory: 3072")
	p.deployed(3, "preflight", "stackgen apply specs/live.yaml")
	p.fails("stacks/live", []string{"stack", "run", "apply"}, "stackgen guard refuses", "stackgen apply specs/live.yaml")
	dry := p.deployed(0, "apply --dry-run", "change live: VM a")
	out := p.deployed(0, "apply --yes", "scsi1", "scsi2", "with a second apply", "adding disks to 1 VM of live, after others were removed", "live is as its spec says")
	t.Log(dry, out)
	after := volumesOf(sim)
	if after["scsi0"] != before["scsi0"] || after["unused0"] != before["scsi1"] || after["scsi1"] != "" || after["scsi2"] == "" || after["scsi2"] == before["scsi1"] {
		t.Errorf("%v, before %v", after, before)
	}
	p.deployed(0, "apply --yes", "nothing to do")
}

// TestApplyKilledBetweenRemovalAndAddition: the next apply adds the disk.
func TestApplyKilledBetweenRemovalAndAddition(t *testing.T) {
	t.Parallel()
	p, sim := diskProject(t, disksOf(8, 5))
	before := volumesOf(sim)
	p.edit("disks: [{interface: scsi0, size: 8, datastore: shared}, {interface: scsi2, size: 6, datastore: shared}]")
	p.killedOnce(func() bool {
		return volumesOf(sim)["unused0"] != "" && !strings.Contains(p.read(".state/live/proxmox-vm/tofu.tfstate"), `"scsi1"`)
	})
	if after := volumesOf(sim); after["scsi2"] != "" {
		t.Fatalf("not killed between the two: %v", after)
	}
	t.Log(p.deployed(0, "apply --yes", "live is as its spec says"))
	after := volumesOf(sim)
	if after["scsi0"] != before["scsi0"] || after["unused0"] != before["scsi1"] || after["scsi2"] == "" || after["scsi2"] == before["scsi1"] {
		t.Errorf("%v, before %v", after, before)
	}
	p.deployed(0, "apply --yes", "nothing to do")
}

// TestDiskComesBack: a disk that was removed by one apply and is in the spec again would be
// an empty one. The line that is printed attaches its volume again.
func TestDiskComesBack(t *testing.T) {
	t.Parallel()
	p, sim := diskProject(t, disksOf(8, 5, 6))
	before := volumesOf(sim)
	p.edit(disksOf(8))
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.edit(disksOf(8, 5))
	const harm = "would add an empty disk instead of attaching the volume that the disk had"
	blocked := p.deployed(3, "preflight --verbose", harm)
	p.deployed(3, "apply --yes", harm)
	p.fails("stacks/live", []string{"stack", "run", "apply"}, harm)
	p.setPrinted(sim, lineWith(t, blocked, "--scsi1"))
	t.Log(p.deployed(0, "apply --yes", "live is as its spec says"))
	if after := volumesOf(sim); after["scsi1"] != before["scsi1"] || after["unused1"]+after["unused0"] != before["scsi2"] {
		t.Errorf("%v, before %v", after, before)
	}
	p.deployed(0, "apply --yes", "nothing to do")
	p.edit(disksOf(8, 5, 9)) // another size is the same disk
	p.deployed(3, "preflight", harm)
	p.edit("disks: [{interface: scsi0, size: 8, datastore: shared}, {interface: scsi1, size: 5, datastore: shared}, {interface: scsi3, size: 6, datastore: shared}]")
	p.deployed(0, "apply --yes", "scsi3 is a new, empty disk", "live is as its spec says")
}

// TestDiskGetsAnotherInterface: the disk would be an empty one, and the printed lines give
// its volume the other interface.
func TestDiskGetsAnotherInterface(t *testing.T) {
	t.Parallel()
	p, sim := diskProject(t, disksOf(8, 5))
	before := volumesOf(sim)
	p.edit("disks: [{interface: scsi0, size: 8, datastore: shared}, {interface: virtio1, size: 5, datastore: shared}]")
	const harm = "would add an empty disk instead of attaching the volume that the disk had"
	blocked := p.deployed(3, "preflight --verbose", harm)
	p.deployed(3, "apply --yes", harm)
	for line := range strings.SplitSeq(lineWith(t, blocked, "--delete scsi1"), " && ") {
		p.setPrinted(sim, line)
	}
	p.pasteLine(".", blocked, "state rm")
	p.deployed(0, "import-blocks")
	t.Log(p.deployed(0, "apply --yes", "live is as its spec says"))
	if after := volumesOf(sim); after["virtio1"] != before["scsi1"] || after["unused0"] != "" {
		t.Errorf("%v, before %v", after, before)
	}
	p.deployed(0, "apply --yes", "nothing to do")
}

// TestBootDiskOfTheVM: neither the provider nor Proxmox VE detaches a disk that a VM boots
// from, and the spec need not say from which disk that is. The printed lines end with the
// disk removed.
func TestBootDiskOfTheVM(t *testing.T) {
	t.Parallel()
	const harm, first, second = "the VM boots from a disk that it would detach", "disks: [{interface: scsi1, size: 5, datastore: shared}]", "boot_order: [scsi1]"
	for name, c := range map[string]struct {
		more    string
		stopped bool
	}{"running": {more: ", agent: false"}, "restart permitted": {more: ", restart: true"}, "stopped": {stopped: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, sim := diskProject(t, disksOf(8, 5)+c.more)
			if c.stopped {
				callAPI(t, sim, "POST", "/nodes/pve1/qemu/300/status/stop", url.Values{})
			}
			p.edit(first + c.more)
			p.deployed(3, "apply --yes", harm)
			blocked := p.deployed(3, "preflight --verbose", harm, second)
			if !c.stopped {
				p.contains(blocked, "{interface: scsi0, datastore: shared, size: 8")
				p.edit(disksOf(8, 5) + ", " + second + c.more)
				p.deployed(0, "apply --yes", "live is as its spec says")
				if !strings.Contains(c.more, "restart") {
					rebootVM(t, sim, "pve1", 300)
				}
			}
			p.edit(first + ", " + second + c.more)
			t.Log(p.deployed(0, "apply --yes", "live is as its spec says"))
			if after := volumesOf(sim); after["scsi0"] != "" || after["unused0"] == "" {
				t.Errorf("%v", after)
			}
			p.deployed(0, "apply --yes", "nothing to do")
		})
	}
}

// TestApplyMovesNoLentDisk: the provider has Proxmox VE delete the source of a disk that it moves. A guest of another
// project has it, too, and is read only because the plan moves a disk.
func TestApplyMovesNoLentDisk(t *testing.T) {
	t.Parallel()
	p, sim := diskProject(t, disksOf(8, 5))
	before := volumesOf(sim)
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 123 {
				g.Config["scsi5"] = before["scsi1"] + ",size=5G"
			}
		}
	})
	moved := "restart: true, " + strings.Replace(disksOf(8, 5), "5, datastore: shared", "5, datastore: local-lvm", 1)
	p.edit(moved)
	refused := "move a disk and delete its volume, which another guest has, too"
	p.deployed(3, "preflight", refused)
	out := p.deployed(3, "apply --yes", refused, before["scsi1"]+" as scsi5")
	p.fails("stacks/live", []string{"stack", "run", "apply"}, "stackgen guard refuses", refused)
	if after := volumesOf(sim); after["scsi1"] != before["scsi1"] {
		t.Errorf("%v, before %v", after, before)
	}
	p.setPrinted(sim, lineWith(t, out, "--delete scsi5"))
	p.deployed(0, "apply --yes", "live is as its spec says")
	if after := volumesOf(sim); !strings.HasPrefix(after["scsi1"], "local-lvm:") {
		t.Errorf("%v, before %v", after, before)
	}
}
