//go:build unix

package real

// A fault is a row of the matrix: what happens, and how it has to end.
type fault struct {
	name           string
	seed           faultSeed        // how the cluster was before, if it matters
	happen         func(*faultCell) // what goes wrong
	foreign        []int            // VMIDs of our range that belong to somebody else
	made           []int            // new guests, however it ends
	apply, imports faultEnd         // after a plain apply, and after import-blocks and an apply
}

// A faultEnd is how a cell has to end: right, if there is no word, with an empty
// plan; else refused with these verdicts.
type faultEnd struct {
	word string // the verdicts, and what they are about
	says string // in the reason, or in what the apply did
	made []int  // new guests
}

// stop is an end by refusal.
func stop(word, says string) faultEnd { return faultEnd{word: word, says: says} }

// right is an end with an empty plan.
func right(says string, made ...int) faultEnd { return faultEnd{says: says, made: made} }

// same is a refusal in both columns.
func (f fault) same(word, says string) fault {
	f.apply, f.imports = stop(word, says), stop(word, says)
	return f
}

// heals is what the import files are for: refused without them, right with them.
func (f fault) heals(word, says, imported string) fault {
	f.apply, f.imports = stop(word, says), right(imported)
	return f
}

// harmless is right in both columns.
func (f fault) harmless(says string, made ...int) fault {
	f.apply, f.imports = right(says, made...), right(says, made...)
	return f
}

const (
	allOfIt = "adopt live a b c"
	noState = "does not import it yet"
	silent  = "right: nothing to do"
)

// faults are the rows, in the order of the documentation.
func faults() []fault {
	return []fault{
		fault{name: "state lost", happen: stateLost}.heals(allOfIt, noState, "4 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "state of one unit lost", happen: vmStateLost}.heals("adopt a b c", noState, "3 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "stale state restored from a backup", happen: staleState}.heals("adopt c", noState, "1 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "VM migrated by hand", happen: migrated}.harmless(silent),
		fault{name: "VM deleted by hand", happen: deleted}.same("lost a", "the plan would show an innocent create"),
		fault{name: "VM re-created by hand under the same VMID", happen: recreated, foreign: []int{300}}.same("taken a", "it was made again by hand"),
		fault{name: "VM deleted, a stranger has its VMID", happen: replaced, foreign: []int{300}}.same("taken a", "belongs to another VM"),
		fault{name: "VMID of a new VM taken by a VM", happen: taken(asVM), foreign: []int{303}}.same("taken d", "VMID 303 belongs to another VM"),
		fault{name: "VMID of a new VM taken by a container", happen: taken(asContainer), foreign: []int{303}}.same("taken d", "VMID 303 belongs to a container"),
		fault{name: "VMID of a new VM taken by a template", happen: taken(asTemplate), foreign: []int{303}}.same("taken d", "VMID 303 belongs to a template"),
		fault{name: "state lost, and two VMs of one name", happen: twins}.same("ambiguous a", "2 VMs carry the name live-a"),
		fault{name: "five VMs have the name of a new one", happen: five}.same("ambiguous d", "5 other VMs carry the name live-d"),
		fault{name: "token without VM.Audit on everything", seed: blindRole, happen: blind("/vms", "/pool")}.same("unknown a b c", "cannot see"),
		fault{name: "token without VM.Audit on one VM", seed: blindRole, happen: blind("/vms/301", "/pool")}.same("unknown b", "VM 301 is not visible"),
		fault{name: "node offline", happen: lost("pve2")}.same("unknown b", "node pve2 is offline"),
		fault{name: "no quorum", happen: lost("pve2", "pve3")}.same("unknown live a b c", "no quorum"),
		fault{name: "lists lagging and alternating, a VM to create", seed: oldLists, happen: lagging(grows)}.harmless("1 added, 0 changed, 0 destroyed", 303),
		fault{name: "lists lagging and alternating, state lost", seed: oldLists, happen: lagging(stateLost)}.heals(allOfIt, noState, "4 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "596, and the clone was executed", happen: cutOff("timeout"), made: []int{303}}.heals("adopt d", noState, "1 imported"),
		fault{name: "apply killed with SIGKILL in the middle of clones", happen: killed, made: []int{303, 304, 305}}.heals("adopt d e f", noState, "3 imported"),
		fault{name: "apply killed with SIGKILL, its clones still under way", happen: stillCloning, made: []int{303, 304, 305}}.same("busy d e f", "locked (clone)"),
		fault{name: "worker killed, its lock left behind", happen: cutOff("kill-worker"), made: []int{303}}.same("busy d", "locked (clone)"),
		fault{name: "apply failed between a clone and its configuration", happen: halfMade, made: []int{303}}.same("unlisted d", "marks it as tainted"),
		fault{name: "template of a new VM gone", happen: templateGone}.same("missing d", "its template 9000 is not there"),
		fault{name: "agent silent", happen: agentSilent}.same("unknown a", "every plan would wait 15m for it"),
		fault{name: "NIC hole, state lost", happen: nicHole}.same("unknown b", "no net1"),
		fault{name: "pool gone", happen: poolGone}.same("lost live", "the cluster has none of that name"),
		fault{name: "spec shrunk", happen: shrinks}.same("c", "is in the lock and no longer in specs/live.yaml. An apply would destroy it"),
		fault{name: "spec with a renamed key", happen: renames}.same("c", "is in the lock and no longer in specs/live.yaml. An apply would destroy it"),
		fault{name: "spec with a renamed key that says so", happen: renamesIt}.harmless("right"),
		fault{name: "stale import file, state lost", happen: staleImport}.heals("adopt a", "imports pve3/123, not pve1/300", "4 imported, 0 added, 0 changed, 0 destroyed"),
	}
}
