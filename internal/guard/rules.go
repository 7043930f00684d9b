package guard

import (
	"slices"

	"stackgen/guest"
)

// A rule is one verdict about a VM or a container, or none. Its code is in the file rule_VERDICT.go.
type rule struct {
	name    string
	only    guest.Kind          // whose guests it is about; "" is every kind
	applies func(*subject) bool // it changes nothing
	judge   func(*subject)      // nil: there is no finding
	ours    bool                // the guest is that of the spec, and nothing blocks so far: what an apply changes is judged next
}

// A guest is judged by the first rule that applies: stateRules, then retiredRules if it is
// retired, else liveRules. The last rule of each of these two applies to every guest.

// stateRules are about the state alone.
var stateRules = []rule{
	{name: "unknown: the state cannot be read", applies: (*subject).stateUnread, judge: (*subject).unknownState},
	{name: "would-destroy: forgotten, and in state", applies: (*subject).forgottenInState, judge: (*subject).destroyForgotten},
	{name: "none: forgotten, and in no state", applies: (*subject).forgotten},
	{name: "would-destroy: several times in state", applies: (*subject).duplicated, judge: (*subject).destroyDuplicate},
	{name: "conflict: its id is another VMID", applies: (*subject).idDiffers, judge: (*subject).conflictID},
	{name: "would-destroy: no moved block", applies: (*subject).notMoved, judge: (*subject).destroyNotMoved},
}

// retiredRules are about guests to destroy, and those that were destroyed.
var retiredRules = []rule{
	{name: "unknown: the token does not see it", applies: (*subject).absentAndHidden, judge: (*subject).unknownHidden},
	{name: "would-destroy: another VMID in state", applies: (*subject).vmidDiffers, judge: (*subject).destroyOtherVMID},
	{name: "retiring: not in the cluster", applies: (*subject).absent, judge: (*subject).retiringAbsent},
	{name: "conflict: in its state and in another one", applies: (*subject).inTwoStates, judge: (*subject).conflictState},
	{name: "retiring: in the state of another VM", applies: (*subject).inOtherState, judge: (*subject).retiringElsewhere},
	{name: "retiring: in no state", applies: (*subject).notInState, judge: (*subject).retiringByHand},
	{name: "busy: not complete", applies: (*subject).incomplete, judge: (*subject).busyIncomplete},
	{name: "conflict: another guest has its VMID", applies: (*subject).vmidTaken, judge: (*subject).conflictVMID},
	{name: "busy: an apply would meet a task", applies: (*subject).meetsHold, judge: (*subject).busyHold},
	{name: "unknown: nothing proves that it is the guest", applies: (*subject).notProven, judge: (*subject).unknownRetired},
	{name: "busy: a template with linked clones", only: guest.VM, applies: (*subject).hasClones, judge: (*subject).busyClones},
	{name: "moved: the state has another node", only: guest.Container, applies: (*subject).otherNodeInState, judge: (*subject).movedContainer},
	{name: "busy: its protection is on", applies: (*subject).protectionOn, judge: (*subject).busyProtection},
	{name: "busy: the HA manager has it", only: guest.Container, applies: (*subject).heldByHA, judge: (*subject).busyHA},
	{name: "cannot-create: the token may not destroy it", applies: (*subject).mayNotDestroy, judge: (*subject).cannotDestroy},
	{name: "would-destroy: another guest has a volume of it", applies: (*subject).lends, judge: (*subject).destroyLent},
	{name: "unknown: another guest may have a volume", only: guest.VM, applies: (*subject).mayLend, judge: (*subject).unknownLent},
	{name: "unknown: its agent does not answer", only: guest.VM, applies: (*subject).agentSilent, judge: (*subject).unknownAgent},
	{name: "unknown: its agent refuses", only: guest.VM, applies: (*subject).agentRefuses, judge: (*subject).unknownRefusal},
	{name: "unknown: its agent reports no address", only: guest.VM, applies: (*subject).agentNoAddress, judge: (*subject).unknownAddress},
	{name: "retiring", applies: every, judge: (*subject).retiring},
}

// liveRules are about all other guests.
var liveRules = []rule{
	{name: "would-destroy: another VMID in state", applies: (*subject).vmidDiffers, judge: (*subject).destroyOtherVMID},
	{name: "unknown: its node does not answer", applies: (*subject).nodeDown, judge: (*subject).unknownNode},
	{name: "unknown: the token does not see it", applies: (*subject).hidden, judge: (*subject).unknownHidden},
	{name: "conflict: in the state of another VM", applies: (*subject).inOtherState, judge: (*subject).conflictState},

	{name: "busy: a clone that a destroy leaves", applies: (*subject).leftClone, judge: (*subject).busyLeftClone},
	{name: "busy: a clone without its MAC addresses", only: guest.Container, applies: (*subject).clonedOnly, judge: (*subject).busyCloned},
	{name: "none: nothing to destroy", applies: (*subject).nothingToDestroy},
	{name: "retiring: destroyed already", applies: (*subject).destroyedAlready, judge: (*subject).retiringDestroyed},

	{name: "gone: it has another VMID now", only: guest.VM, applies: (*subject).restored, judge: (*subject).goneToOtherVMID},
	{name: "gone: it has another VMID now", only: guest.Container, applies: (*subject).containerRestored, judge: (*subject).goneContainer},
	{name: "gone", applies: (*subject).absentInState, judge: (*subject).gone},
	{name: "conflict: another guest has its MAC", applies: (*subject).macTaken, judge: (*subject).conflictMAC},
	{name: "not-found: the spec adopts it", applies: (*subject).adoptsNothing, judge: (*subject).notFoundByAdopt},
	{name: "not-found: the import file imports it", applies: (*subject).importsNothing, judge: (*subject).notFoundByImport},
	{name: "busy: not complete", applies: (*subject).incomplete, judge: (*subject).busyIncomplete},
	{name: "ambiguous", only: guest.VM, applies: (*subject).isAmbiguous, judge: (*subject).ambiguous},
	{name: "ambiguous", only: guest.Container, applies: (*subject).nameOfContainers, judge: (*subject).ambiguousContainer},
	{name: "unknown: another guest may have its name", applies: (*subject).namesHidden, judge: (*subject).unknownNames},
	{name: "conflict: another guest has its address", applies: (*subject).addressTaken, judge: (*subject).conflictAddress},
	{name: "cannot-create", applies: (*subject).creationFails, judge: (*subject).cannotCreate},
	{name: "busy: its template", applies: (*subject).templateLocked, judge: (*subject).busyTemplate},
	{name: "create", applies: (*subject).absent, judge: (*subject).create},

	{name: "conflict: another guest has its VMID", applies: (*subject).vmidTaken, judge: (*subject).conflictVMID},
	{name: "busy: an apply would meet a task", applies: (*subject).meetsHold, judge: (*subject).busyHold},
	{name: "unknown: not read yet", applies: (*subject).notProven, judge: (*subject).unknownUnread},
	{name: "conflict: another guest has its MAC, too", applies: (*subject).macShared, judge: (*subject).conflictSharedMAC},
	{name: "busy: a template with linked clones", only: guest.VM, applies: (*subject).destroysBase, judge: (*subject).busyClones},
	{name: "busy: not a template yet", only: guest.VM, applies: (*subject).notConverted, judge: (*subject).busyNotConverted},
	{name: "conflict: other MACs in the lock", applies: (*subject).macsDiffer, judge: (*subject).conflictLock},
	{name: "would-harm: its disks are being exchanged", only: guest.VM, applies: (*subject).halfExchanged, judge: (*subject).harmExchange},
	{name: "would-harm: a part of a clone", only: guest.VM, applies: (*subject).clonedInPart, judge: (*subject).harmPartOfClone},
	{name: "would-destroy: tainted", applies: (*subject).tainted, judge: (*subject).destroyTainted},
	{name: "unknown: its agent does not answer", only: guest.VM, applies: (*subject).agentSilent, judge: (*subject).unknownAgent},
	{name: "unknown: its agent refuses", only: guest.VM, applies: (*subject).agentRefuses, judge: (*subject).unknownRefusal},
	{name: "unknown: its agent reports no address", only: guest.VM, applies: (*subject).agentNoAddress, judge: (*subject).unknownAddress},
	{name: "unknown: its agent is not visible", only: guest.VM, applies: (*subject).agentHidden, judge: (*subject).unknownHiddenAgent},
	{name: "unknown: the provider cannot read it", applies: (*subject).undecodable, judge: (*subject).unknownUndecodable},
	{name: "unknown: no configuration", applies: (*subject).configurationUnread, judge: (*subject).unknownConfiguration},
	{name: "unknown: a gap in its devices", only: guest.VM, applies: (*subject).hasDeviceGap, judge: (*subject).unknownDevices},
	{name: "moved: the state has another node", only: guest.Container, applies: (*subject).otherNodeInState, judge: (*subject).movedContainer},
	{name: "moved: an import would replace it", only: guest.VM, applies: (*subject).importedElsewhere, judge: (*subject).movedBeforeImport},
	{name: "moved: an apply would move it back", only: guest.VM, applies: (*subject).migratedByHand, judge: (*subject).movedBack},
	{name: "migrate: refused", only: guest.VM, applies: (*subject).migrationRefused, judge: (*subject).refuseMigration},
	{name: "would-destroy: another guest has a volume of it", applies: (*subject).destroysLent, judge: (*subject).destroyLent},
	{name: "unknown: another guest may have a volume", only: guest.VM, applies: (*subject).destroysUnclaimed, judge: (*subject).unknownLent},
	{name: "would-destroy: its profile prevents that", applies: (*subject).destroyPrevented, judge: (*subject).destroyHalfway},
	{name: "busy: its protection is on", applies: (*subject).destroyRefused, judge: (*subject).busyProtection},
	{name: "busy: the HA manager has it", only: guest.Container, applies: (*subject).destroyHeldByHA, judge: (*subject).busyHA},
	{name: "cannot-create: the token may not destroy it", applies: (*subject).destroyForbidden, judge: (*subject).cannotDestroy},

	{name: "adopt", applies: (*subject).notInState, judge: (*subject).adopt, ours: true},
	{name: "migrate", only: guest.VM, applies: (*subject).migrates, judge: (*subject).migrate, ours: true},
	{name: "moved", applies: (*subject).elsewhere, judge: (*subject).moved, ours: true},
	{name: "managed", applies: every, judge: (*subject).managed, ours: true},
}

// every is for the last rule: it applies to all guests that no other one applies to.
func every(*subject) bool { return true }

// rule is the rule that applies.
func (s *subject) rule() *rule {
	kind := guest.VM
	if s.entry.IsContainer() {
		kind = guest.Container
	}
	applies := func(r rule) bool { return (r.only == "" || r.only == kind) && r.applies(s) }
	if i := slices.IndexFunc(stateRules, applies); i >= 0 {
		return &stateRules[i]
	}
	rules := liveRules
	if s.retired() {
		rules = retiredRules
	}
	return &rules[slices.IndexFunc(rules, applies)]
}
