package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A vmRule is one verdict about a VM, or none. Its code is in the file rule_VERDICT.go.
type vmRule struct {
	name    string
	applies func(*subject) bool // it changes nothing
	judge   func(*subject)      // nil: the VM has no finding
	ours    bool                // the guest is the VM, and nothing blocks so far: what an apply changes is judged next
}

// A VM is judged by the first rule that applies: stateRules, then retiredRules if the VM is
// retired, else liveRules. The last rule of each of these two applies to every VM.

// stateRules are about the state alone.
var stateRules = []vmRule{
	{name: "unknown: the state cannot be read", applies: (*subject).stateUnread, judge: (*subject).unknownState},
	{name: "would-destroy: forgotten, and in state", applies: (*subject).forgottenInState, judge: (*subject).destroyForgotten},
	{name: "none: forgotten, and in no state", applies: (*subject).forgotten},
	{name: "would-destroy: several times in state", applies: (*subject).duplicated, judge: (*subject).destroyDuplicate},
	{name: "conflict: its id is another VMID", applies: (*subject).idDiffers, judge: (*subject).conflictID},
	{name: "would-destroy: no moved block", applies: (*subject).notMoved, judge: (*subject).destroyNotMoved},
}

// retiredRules are about VMs to destroy, and those that were destroyed.
var retiredRules = []vmRule{
	{name: "unknown: the token does not see it", applies: (*subject).absentAndHidden, judge: (*subject).unknownHidden},
	{name: "would-destroy: another VMID in state", applies: (*subject).vmidDiffers, judge: (*subject).destroyOtherVMID},
	{name: "retiring: not in the cluster", applies: (*subject).absent, judge: (*subject).retiringAbsent},
	{name: "retiring: in no state", applies: (*subject).notInState, judge: (*subject).retiringByHand},
	{name: "busy: not complete", applies: (*subject).incomplete, judge: (*subject).busyIncomplete},
	{name: "conflict: another guest has its VMID", applies: (*subject).vmidTaken, judge: (*subject).conflictVMID},
	{name: "busy: an apply would meet a task", applies: (*subject).meetsHold, judge: (*subject).busyHold},
	{name: "unknown: nothing proves that it is the VM", applies: (*subject).notProven, judge: (*subject).unknownRetired},
	{name: "busy: a template with linked clones", applies: (*subject).hasClones, judge: (*subject).busyClones},
	{name: "busy: its protection is on", applies: (*subject).protectionOn, judge: (*subject).busyProtection},
	{name: "would-destroy: another guest has a volume of it", applies: (*subject).lends, judge: (*subject).destroyLent},
	{name: "unknown: its agent does not answer", applies: (*subject).agentSilent, judge: (*subject).unknownAgent},
	{name: "unknown: its agent refuses", applies: (*subject).agentRefuses, judge: (*subject).unknownRefusal},
	{name: "unknown: its agent reports no address", applies: (*subject).agentNoAddress, judge: (*subject).unknownAddress},
	{name: "retiring", applies: every, judge: (*subject).retiring},
}

// liveRules are about all other VMs.
var liveRules = []vmRule{
	{name: "would-destroy: another VMID in state", applies: (*subject).vmidDiffers, judge: (*subject).destroyOtherVMID},
	{name: "unknown: its node does not answer", applies: (*subject).nodeDown, judge: (*subject).unknownNode},
	{name: "unknown: the token does not see it", applies: (*subject).hidden, judge: (*subject).unknownHidden},
	{name: "conflict: in the state of another VM", applies: (*subject).inOtherState, judge: (*subject).conflictState},

	{name: "busy: a clone that a destroy leaves", applies: (*subject).leftClone, judge: (*subject).busyLeftClone},
	{name: "none: nothing to destroy", applies: (*subject).nothingToDestroy},
	{name: "retiring: destroyed already", applies: (*subject).destroyedAlready, judge: (*subject).retiringDestroyed},

	{name: "gone: it has another VMID now", applies: (*subject).restored, judge: (*subject).goneToOtherVMID},
	{name: "gone", applies: (*subject).absentInState, judge: (*subject).gone},
	{name: "conflict: another guest has its MAC", applies: (*subject).macTaken, judge: (*subject).conflictMAC},
	{name: "not-found: the spec adopts it", applies: (*subject).adoptsNothing, judge: (*subject).notFoundByAdopt},
	{name: "not-found: the import file imports it", applies: (*subject).importsNothing, judge: (*subject).notFoundByImport},
	{name: "busy: not complete", applies: (*subject).incomplete, judge: (*subject).busyIncomplete},
	{name: "ambiguous", applies: (*subject).isAmbiguous, judge: (*subject).ambiguous},
	{name: "unknown: another VM may have its name", applies: (*subject).namesHidden, judge: (*subject).unknownNames},
	{name: "cannot-create", applies: (*subject).creationFails, judge: (*subject).cannotCreate},
	{name: "busy: its template", applies: (*subject).templateLocked, judge: (*subject).busyTemplate},
	{name: "create", applies: (*subject).absent, judge: (*subject).create},

	{name: "conflict: another guest has its VMID", applies: (*subject).vmidTaken, judge: (*subject).conflictVMID},
	{name: "busy: an apply would meet a task", applies: (*subject).meetsHold, judge: (*subject).busyHold},
	{name: "unknown: not read yet", applies: (*subject).notProven, judge: (*subject).unknownUnread},
	{name: "conflict: another guest has its MAC, too", applies: (*subject).macShared, judge: (*subject).conflictSharedMAC},
	{name: "busy: a template with linked clones", applies: (*subject).destroysBase, judge: (*subject).busyClones},
	{name: "busy: not a template yet", applies: (*subject).notConverted, judge: (*subject).busyNotConverted},
	{name: "conflict: other MACs in the lock", applies: (*subject).macsDiffer, judge: (*subject).conflictLock},
	{name: "would-harm: its disks are being exchanged", applies: (*subject).halfExchanged, judge: (*subject).harmExchange},
	{name: "would-destroy: tainted", applies: (*subject).tainted, judge: (*subject).destroyTainted},
	{name: "unknown: its agent does not answer", applies: (*subject).agentSilent, judge: (*subject).unknownAgent},
	{name: "unknown: its agent refuses", applies: (*subject).agentRefuses, judge: (*subject).unknownRefusal},
	{name: "unknown: its agent reports no address", applies: (*subject).agentNoAddress, judge: (*subject).unknownAddress},
	{name: "unknown: its agent is not visible", applies: (*subject).agentHidden, judge: (*subject).unknownHiddenAgent},
	{name: "unknown: the provider cannot read it", applies: (*subject).undecodable, judge: (*subject).unknownUndecodable},
	{name: "unknown: no configuration", applies: (*subject).configurationUnread, judge: (*subject).unknownConfiguration},
	{name: "unknown: a gap in its devices", applies: (*subject).hasDeviceGap, judge: (*subject).unknownDevices},
	{name: "moved: an import would replace it", applies: (*subject).importedElsewhere, judge: (*subject).movedBeforeImport},
	{name: "moved: an apply would move it back", applies: (*subject).migratedByHand, judge: (*subject).movedBack},
	{name: "migrate: refused", applies: (*subject).migrationRefused, judge: (*subject).refuseMigration},
	{name: "would-destroy: another guest has a volume of it", applies: (*subject).destroysLent, judge: (*subject).destroyLent},
	{name: "would-destroy: its profile prevents that", applies: (*subject).destroyPrevented, judge: (*subject).destroyHalfway},
	{name: "busy: its protection is on", applies: (*subject).destroyRefused, judge: (*subject).busyProtection},

	{name: "adopt", applies: (*subject).notInState, judge: (*subject).adopt, ours: true},
	{name: "migrate", applies: (*subject).migrates, judge: (*subject).migrate, ours: true},
	{name: "moved", applies: (*subject).elsewhere, judge: (*subject).moved, ours: true},
	{name: "managed", applies: every, judge: (*subject).managed, ours: true},
}

// every is for the last rule: it applies to all VMs that no other one applies to.
func every(*subject) bool { return true }

// A subject is one VM while it is judged.
type subject struct {
	*judge
	*finding.Finding
	at      *place
	match   *cluster.Match
	entry   *lock.VM
	profile *schema.Profile
	guest   *cluster.Guest // the guest with its VMID, the right one or not
	states  []tf.Resource  // in the state, by its key

	notRead string // why the state cannot be read
}

// vms judges every VM of a stack, also those that only the lock has.
func (j *judge) vms(at *place) {
	for i := range j.all {
		m := &j.all[i]
		if m.Stack != at.Name || m.Entry == nil {
			continue
		}
		s := j.subject(at, m)
		if !s.decide() {
			j.out = j.out[:len(j.out)-1]
			continue
		}
		j.kinds[at.Name+"/"+m.Key] = s.Kind
	}
}

// subject begins the finding about a VM.
func (j *judge) subject(at *place, m *cluster.Match) *subject {
	s := &subject{judge: j, Finding: j.add(at, m.Entry.In(), finding.VM, m.Key), at: at, match: m, entry: m.Entry,
		profile: j.profile(m.Entry), guest: cmp.Or(m.Guest, m.Holder)}
	s.VMID, s.Node, s.Name = m.VMID, m.Entry.Node, m.Name()
	s.Resource = schema.GuestAddress(m.Entry.Kind, m.Entry.Profile, m.Key)
	if s.states, s.notRead = s.find(at, m.Entry.In(), m.Entry.Kind.Resource(), at.keys(s.Key, s.entry)...); s.notRead != "" {
		return s
	}
	if len(s.states) > 0 {
		s.Resource = s.states[0].Address
	}
	if s.guest != nil {
		s.Node, s.listed[s.guest.VMID] = s.guest.Node, true
		s.Name = cmp.Or(s.Name, s.guest.Name)
	}
	return s
}

// decide judges one VM. It reports whether there is a finding.
func (s *subject) decide() bool {
	rule := s.rule()
	if rule.judge == nil {
		return false
	}
	rule.judge(s)
	switch {
	case rule.ours && s.entry.IsContainer():
		s.mountsMissing()
		s.waits()
	case rule.ours:
		s.settles()
		s.waits()
		s.sharesPositions()
		s.meetsUpdate()
		s.cannotUpdate()
		s.oldTemplate()
		s.madeOtherwise()
	}
	return true
}

// rule is the rule that applies.
func (s *subject) rule() *vmRule {
	applies := func(r vmRule) bool { return r.applies(s) }
	if i := slices.IndexFunc(stateRules, applies); i >= 0 {
		return &stateRules[i]
	}
	rules, retired := liveRules, retiredRules
	if s.entry.IsContainer() {
		rules, retired = liveContainerRules, retiredContainerRules
	}
	if s.retired() {
		rules = retired
	}
	return &rules[slices.IndexFunc(rules, applies)]
}

func (s *subject) retired() bool { return s.entry.Status == lock.Retired }

// absent reports whether no guest of the cluster has the VMID.
func (s *subject) absent() bool { return s.guest == nil }

// absentInState reports whether the VM is only in the state, and no rebuild has begun: that destroys
// the guest and creates another one.
func (s *subject) absentInState() bool {
	return s.absent() && !s.notInState() && !s.entry.Recreates()
}

func (s *subject) notInState() bool { return len(s.states) == 0 }

// notProven reports whether a guest has the VMID, and nothing proves that it is the VM.
func (s *subject) notProven() bool { return s.match.Guest == nil }

// elsewhere reports whether the VM is on another node than the spec says.
func (s *subject) elsewhere() bool { return s.guest.Node != s.entry.Node && s.entry.Node != "" }

// imported is what the import file on disk imports into the VM's address.
func (s *subject) imported() (string, bool) {
	id, ok := s.Imports[tf.Unit{Stack: s.Stack, Unit: s.Unit}][s.Resource]
	return id, ok
}

// noUUID reports whether no UUID is recorded, so that MAC addresses alone decide.
func (s *subject) noUUID() bool {
	return s.entry.Fingerprint == nil || s.entry.Fingerprint.UUID == ""
}

// hasEntry reports whether the VM has an entry of its own in the spec, which adopt
// can write to. A container is not adopted.
func (s *subject) hasEntry() bool {
	return !s.entry.IsContainer() && s.match.VM != nil && s.match.VM.Path == "vms."+s.Key
}

// adoptLine is the command that records which guest the VM is.
func (s *subject) adoptLine(vmid int) finding.Line {
	return finding.Line{Text: "stackgen adopt {}", Items: []string{fmt.Sprintf("%s/%s=%d", s.Stack, s.Key, vmid)}, Sep: " "}
}

// stateRemove is the line that removes an address from the unit's state.
func (s *subject) stateRemove(address string) finding.Line {
	return lock.StateRemove(s.Stack, s.Unit, address)
}

// line is a line for the VM's entry in its spec, with the place of the entry.
func (s *subject) line(text string) string { return specLine(s.match.VM, text) }

// specLine is a line for a VM's entry in its spec, with the place of the entry. Lines with
// disks come from a keeper.
func specLine(v *schema.VM, text string) string {
	if v == nil {
		return text
	}
	at := v.Path
	if !strings.HasSuffix(at, "."+v.Key) { // of a group or class
		at += ", " + v.Key
	}
	return text + "  # " + at
}

// macLine is the line for the MAC address of a network device, counted from 0.
func macLine(v *schema.VM, n int, mac string) string {
	return fmt.Sprintf("mac: %s  # networks of %s, entry %d", mac, v.Key, n+1)
}
