//go:build unix

package real

import (
	"strings"
	"testing"
)

const hotplugSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false, hotplug: 'usb', disks: [{interface: scsi0, size: 8}]}
vms:
  restarts: {restart: true}
  stays: {}
`

// TestGrowthWithoutHotplugOfDisks: the provider restarts a VM after a disk has grown if the VM
// has no hotplug of disks and permits a restart, and preflight and the summary of an apply say
// so. A network device that such a VM gets waits for a restart.
func TestGrowthWithoutHotplugOfDisks(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": hotplugSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	starts := func(vmid string) int {
		return strings.Count(strings.Join(writes(sim), "\n"), "/qemu/"+vmid+"/status/start")
	}
	before, stayed := starts("300"), starts("301")
	p.write("specs/live.yaml", strings.NewReplacer("size: 8", "size: 9", "stays: {}", "stays: {networks: [{}, {}]}").Replace(hotplugSpec))
	p.render()
	_, said := p.stackgen("preflight", "--verbose", p.dir)
	p.contains(said, "size of scsi0 (stops the VM hard and starts it again: no agent answers)", "size of scsi0 (at once)", "net1 (after a restart)")
	p.deployed(0, "apply --yes", "change  live: 2 VMs  restarts, stays", "size of scsi0: 8 -> 9, stops the VM hard", "live is as its spec says")
	if n := starts("300") - before; n != 1 {
		t.Errorf("%d starts of the VM that permits a restart, want 1", n)
	}
	if n := starts("301") - stayed; n != 0 {
		t.Errorf("%d starts of the other VM, want 0", n)
	}
	p.deployed(0, "apply --yes", "nothing to do")
}
