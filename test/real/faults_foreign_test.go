//go:build unix

package real

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"stackgen/internal/pvesim"
)

// foreignFaults are clusters, states, pools and checkouts that are not those of the
// stack.
func foreignFaults() []fault {
	recorded := &faultWorld{build: func(w *faultCase) {
		faultStack(w)
		w.must(w.stackgen("resolve"))
	}}
	const notRecorded = "this is not the cluster that the lock records"
	return []fault{
		fault{name: "endpoint of another cluster", world: recorded, event: connectToOtherCluster, harm: "writes to another cluster"}.refusedInBoth("other-cluster live", notRecorded),
		fault{name: "endpoint of a copy that was restored for a drill", world: recorded, event: connectToCopy, harm: "writes to another cluster"}.refusedInBoth("other-cluster live", notRecorded),
		fault{name: "node added, address of another one changed", world: recorded, seed: addNode, event: func(*faultCase) {}}.succeedsInBoth(nothingToDo),
		fault{name: "state lost, and recorded", world: recorded, event: loseState}.fixedByImport(adoptAll, noState, "4 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "two checkouts with a local state each", world: recorded, event: secondCheckout}.refusedInBoth("other-state proxmox-vm", "this state is not the one that the lock records"),
		fault{name: "pool of a team has the name of the stack's", world: &faultWorld{build: renderedOnly}, seed: teamPool, event: func(*faultCase) {}, foreignPool: true}.refusedInBoth("conflict live", "has VMs that are in no spec"),
		fault{name: "checkout from before a VM was added", event: oldCheckout, harm: "destroys 303"}.refusedInBoth("would-destroy d", "in state, and neither in spec nor lock"),
		fault{name: "lock lost beside a living state", event: deleteLock}.refusedInBoth("unrendered live", "its decisions are lost"),
	}
}

// connectToOtherCluster connects to a cluster that has the template, and a VM with the
// VMID of one of the stack.
func connectToOtherCluster(w *faultCase) {
	seed, err := pvesim.DefaultSeed()
	check(w.T, err)
	seed.CA = "11111111-2222-4333-8444-555555555555"
	seed.Nodes[0].Address, seed.Nodes[1].Address, seed.Nodes[2].Address = "198.51.100.1", "198.51.100.2", "198.51.100.3"
	seed.Guests = append(seed.Guests, guest(300, "pve1", "erp"))
	w.connectTo(seed)
}

// connectToCopy connects to a copy of the cluster with other addresses, to destroy a VM.
func connectToCopy(w *faultCase) {
	var saved bytes.Buffer
	check(w.T, w.sim.Save(&saved))
	seed, err := pvesim.ParseSeed(saved.Bytes())
	check(w.T, err)
	for _, n := range seed.Nodes {
		n.Address = strings.Replace(n.Address, "192.0.2.", "203.0.113.", 1)
	}
	w.connectTo(seed)
	w.spec(strings.Replace(faultSpec, "  b: {node: pve2}\n", "", 1)+faultLast+"retired: [b]\n", true)
}

// addNode adds a node, and changes the address of another one.
func addNode(s *pvesim.Seed) {
	s.Nodes[1].Address = "192.0.2.99"
	s.Nodes = append(s.Nodes, &pvesim.Node{Name: "pve4", Address: "192.0.2.14", Bridges: []string{"vmbr0"}})
}

// secondCheckout is a checkout without the state of the first one, which imported
// everything.
func secondCheckout(w *faultCase) {
	loseState(w)
	w.must(w.stackgen("import-blocks"))
	w.must(w.apply())
	w.must(w.stackgen("preflight"))
	w.must(w.stackgen("import-blocks"))
}

// teamPool adds a pool with a VM and a comment.
func teamPool(s *pvesim.Seed) {
	s.Pools = append(s.Pools, &pvesim.Pool{ID: "live", Comment: "owned by the mail team", Guests: []int{123}})
}

// oldCheckout is the checkout of a user who has not seen yet that another one added a
// VM.
func oldCheckout(w *faultCase) {
	rendered := map[string]string{}
	for _, file := range []string{"stackgen.lock.yaml", "stacks/live/terragrunt.stack.hcl"} {
		body, err := os.ReadFile(filepath.Join(w.dir, file))
		check(w.T, err)
		rendered[file] = string(body)
	}
	addVM(w)
	w.must(w.apply())
	for file, body := range rendered {
		w.write(file, body)
	}
	w.spec(faultSpec+faultLast, false)
}

// deleteLock removes the lock.
func deleteLock(w *faultCase) { w.remove("stackgen.lock.yaml") }
