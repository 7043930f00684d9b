//go:build unix

package real

import "slices"

// A fault is a row of the matrix: an event, and its expected outcomes.
type fault struct {
	name        string
	world       *faultWorld                    // what is applied before the event; nil: the stack live
	pool        bool                           // that stack has its pool
	seed        seedChange                     // changes the cluster before the event, or nil
	event       func(*faultCase)               // injects the fault
	command     func(*faultCase) commandResult // is run instead of `terragrunt stack run apply`, or nil
	foreign     []int                          // VMIDs in the stack's range that belong to other guests
	foreignPool bool                           // the pool live is not the stack's
	created     []int                          // new guests, in all outcomes
	removed     []int                          // guests that the specs ask to destroy, in all outcomes
	restarts    []int                          // guests that the specs permit to restart
	lost        []string                       // disks and network devices that the specs ask to remove, in all outcomes
	moved       moves                          // guests that the specs ask to migrate, in all outcomes
	apply       outcome                        // of an apply
	imports     outcome                        // of import-blocks, and an apply
	fast        *fastOutcomes                  // with `guard: fast`, if they differ
	byPlan      bool                           // only the plan shows it, which `guard: fast` does not make
	byCommand   bool                           // only the command line asks for it, so that another one is the way out
	harm        string                         // what an apply does with `guard: off`; "" if it does no harm
	noHarmRun   string                         // why no apply with `guard: off` is run
	notWay      string                         // part of the printed steps whose condition does not hold in this state
	recovery    recovery                       // a step of the refusal that needs no decision
	words       map[string]string              // values of placeholders in its ways out
	acts        map[string]func(*faultCase)    // what a person does in addition to the lines of a way out, by a part of its text
}

// fastOutcomes are the outcomes with `guard: fast`, which judges no plans.
type fastOutcomes struct{ apply, imports outcome }

// faults are the rows, in the order of the documentation.
func faults() []fault {
	return slices.Concat(stateFaults(), foreignFaults(), guestFaults(), identityFaults(), clusterFaults(), applyFaults(), specFaults(), lifecycleFaults(), powerFaults(), resolveFaults(), passesFaults(), keepFaults(), restartFaults(), effectFaults(), migrationFaults(), settleFaults(), feasibleFaults(), containerFaults())
}

// An outcome is how a cell must end: without verdicts, with an empty plan; otherwise
// refused with these verdicts.
type outcome struct {
	verdicts    string // and their keys
	contains    string // part of the reason, or of the result of the apply
	created     []int  // new guests
	afterImport bool   // of imports: import-blocks succeeds, and the apply is refused
}

// refuse is the outcome of a refusal.
func refuse(verdicts, contains string) outcome {
	return outcome{verdicts: verdicts, contains: contains}
}

// succeed is the outcome of an apply after which the plan is empty.
func succeed(contains string, created ...int) outcome {
	return outcome{contains: contains, created: created}
}

// refusedInBoth expects a refusal in both columns.
func (f fault) refusedInBoth(verdicts, contains string) fault {
	f.apply, f.imports = refuse(verdicts, contains), refuse(verdicts, contains)
	return f
}

// refusedByPlan expects that import-blocks, which makes no plan, succeeds, and that the plan of the
// apply is refused because it harms a.
func (f fault) refusedByPlan(contains string) fault {
	return f.refusedByPlanOf("would-harm a", contains)
}

// refusedByPlanOf is refusedByPlan with other verdicts.
func (f fault) refusedByPlanOf(verdicts, contains string) fault {
	f.byPlan = true
	f.apply, f.imports = refuse(verdicts, contains), refuse(verdicts, contains)
	f.imports.afterImport = true
	return f
}

// fixedByImport expects a refusal without import files, and success with them.
func (f fault) fixedByImport(verdicts, contains, imported string) fault {
	f.apply, f.imports = refuse(verdicts, contains), succeed(imported)
	return f
}

// succeedsInBoth expects success in both columns.
func (f fault) succeedsInBoth(contains string, created ...int) fault {
	f.apply, f.imports = succeed(contains, created...), succeed(contains, created...)
	return f
}

const (
	adoptAll    = "adopt a b c"
	noState     = "its import block is missing"
	nothingToDo = "right: nothing to do"
)

// stateFaults are states that are lost or old.
func stateFaults() []fault {
	return []fault{
		fault{name: "state lost", pool: true, event: loseState}.fixedByImport("adopt live a b c", noState, "4 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "state of one unit lost", pool: true, event: loseUnitState}.fixedByImport("adopt a b c", noState, "3 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "stale state restored from a backup", event: restoreOldState}.fixedByImport("adopt c", noState, "1 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "stale import file, state lost", event: leaveWrongImport, harm: "destroys 123", recovery: recovery{"import-blocks", "3 imported, 0 added, 0 changed, 0 destroyed", nil}}.fixedByImport("adopt a", "its import block is wrong", "3 imported, 0 added, 0 changed, 0 destroyed"),
	}
}

// guestFaults are guests that were changed by hand.
func guestFaults() []fault {
	return []fault{
		fault{name: "VM migrated by hand", event: migrate}.succeedsInBoth(nothingToDo),
		fault{name: "VM deleted by hand", event: deleteVM, harm: "creates 300", recovery: recovery{"state rm", "1 added, 0 changed, 0 destroyed", []int{300}}}.refusedInBoth("gone a", "a plan would create it again, empty"),
		fault{name: "VM re-created by hand under the same VMID", event: both(recreateVM, stopVM), harm: "changes 300, which is not the stack's", foreign: []int{300}}.refusedInBoth("conflict a", "it was created again by hand"),
		fault{name: "VM deleted, a stranger has its VMID", event: both(replaceVM, stopVM), harm: "changes 300, which is not the stack's", foreign: []int{300}}.refusedInBoth("conflict a", "belongs to a VM with another name"),
		fault{name: "VMID of a new VM taken by a VM", event: occupyVMID(asVM), foreign: []int{303}}.refusedInBoth("conflict d", "belongs to a VM with another name"),
		fault{name: "VMID of a new VM taken by a container", event: occupyVMID(asContainer), foreign: []int{303}}.refusedInBoth("conflict d", "its VMID belongs to a container"),
		fault{name: "VMID of a new VM taken by a template", event: occupyVMID(asTemplate), foreign: []int{303}}.refusedInBoth("conflict d", "its VMID belongs to a template"),
		fault{name: "state lost, and two VMs of one name", event: duplicateName}.fixedByImport(adoptAll, noState, "3 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "five VMs have the name of a new one", event: fiveSameNames, harm: "creates 303 as one more live-d"}.refusedInBoth("ambiguous d", "other VMs have its name"),
		fault{name: "agent silent", event: silenceAgent, noHarmRun: "the plan waits 15 minutes"}.refusedInBoth("unknown a", "every plan would wait 15m for it"),
		fault{name: "NIC hole, state lost", event: leaveNICGap}.refusedInBoth("unknown b", "no net1"),
	}
}

// clusterFaults are what the cluster does not show or have.
func clusterFaults() []fault {
	return []fault{
		fault{name: "token without VM.Audit on everything", pool: true, seed: roleWithoutAudit, event: hideGuests("/vms", "/pool")}.refusedInBoth("unknown a b c", "cannot see"),
		fault{name: "token without VM.Audit on one VM", pool: true, seed: roleWithoutAudit, event: hideGuests("/vms/301", "/pool")}.refusedInBoth("unknown b", "the token does not see it"),
		fault{name: "node offline", event: disconnectNodes("pve2")}.refusedInBoth("unknown b", "node pve2 is offline"),
		fault{name: "no quorum", event: disconnectNodes("pve2", "pve3")}.refusedInBoth("unknown a b c", "no quorum"),
		fault{name: "lists lagging and alternating, a VM to create", seed: staleLists, event: withStaleLists(addVM)}.succeedsInBoth("1 added, 0 changed, 0 destroyed", 303),
		fault{name: "lists lagging and alternating, state lost", seed: staleLists, event: withStaleLists(loseState)}.fixedByImport(adoptAll, noState, "3 imported, 0 added, 0 changed, 0 destroyed"),
		fault{name: "template of a new VM gone", event: removeTemplate, words: map[string]string{"VMID": "9002"}}.refusedInBoth("cannot-create d", "its template 9000 does not exist"),
		fault{name: "pool gone", pool: true, event: deletePool, recovery: recovery{"state rm", "1 added, 3 changed, 0 destroyed", nil}}.refusedInBoth("gone live", "in state, and not in the cluster any more"),
	}
}

// applyFaults are applies that ended halfway.
func applyFaults() []fault {
	return []fault{
		fault{name: "596, and the clone was executed", event: failClone("timeout"), created: []int{303}}.fixedByImport("adopt d", noState, "1 imported"),
		fault{name: "apply killed with SIGKILL in the middle of clones", event: killApply, created: []int{303, 304, 305}}.fixedByImport("adopt d e f", noState, "3 imported"),
		fault{name: "apply killed with SIGKILL, its clones still under way", event: killApplyWhileCloning, created: []int{303, 304, 305}}.refusedInBoth("busy d e f", "locked: clone"),
		fault{name: "worker killed, its lock left behind", event: failClone("kill-worker"), created: []int{303}}.refusedInBoth("busy d", "locked: clone"),
		fault{name: "apply failed between a clone and its configuration", event: failConfiguration, harm: "destroys 303", created: []int{303}, recovery: recovery{"untaint", "0 added, 1 changed, 0 destroyed", nil}}.refusedInBoth("would-destroy d", "tainted in state"),
	}
}

// specFaults are specs that no longer have a VM, and variables that change what a spec
// says.
func specFaults() []fault {
	return append(outsideFaults(), []fault{
		fault{name: "spec shrunk", event: dropVM, words: map[string]string{"NEW-KEY": "z"}, acts: map[string]func(*faultCase){"under another key": renameKey}}.refusedInBoth("removed c", "in the lock and no longer in specs/live.yaml: an apply would destroy it"),
		fault{name: "spec with a renamed key", event: renameKey, words: map[string]string{"NEW-KEY": "z"}}.refusedInBoth("removed c", "in the lock and no longer in specs/live.yaml: an apply would destroy it"),
		fault{name: "spec with a renamed key that says so", event: renameKeyDeclared}.succeedsInBoth("right"),
	}...)
}
