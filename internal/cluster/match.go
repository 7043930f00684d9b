package cluster

import (
	"slices"
	"strings"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// A Match says which guest of an inventory one VM of a project is, and by what
// evidence. Pointers lead into the project, the lock and the inventory it was
// made from.
type Match struct {
	Stack  string
	Key    string
	VM     *schema.VM // nil where only the lock has it: retired, forgotten, or gone from the spec
	Entry  *lock.VM   // nil where the lock has no entry yet
	VMID   int        // the one looked at: adopted or pinned, else recorded; 0 if there is none yet
	Guest  *Guest     // the VM itself; nil where nothing is it for certain
	Holder *Guest     // what has the VMID without being the VM for certain; nil if Guest is set or nothing has it
	Why    Why        // what makes Guest the VM, or keeps it from being one
	Differ []string   // how Guest or Holder differs from the recorded fingerprint, a line for each
	Others []*Guest   // other guests that carry the VM's name, by VMID; never templates, nor guests that are certainly another VM of the project
}

// Why is the reason of a match, or of its absence.
type Why string

// With a Guest: ByAdopt, ByFingerprint, ByName. With a Holder: IsTemplate,
// IsContainer, OtherFingerprint, OtherName (a conflict), NoName and
// Unseen (nothing may be concluded). With neither: Absent, NoVMID. Absent proves
// something only if Inventory.Blind has nothing to say about the VMID.
const (
	ByAdopt          Why = "adopt"             // the spec says that it is this one
	ByFingerprint    Why = "fingerprint"       // the recorded fingerprint agrees
	ByName           Why = "name"              // no fingerprint is recorded, and the name agrees
	IsTemplate       Why = "template"          // templates never match
	IsContainer      Why = "container"         // a container is no VM
	OtherFingerprint Why = "other-fingerprint" // the recorded fingerprint disagrees
	OtherName        Why = "other-name"        // no fingerprint is recorded, and the name is another one
	NoName           Why = "no-name"           // no fingerprint is recorded, and the spec that had the name is gone
	Unseen           Why = "unseen"            // its name or fingerprint could not be read
	Absent           Why = "absent"            // the inventory has nothing on the VMID
	NoVMID           Why = "no-vmid"           // nothing was decided or said about the VMID yet
)

// Conflict reports whether the VM's VMID belongs to something else.
func (m *Match) Conflict() bool {
	return m.Why == IsTemplate || m.Why == IsContainer || m.Why == OtherFingerprint || m.Why == OtherName
}

// Name is the name the spec gives the VM; empty where only the lock has it.
func (m *Match) Name() string {
	if m.VM == nil {
		return ""
	}
	return m.VM.Name
}

// Matches finds the guest of every VM of a project: of all its stacks, each in
// spec order, then of what only the lock has, in the lock's order. Callers that
// report on some stacks choose among the matches. l may be nil. It never
// guesses: a guest is the VM if adopt names it, if the fingerprint recorded for
// its VMID agrees, or if none is recorded and the name agrees.
func Matches(stacks []*schema.Stack, l *lock.Lock, inv *Inventory) []Match {
	if l == nil {
		l = &lock.Lock{}
	}
	guests := inv.byVMID()
	var out []Match
	seen := map[string]bool{}
	for _, s := range stacks {
		seen[s.Name] = true
		was := l.Stacks.Get(s.Name)
		if was == nil {
			was = &lock.Stack{}
		}
		live := map[string]bool{}
		for _, v := range s.VMs {
			live[v.Key] = true
			out = append(out, match(s.Name, v.Key, v, was.VMs.Get(v.Key), guests))
		}
		out = append(out, leftovers(s.Name, was, live, guests)...)
	}
	for i := range l.Stacks {
		if e := &l.Stacks[i]; !seen[e.Key] {
			out = append(out, leftovers(e.Key, &e.Value, nil, guests)...)
		}
	}
	namesakes(out, inv)
	return out
}

// leftovers matches the VMs that a stack has in the lock only.
func leftovers(stack string, was *lock.Stack, live map[string]bool, guests map[int]*Guest) []Match {
	var out []Match
	for i := range was.VMs {
		if e := &was.VMs[i]; !live[e.Key] {
			out = append(out, match(stack, e.Key, nil, &e.Value, guests))
		}
	}
	return out
}

// match looks at one VM, but for its namesakes.
func match(stack, key string, v *schema.VM, was *lock.VM, guests map[int]*Guest) Match {
	m := Match{Stack: stack, Key: key, VM: v, Entry: was}
	var print *lock.Fingerprint
	if was != nil {
		m.VMID = was.VMID
	}
	if v != nil && v.VMID != 0 {
		m.VMID = v.VMID
	}
	if was != nil && was.VMID == m.VMID && was.Fingerprint != nil && (was.Fingerprint.UUID != "" || len(was.Fingerprint.MACs) > 0) {
		print = was.Fingerprint
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
	m.Why, m.Differ = judge(v, print, g)
	switch m.Why {
	case ByAdopt, ByFingerprint, ByName:
		m.Guest = g
	default:
		m.Holder = g
	}
	return m
}

// judge says whether the guest on a VM's VMID is the VM.
func judge(v *schema.VM, print *lock.Fingerprint, g *Guest) (Why, []string) {
	if g.Template {
		return IsTemplate, nil
	}
	if g.Kind == KindContainer {
		return IsContainer, nil
	}
	if print != nil {
		differ, agrees := compare(print, g.Config)
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

// namesakes lists for every VM the other guests that carry its name.
func namesakes(matches []Match, inv *Inventory) {
	certain := map[int]bool{} // guests that are a VM of the project, whatever their name
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
