//go:build unix

package real

import (
	"maps"
	"strings"

	"stackgen/internal/pvesim"
)

// placedSpec is a stack whose profile manages the node: a running VM and one that is off
// on shared storage, and a running one with local disks.
const placedSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
profiles:
  placed: {ignore_changes: [started]}
defaults:
  profile: placed
  template: {vmid: 9000, node: pve1}
  serial: socket
  vga: {type: serial0}
  disks: [{interface: scsi0, size: 8, datastore: shared}]
  cloud_init: {datastore: shared}
vms:
  a: {node: pve1}
  b: {node: pve1, started: false}
  c: {node: pve1, disks: [{interface: scsi0, size: 8, datastore: local-lvm}], cloud_init: {datastore: local-lvm}}
`

// placedStack is the stack of placedSpec, applied.
func placedStack(w *faultCase) {
	w.settings("")
	w.spec(placedSpec, true)
	w.must(w.apply())
	w.must(w.stackgen("preflight"))
	w.checkEmptyPlan()
}

// migrationFaults are VMs that change their node by the spec, or by hand although the
// spec decides where they run.
func migrationFaults() []fault {
	world := &faultWorld{build: placedStack}
	back := "it would be moved back"
	return []fault{
		fault{name: "VM migrated by hand, and its profile manages the node", world: world, event: migrate, harm: "moves 300 to pve1"}.refusedInBoth("moved a", back),
		fault{name: "VM migrated by hand, state refreshed, and its profile manages the node", world: world, event: both(migrate, refreshState), harm: "moves 300 to pve1"}.refusedInBoth("moved a", back),
		fault{name: "VM migrated by the spec, and back by hand", world: world, event: both(placed("a", "pve2"), applyAll, hand(300, "pve1")), harm: "moves 300 to pve2"}.refusedInBoth("moved a", back),
		fault{name: "VM migrated by hand, and its profile ignores the node no more", event: placeMoved, harm: "moves 300 to pve1"}.refusedInBoth("moved a", back),
		fault{name: "node changed in the spec, VM running", world: world, event: placed("a", "pve2"), moved: moves{300: "pve2"}}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
		fault{name: "node changed in the spec, VM off", world: world, event: placed("b", "pve2"), moved: moves{301: "pve2"}}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
		fault{name: "node changed in the spec, local disks", world: world, event: placed("c", "pve2"), moved: moves{302: "pve2"}}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
		fault{name: "node changed in the spec, of all VMs", world: world, event: both(placed("a", "pve2"), placed("b", "pve3"), placed("c", "pve2")), moved: moves{300: "pve2", 301: "pve3", 302: "pve2"}}.succeedsInBoth("0 added, 3 changed, 0 destroyed"),
		fault{name: "node changed in the spec, and the target lacks the storage", world: world, seed: only("local-lvm", "pve1"), event: placed("c", "pve2")}.refusedInBoth("migrate c", "the target lacks a storage of its drives"),
		fault{name: "node changed in the spec, and the target lacks the bridge", world: world, seed: otherBridge, event: both(useBridge, placed("a", "pve2"))}.refusedInBoth("migrate a", "node pve2 has no bridge or virtual network vmbr1"),
		fault{name: "node changed in the spec to one that is offline", world: world, event: both(placed("a", "pve2"), disconnectNodes("pve2"))}.refusedInBoth("migrate a", "a node that is offline"),
		fault{name: "node changed in the spec, and a backup of the VM is running", world: world, event: both(placed("a", "pve2"), backupAll), acts: map[string]func(*faultCase){"wait until": (*faultCase).stopTasks}}.refusedInBoth("busy a", "and an apply would migrate it"),
		fault{name: "node changed in the spec, and the VM has a CD-ROM image of its node", world: world, event: both(placed("b", "pve2"), insertImage)}.refusedInBoth("migrate b", "it uses devices of its node"),
		fault{name: "node changed in the spec, and the profile ignores it", event: func(w *faultCase) { w.editSpec("a: {node: pve1", "a: {node: pve2") }}.succeedsInBoth(nothingToDo),
	}
}

// moves are the nodes of VMs after an apply, by VMID.
type moves map[int]string

// same reports whether the guests of a migration have the same configuration. It adds the
// size of the cloud-init drive.
func (moves) same(was, is guestState) bool {
	was.config, is.config = maps.Clone(was.config), maps.Clone(is.config)
	for _, c := range []map[string]string{was.config, is.config} {
		c["ide2"] = strings.TrimSuffix(c["ide2"], ",size=4M")
	}
	return maps.Equal(was.config, is.config) && was.running == is.running
}

// placed changes the node of a VM in the spec, and renders it.
func placed(key, node string) func(*faultCase) {
	return func(w *faultCase) { w.editSpec("  "+key+": {node: pve1", "  "+key+": {node: "+node) }
}

// applyAll applies, and forgets what the apply did.
func applyAll(w *faultCase) { w.must(w.apply()) }

// hand migrates a VM by hand.
func hand(vmid int, node string) func(*faultCase) {
	return func(w *faultCase) { w.change(vmid, func(g *pvesim.Guest) { g.Node = node }) }
}

// refreshState writes what the cluster has into the state.
func refreshState(w *faultCase) {
	w.must(w.run("stacks/live", nil, "terragrunt", "stack", "run", "refresh"))
}

// placeMoved migrates a VM by hand, and gives it a profile that manages the node.
func placeMoved(w *faultCase) {
	migrate(w)
	w.must(w.apply())
	w.editSpec("vms:", "profiles: {placed: {ignore_changes: [started]}}\nvms:")
	w.editSpec("  a: {", "  a: {profile: placed, ")
}

// only makes a storage available on one node.
func only(storage, node string) seedChange {
	return func(s *pvesim.Seed) {
		for _, st := range s.Storages {
			if st.ID == storage {
				st.Nodes = []string{node}
			}
		}
	}
}

// otherBridge gives the first node a bridge that the others do not have.
func otherBridge(s *pvesim.Seed) { s.Nodes[0].Bridges = append(s.Nodes[0].Bridges, "vmbr1") }

// useBridge connects a VM to it.
func useBridge(w *faultCase) {
	w.editSpec("a: {node: pve1", "a: {node: pve1, networks: [{bridge: vmbr1}]")
	w.must(w.apply())
}

// insertImage gives VM 301 a CD-ROM image that only its node has.
func insertImage(w *faultCase) {
	w.change(301, func(g *pvesim.Guest) { g.Config["ide0"] = "local:iso/debian.iso,media=cdrom" })
}
