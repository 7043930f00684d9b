//go:build unix

package real

import (
	"strings"
	"testing"
)

const protectedSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false, restart: true, protection: true}
vms:
  a: {cloud_init: {ipv4: dhcp, datastore: local-lvm}, disks: [{interface: scsi0, size: 8, datastore: local-lvm}, {interface: scsi1, size: 4, datastore: local-lvm}]}
`

// TestProtectedKeepsDrives: Proxmox VE removes no drive of a protected VM. The provider asks it to after it has stopped the
// VM, and leaves it off: the apply is refused before it does anything, also if it would remove the protection as well.
func TestProtectedKeepsDrives(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": protectedSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	for name, change := range map[string][]string{
		"cloud-init drive":                     {"dhcp, datastore: local-lvm", "dhcp, datastore: shared"},
		"cloud-init drive, and the protection": {"dhcp, datastore: local-lvm", "dhcp, datastore: shared", "protection: true", "protection: false"},
		"disk":                                 {", {interface: scsi1, size: 4, datastore: local-lvm}", ""},
	} {
		p.write("specs/live.yaml", strings.NewReplacer(change...).Replace(protectedSpec))
		p.render()
		before := len(writes(sim))
		p.deployed(3, "apply --yes", "Proxmox VE removes no drive of a protected VM", "pvesh set /nodes/pve1/qemu/300/config --protection 0")
		if after := writes(sim)[before:]; len(after) > 0 || !stateOf(sim).guests[300].running {
			t.Errorf("%s: the apply sent %v; the VM runs: %v", name, after, stateOf(sim).guests[300].running)
		}
	}
	for _, change := range [][]string{
		{"dhcp, datastore: local-lvm", "dhcp, datastore: shared"},
		{"dhcp, datastore: local-lvm", "dhcp, datastore: shared", ", {interface: scsi1, size: 4, datastore: local-lvm}", ""},
	} {
		p.write("specs/live.yaml", strings.NewReplacer(change...).Replace(protectedSpec))
		p.render()
		p.deployed(3, "apply --yes", "--protection 0")
		callAPI(t, sim, "PUT", "/nodes/pve1/qemu/300/config", map[string][]string{"protection": {"0"}}) // the printed line
		p.deployed(0, "apply --yes", "live is as its spec says")
		if g := stateOf(sim).guests[300]; !g.running || g.config["protection"] != "1" {
			t.Errorf("after the printed line and an apply: %+v", g)
		}
	}
}

// TestCloudInitDatastoreOfExistingVM: the provider stops a VM and deletes its cloud-init drive before it makes the new one. A
// datastore that cannot have it is refused before that.
func TestCloudInitDatastoreOfExistingVM(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(protectedSpec, ", protection: true", "", 1)
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", strings.Replace(spec, "dhcp, datastore: local-lvm", "dhcp, datastore: nowhere", 1))
	p.render()
	before := len(writes(sim))
	p.deployed(3, "apply --yes", "storage nowhere does not exist")
	if after := writes(sim)[before:]; len(after) > 0 || !stateOf(sim).guests[300].running {
		t.Errorf("the apply sent %v; the VM runs: %v", after, stateOf(sim).guests[300].running)
	}
}
