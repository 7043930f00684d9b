//go:build unix

package real

import (
	"strings"
	"testing"
)

const snapshotsSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false, restart: true}
vms:
  a: {disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
`

// TestSnapshotsWithoutParentKeepDisks: after a rollback to the first snapshot and its deletion, the
// configuration of a VM names no snapshot, and the VM has the later one. An apply that would move a
// disk of it is refused before the provider stops the VM.
func TestSnapshotsWithoutParentKeepDisks(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": snapshotsSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	const at = "/nodes/pve1/qemu/300/snapshot"
	for _, name := range []string{"first", "second"} {
		callAPI(t, sim, "POST", at, map[string][]string{"snapname": {name}})
		waitUntil(t, "snapshot "+name, func() bool { return config(t, sim, 300)["parent"] == name })
	}
	callAPI(t, sim, "POST", at+"/first/rollback", map[string][]string{"start": {"1"}})
	waitUntil(t, "the rollback", func() bool { return config(t, sim, 300)["parent"] == "first" && stateOf(sim).guests[300].running })
	callAPI(t, sim, "DELETE", at+"/first", nil)
	waitUntil(t, "the deletion", func() bool { return config(t, sim, 300)["parent"] == nil && config(t, sim, 300)["lock"] == nil })
	p.write("specs/live.yaml", strings.Replace(snapshotsSpec, "datastore: local-lvm", "datastore: shared", 1))
	p.render()
	before := len(writes(sim))
	p.deployed(3, "apply --yes", "Proxmox VE does not move the disk of a VM with snapshots", "its snapshot second", "/qemu/300/snapshot/second")
	if after := writes(sim)[before:]; len(after) > 0 || !stateOf(sim).guests[300].running {
		t.Errorf("the apply sent %v; the VM runs: %v", after, stateOf(sim).guests[300].running)
	}
}
