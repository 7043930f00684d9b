package cluster

import (
	"slices"
	"strings"

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
	Differ []string   // differences of Guest or Holder from the recorded fingerprint
	Others []*Guest   // other guests with the name of the VM, by VMID; no templates, and no guests that are certainly another VM of the project
}

// Why is the reason of a match, or of its absence.
type Why string

// With a Guest: ByAdopt, ByFingerprint, ByName. With a Holder: IsTemplate,
// IsContainer, OtherFingerprint and OtherName (a conflict), NoName and Unseen
// (undecided). With neither: Absent, NoVMID. Absent proves that no guest has the
// VMID only if Inventory.GapsForVM returns nothing.
const (
	ByAdopt          Why = "adopt"             // the spec says so
	ByFingerprint    Why = "fingerprint"       // the recorded fingerprint matches
	ByName           Why = "name"              // no fingerprint is recorded, and the name matches
	IsTemplate       Why = "template"          // a template never matches
	IsContainer      Why = "container"         // a container never matches
	OtherFingerprint Why = "other-fingerprint" // the recorded fingerprint differs
	OtherName        Why = "other-name"        // no fingerprint is recorded, and the name differs
	NoName           Why = "no-name"           // no fingerprint is recorded, and no spec has the name any more
	Unseen           Why = "unseen"            // its name or fingerprint could not be read
	Absent           Why = "absent"            // no guest in the inventory has the VMID
	NoVMID           Why = "no-vmid"           // the VM has no VMID yet
)

// Conflict reports whether the VMID belongs to something else.
func (m *Match) Conflict() bool {
	return m.Why == IsTemplate || m.Why == IsContainer || m.Why == OtherFingerprint || m.Why == OtherName
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
// must still pass all stacks, and select from the result. l may be nil. A guest is
// the VM if adopt names it, if the fingerprint recorded for its VMID matches, or
// if no fingerprint is recorded and the name matches.
func Matches(stacks []*schema.Stack, l *lock.Lock, inv *Inventory) []Match {
	if l == nil {
		l = &lock.Lock{}
	}
	guests := inv.byVMID()
	var out []Match
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
			out = append(out, match(s.Name, v.Key, v, entries[v.Key], guests))
		}
		out = append(out, onlyInLock(s.Name, recorded, inSpec, guests)...)
	}
	for i := range l.Stacks {
		if e := &l.Stacks[i]; !seen[e.Key] {
			out = append(out, onlyInLock(e.Key, &e.Value, nil, guests)...)
		}
	}
	addOthers(out, inv)
	return out
}

// onlyInLock matches the VMs of a stack that only the lock has.
func onlyInLock(stack string, recorded *lock.Stack, inSpec map[string]bool, guests map[int]*Guest) []Match {
	var out []Match
	for i := range recorded.VMs {
		if e := &recorded.VMs[i]; !inSpec[e.Key] {
			out = append(out, match(stack, e.Key, nil, &e.Value, guests))
		}
	}
	return out
}

// match matches one VM. Others is filled in later.
func match(stack, key string, v *schema.VM, entry *lock.VM, guests map[int]*Guest) Match {
	m := Match{Stack: stack, Key: key, VM: v, Entry: entry}
	var recorded *lock.Fingerprint
	if entry != nil {
		m.VMID = entry.VMID
	}
	if v != nil && v.VMID != 0 {
		m.VMID = v.VMID
	}
	if entry != nil && entry.VMID == m.VMID && entry.Fingerprint != nil && (entry.Fingerprint.UUID != "" || len(entry.Fingerprint.MACs) > 0) {
		recorded = entry.Fingerprint
	}
	g := guests[m.VMID]
	switch {
	case m.VMID == 0:
		m.Why = NoVMID
		return m
	case g == nil:
		m.Why = Absent
		return m
	}
	m.Why, m.Differ = decide(v, recorded, g)
	switch m.Why {
	case ByAdopt, ByFingerprint, ByName:
		m.Guest = g
	default:
		m.Holder = g
	}
	return m
}

// decide says whether the guest that has the VMID is the VM.
func decide(v *schema.VM, recorded *lock.Fingerprint, g *Guest) (Why, []string) {
	if g.Template {
		return IsTemplate, nil
	}
	if g.Kind == KindContainer {
		return IsContainer, nil
	}
	if recorded != nil {
		differ, agrees := compare(recorded, g.Config)
		switch {
		case v != nil && v.Adopt:
			return ByAdopt, differ
		case agrees:
			return ByFingerprint, differ
		case g.Config == nil:
			return Unseen, nil
		}
		return OtherFingerprint, differ
	}
	switch {
	case v == nil:
		return NoName, nil
	case v.Adopt:
		return ByAdopt, nil
	case g.Name == "" || g.Status == StatusUnknown:
		return Unseen, nil
	case g.Name == v.Name:
		return ByName, nil
	}
	return OtherName, nil
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
		if g := &inv.Guests[i]; !g.Template && g.Name != "" && !certain[g.VMID] {
			named[strings.ToLower(g.Name)] = append(named[strings.ToLower(g.Name)], g)
		}
	}
	for i := range matches {
		m := &matches[i]
		for _, g := range named[strings.ToLower(m.Name())] {
			if g.VMID != m.VMID {
				m.Others = append(m.Others, g)
			}
		}
		slices.SortFunc(m.Others, func(a, b *Guest) int { return a.VMID - b.VMID })
	}
}
