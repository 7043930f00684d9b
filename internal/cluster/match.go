package cluster

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A Match says which guest of an inventory is a VM of a project, and why. Its
// pointers point into the project, the lock and the inventory.
type Match struct {
	Stack  string
	Key    string
	VM     *schema.VM // nil if only the lock has the VM: retired, forgotten, or removed from the spec
	Entry  *lock.VM   // nil if the lock has no entry yet
	VMID   int        // adopted or pinned, else recorded in the lock; 0 if not yet decided
	Guest  *Guest     // the VM itself; nil unless certain
	Holder *Guest     // the guest that has the VMID but is not certainly the VM; nil if Guest is set or no guest has it
	Why    Why        // why there is or is not a Guest
	Agrees []string   // evidence that Guest is the VM
	Differ []string   // what is recorded, and different in Guest or Holder
	Others []*Guest   // other guests with the name of the VM, by VMID; none that is certainly another VM of the project (see mayBe)
	Again  bool       // our own run created Guest after another guest was recorded
	Copies []Copy     // guests with another VMID that have the identity of the VM, by VMID (see mayBe)
}

// mayBe reports whether a guest may be what the match is of, by its kind: what a Template makes is a template, and nothing
// else is.
func (m *Match) mayBe(g *Guest) bool { return !g.Template || m.Entry != nil && m.Entry.Image != nil }

// Why is the reason of a match, or of its absence.
type Why string

// With a Guest: ByIdentity, ByAdopt, ByName, ByStateName, HalfMade. With a Holder:
// IsTemplate, OtherKind, OtherIdentity, NotItsMAC, NameAlone and OtherName (a conflict),
// NoName and Unseen (undecided). With neither: Absent, NoVMID. Absent proves that no
// guest has the VMID only if Inventory.GapsForVM returns nothing.
const (
	ByIdentity    Why = "identity"       // it has the recorded UUID, or, if none is recorded, a recorded MAC address
	ByAdopt       Why = "adopt"          // no identity is recorded, and the spec says so
	ByName        Why = "name"           // no identity is recorded; the state or a run's record has the VMID, and the name is that of the spec
	ByStateName   Why = "state-name"     // no identity is recorded, and the name is that of the state
	HalfMade      Why = "half-made"      // a run began to create it and did not configure it, and the name is that of the spec
	IsTemplate    Why = "template"       // a template matches a Template only
	OtherKind     Why = "other-kind"     // a container never matches a VM, nor the reverse
	OtherIdentity Why = "other-identity" // another UUID is recorded, or no recorded MAC address agrees
	NotItsMAC     Why = "not-its-mac"    // it has the name, but no MAC address that was decided, and is not half made
	NameAlone     Why = "name-alone"     // it has the name, and nothing else says that it is the VM
	OtherName     Why = "other-name"     // no identity is recorded, and the name differs
	NoName        Why = "no-name"        // no identity is recorded, and no spec has the name any more
	Unseen        Why = "unseen"         // its name or configuration could not be read
	Absent        Why = "absent"         // no guest in the inventory has the VMID
	NoVMID        Why = "no-vmid"        // the VM has no VMID yet
)

// Conflict reports whether the VMID belongs to something else.
func (m *Match) Conflict() bool {
	return slices.Contains([]Why{IsTemplate, OtherKind, OtherIdentity, NotItsMAC, NameAlone, OtherName}, m.Why)
}

// certain reports whether the guest is the VM.
func (w Why) certain() bool {
	return slices.Contains([]Why{ByIdentity, ByAdopt, ByName, ByStateName, HalfMade}, w)
}

// Name returns the name of the VM in the spec, or "" if only the lock has the VM.
func (m *Match) Name() string {
	if m.VM == nil {
		return ""
	}
	return m.VM.Name
}

// Matches returns a match for every VM of a project, in spec order, followed by
// the VMs that only the lock has, in lock order. Callers that report on some stacks
// must still pass all stacks, and select from the result. l and states may be nil.
//
// A guest with the VMID is the VM if it has the recorded UUID; with another one it is
// another guest, whatever else agrees, unless our own run created the VM again. If no UUID
// is recorded, it is the VM if one of its NICs has a MAC address that lock or state record,
// and another one if none has. Only where nothing is recorded, adopt decides, or the name
// together with the state or the record of a run that began to create the VM.
func Matches(stacks []*schema.Stack, l *lock.Lock, states States, inv *Inventory) []Match {
	if l == nil {
		l = &lock.Lock{}
	}
	m := &matcher{guests: inv.byVMID(), states: states}
	seen := map[string]bool{}
	for _, s := range stacks {
		seen[s.Name] = true
		recorded := l.Stacks.Get(s.Name)
		if recorded == nil {
			recorded = &lock.Stack{}
		}
		inSpec, entries := map[string]bool{}, recorded.VMs.ByKey()
		for _, v := range s.VMs {
			inSpec[v.Key] = true
			m.match(s.Name, v.Key, v, entries[v.Key])
		}
		m.onlyInLock(s.Name, recorded, inSpec)
	}
	for i := range l.Stacks {
		if e := &l.Stacks[i]; !seen[e.Key] {
			m.onlyInLock(e.Key, &e.Value, nil)
		}
	}
	addOthers(m.out, inv)
	m.addCopies(inv)
	return m.out
}

// A matcher holds one run of Matches.
type matcher struct {
	guests map[int]*Guest
	states States
	out    []Match
	known  []identity // of each match
}

// onlyInLock matches the VMs of a stack that only the lock has.
func (r *matcher) onlyInLock(stack string, recorded *lock.Stack, inSpec map[string]bool) {
	for i := range recorded.VMs {
		if e := &recorded.VMs[i]; !inSpec[e.Key] {
			r.match(stack, e.Key, nil, &e.Value)
		}
	}
}

// match matches one VM. Others and Copies are filled in later.
func (r *matcher) match(stack, key string, v *schema.VM, entry *lock.VM) {
	m := Match{Stack: stack, Key: key, VM: v, Entry: entry}
	if entry != nil {
		m.VMID = entry.VMID
	}
	if v != nil && v.VMID != 0 {
		m.VMID = v.VMID
	}
	state := r.states[stack+"/"+key]
	known := recordedOf(entry, state, m.VMID)
	switch g := r.guests[m.VMID]; {
	case m.VMID == 0:
		m.Why = NoVMID
	case g == nil:
		m.Why = Absent
	default:
		if m.Again = known.contradicts(g) && createdAgain(entry, state, g); m.Again {
			if state.Begun.Replaces {
				state.VMID, state.MACs = 0, nil
			}
			known = recordedOf(entry.Unseen(), state, m.VMID)
		}
		m.Why = r.decide(&m, known, g)
		m.Again = m.Again && m.Why.certain()
		if m.Why.certain() {
			m.Guest = g
		} else {
			m.Holder = g
		}
	}
	r.out, r.known = append(r.out, m), append(r.known, known)
}

// decide says whether the guest that has the VMID is the VM. It is the only place
// where that is decided.
func (r *matcher) decide(m *Match, known identity, g *Guest) Why {
	v := m.VM
	m.Agrees, m.Differ = known.compare(g)
	switch {
	case g.Template && (m.Entry == nil || m.Entry.Image == nil):
		return IsTemplate
	case m.Kind() != cmp.Or(g.Kind, guest.VM):
		return OtherKind
	case g.Kind == guest.Container:
		return decideContainer(m, g)
	case known.recorded() && g.Config == nil:
		return Unseen
	case known.contradicts(g):
		return OtherIdentity
	case len(m.Agrees) > 0:
		return ByIdentity
	case known.recorded():
		return OtherIdentity
	case v != nil && v.Adopt && !m.Again:
		return ByAdopt
	case g.Name == "" || g.Status == StatusUnknown:
		return Unseen
	}
	named := v != nil && g.Name == v.Name
	switch {
	case !named && g.Name != known.stateName && v == nil:
		return NoName
	case !named && g.Name != known.stateName:
		return OtherName
	case known.decided() && g.Config == nil:
		return Unseen
	case known.begun && g.Status == "stopped" && (known.decided() || !known.inState):
		return HalfMade
	case known.decided() && known.begun:
		m.Differ = append(m.Differ, "it is "+g.Status+", and an interrupted clone is stopped")
		return NotItsMAC
	case known.decided():
		return NotItsMAC
	case !known.inState && !known.begun:
		return NameAlone
	case named:
		return ByName
	}
	return ByStateName
}

// Kind is the kind of guest that a match is about.
func (m *Match) Kind() guest.Kind {
	switch {
	case m.Entry != nil:
		return cmp.Or(m.Entry.Kind, guest.VM)
	case m.VM != nil:
		return cmp.Or(m.VM.Kind, guest.VM)
	}
	return guest.VM
}

// decideContainer says whether the container that has the VMID is the right one: it has one of the
// MAC addresses that are recorded from its creation on. Nothing else decides, and not the state:
// where a stranger had the VMID, the provider has written its addresses there.
func decideContainer(m *Match, g *Guest) Why {
	switch {
	case g.Config == nil:
		return Unseen
	case len(m.Agrees) > 0:
		return ByIdentity
	case m.Entry == nil && slices.ContainsFunc(m.VM.MACs, func(mac string) bool { return mac != "" && hasMAC(g.Config.MACs, mac) }):
		return ByIdentity // a render records what the spec says
	}
	return OtherIdentity
}

// addOthers adds to every match the other guests with the same name.
func addOthers(matches []Match, inv *Inventory) {
	certain := map[int]bool{} // VMIDs of guests that are VMs of the project
	for _, m := range matches {
		if m.Guest != nil {
			certain[m.Guest.VMID] = true
		}
	}
	named := map[string][]*Guest{}
	for i := range inv.Guests {
		if g := &inv.Guests[i]; g.Name != "" && !certain[g.VMID] {
			named[strings.ToLower(g.Name)] = append(named[strings.ToLower(g.Name)], g)
		}
	}
	for i := range matches {
		m := &matches[i]
		for _, g := range named[strings.ToLower(m.Name())] {
			if g.VMID != m.VMID && m.mayBe(g) {
				m.Others = append(m.Others, g)
			}
		}
		slices.SortFunc(m.Others, func(a, b *Guest) int { return a.VMID - b.VMID })
	}
}
