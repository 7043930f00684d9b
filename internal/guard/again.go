package guard

import (
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// Again checks that VMs, each as STACK/KEY, were never seen, so that they can get other
// MAC addresses and another VMID. It returns a finding for each that may exist.
func Again(in Input, found []finding.Finding, names []string) []finding.Finding {
	var out []finding.Finding
	matches := Matches(in)
	owner := owners(matches)
	for _, name := range names {
		stack, key, _ := strings.Cut(name, "/")
		f := finding.Finding{Address: finding.Address{Stack: stack, Unit: lock.UnitVM, Type: finding.VM, Key: key}}
		if l := in.Lock.Stacks.Get(stack); l != nil && l.VMs.Get(key) != nil {
			f.Unit = l.VMs.Get(key).In()
		}
		for i := range matches {
			m := &matches[i]
			if m.Stack != stack || m.Key != key || m.Entry == nil {
				continue
			}
			f.VMID, f.Node, f.Name = m.VMID, m.Entry.Node, m.Name()
			other, several := owner[m.VMID]
			own := m.Guest != nil && (!several || other == "" || other == name)
			if seen(in, &f, m, own, found) {
				out = append(out, f)
			}
		}
	}
	finding.Sort(out)
	return out
}

// seen makes the finding of a VM that may exist. own says that the guest which it
// matches is not another VM of the project.
func seen(in Input, f *finding.Finding, m *cluster.Match, own bool, found []finding.Finding) bool {
	unit := tf.Unit{Stack: m.Stack, Unit: m.Entry.In()}
	state, read := in.State[unit]
	keys := map[string]bool{m.Key: true}
	for _, a := range m.Entry.Former {
		keys[a.Key] = true
	}
	switch {
	case m.VM != nil && m.VM.Adopt:
		f.Is(finding.OtherVM, finding.Why("adopted-as-it-is"))
		return true
	case !read || state.Unreadable != "":
		f.Is(finding.Unknown, finding.Why("state-unread-may-exist")).Because("%s", state.Unreadable)
		return true
	case own:
		f.Is(finding.OtherVM, finding.Why("exists-and-would-change")).Because("%s", Describe(m.Guest))
		return true
	}
	for _, r := range state.Resources {
		if unit.Manages(r.Type) && keys[r.Key] {
			f.Is(finding.OtherVM, finding.Why("created-already")).Because("%s has VMID %d", r.Address, r.VMID)
			return true
		}
	}
	for _, other := range found {
		if other.Address == f.Address && other.Kind == finding.Unknown || other.Type == finding.Stack && other.Stack == f.Stack && other.Stops() {
			f.Is(finding.Unknown, finding.Why("may-exist").Of(other.Reason))
			f.Evidence, f.Steps = other.Evidence, other.Steps
			return true
		}
	}
	return false
}
