//go:build unix

package real

import "strings"

// resolveFaults are about what `stackgen resolve` records: which VM it is, and that a
// retired one does not exist any more.
func resolveFaults() []fault {
	return []fault{
		fault{name: "`retired` removed before the destroy", event: retireThenForget, harm: "destroys 302", notWay: "if an apply has destroyed it"}.refusedInBoth("removed c", "was removed before its destroy was seen"),
		fault{name: "`retired` removed after the destroy, a new VM gets the VMID", event: reuseVMID, removed: []int{302}}.succeedsInBoth("1 added, 0 changed, 0 destroyed", 302),
		fault{name: "state lost, and a VM with an automatic MAC re-created by hand", event: recreateResolved, foreign: []int{302}}.refusedInBoth("conflict c", "it was created again by hand"),
	}
}

// retired is the spec without c, which it permits to destroy.
const retired = faultSpec + "retired: [c]\n"

// retireThenForget retires c, and removes that from the spec before an apply.
func retireThenForget(w *faultCase) {
	w.spec(retired, true)
	w.spec(faultSpec, false)
}

// reuseVMID retires c, applies, and removes that from the spec after a resolve. Then a
// new VM gets the VMID of c.
func reuseVMID(w *faultCase) {
	w.spec(retired, true)
	w.must(w.apply())
	w.spec(faultSpec+"  d: {node: pve1}\n", false)
	w.must(w.stackgen("resolve"))
	w.must(w.stackgen("render"))
}

// recreateResolved lets Proxmox VE choose the MAC address of c, so that no decision
// says which VM it is, and records its identity. Then the state is lost, and another VM
// gets its VMID and name.
func recreateResolved(w *faultCase) {
	w.spec(faultSpec+strings.Replace(faultLast, "}", ", networks: [{mac: auto}]}", 1), true)
	w.must(w.stackgen("resolve"))
	loseState(w)
	w.sim.Remove(302)
	w.add(guestByHand(302, "pve3", "live-c"))
}
