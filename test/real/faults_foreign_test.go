//go:build unix

package real

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
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
		fault{name: "state lost, and recorded", world: recorded, event: loseState}.fixedByImport(adoptAll, noState, "3 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "two checkouts with a local state each", world: recorded, event: secondCheckout}.refusedInBoth("other-state proxmox-vm", "this state is not the one that the lock records"),
		fault{name: "pool of a team has the name of the stack's", world: &faultWorld{build: renderedOnly, pool: true}, seed: teamPool, event: func(*faultCase) {}, foreignPool: true}.refusedInBoth("conflict live", "has guests that are in no spec"),
		fault{name: "checkout from before a VM was added", event: oldCheckout, harm: "destroys 303"}.refusedInBoth("would-destroy d", "in state, and neither in spec nor lock"),
		fault{name: "lock lost beside a living state", event: deleteLock}.refusedInBoth("unrendered live", "its decisions are lost"),
	}
}

// connectToOtherCluster connects to a cluster that has the template, and a VM with the
// VMID of one of the stack.
func connectToOtherCluster(w *faultCase) {
	w.listenAsRecorded()
	seed, err := pvesim.DefaultSeed()
	check(w.T, err)
	seed.CA = "11111111-2222-4333-8444-555555555555"
	renumber(seed, "198.51.100.")
	seed.Guests = append(seed.Guests, guestByHand(300, "pve1", "erp"))
	w.connectTo(seed)
}

// connectToCopy connects to a copy of the cluster with other addresses, to destroy a VM.
func connectToCopy(w *faultCase) {
	w.listenAsRecorded()
	seed := w.copyOfCluster()
	renumber(seed, "203.0.113.")
	w.connectTo(seed)
	w.spec(strings.Replace(faultSpec, "  b: {node: pve2}\n", "", 1)+faultLast+"retired: [b]\n", true)
}

// copyOfCluster is what the cluster has now.
func (w *faultCase) copyOfCluster() *pvesim.Seed {
	w.Helper()
	var saved bytes.Buffer
	check(w.T, w.sim.Save(&saved))
	seed, err := pvesim.ParseSeed(saved.Bytes())
	check(w.T, err)
	return seed
}

// renumber gives all nodes other addresses.
func renumber(s *pvesim.Seed, network string) {
	for i, n := range s.Nodes {
		n.Address = fmt.Sprint(network, 11+i)
	}
}

// listenAsRecorded makes the first node listen at the address that the lock records, port
// 8006. That is another loopback address in every cell, which not every system has.
func (w *faultCase) listenAsRecorded() {
	w.Helper()
	var l net.Listener
	var address string
	err := errors.New("none")
	for range 20 {
		address = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250)) //nolint:gosec // any will do
		if l, err = net.Listen("tcp", address+":8006"); err == nil {                              //nolint:noctx // it returns at once
			break
		}
	}
	if err != nil {
		w.Skipf("not run: no address of a node: %v", err)
	}
	to, err := url.Parse(w.sim.URL())
	check(w.T, err)
	go forward(l, to.Host)
	w.Cleanup(func() { _ = l.Close() })
	w.sim.Change(func(s *pvesim.Seed) { s.Nodes[0].Address = address })
	w.must(w.stackgen("resolve"))
}

// forward forwards connections until the listener is closed.
func forward(l net.Listener, to string) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = from.Close() }()
			server, err := net.Dial("tcp", to) //nolint:noctx // the listener is on this machine
			if err != nil {
				return
			}
			defer func() { _ = server.Close() }()
			go func() { _, _ = io.Copy(server, from) }()
			_, _ = io.Copy(from, server)
		}()
	}
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

// oldCheckout is the checkout of a user who has not pulled yet what another one pushed:
// a VM that was added and applied.
func oldCheckout(w *faultCase) {
	if _, err := os.Stat(filepath.Join(w.dir, ".git")); err != nil {
		w.keepSpecs()
	}
	addVM(w)
	w.must(w.apply())
	w.commit("add d")
	w.git("reset", "-q", "--hard", "HEAD~1")
}

// deleteLock removes the lock.
func deleteLock(w *faultCase) { w.remove("stackgen.lock.yaml") }
