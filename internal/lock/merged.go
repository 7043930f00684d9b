package lock

import (
	"slices"

	"stackgen/schema"
)

// mergeKeys makes one entry of the two that a guest has after a merge of two branches, one of which
// gave it another key while the other one recorded what was seen of it.
func (d *decider) mergeKeys() {
	for _, s := range d.project.Stacks {
		if l := d.lock.Stacks.Get(s.Name); l != nil && d.options.Selected(s.Name) {
			d.mergeKeysOf(s, l)
		}
	}
	d.old = d.lock.clone()
}

func (d *decider) mergeKeysOf(s *schema.Stack, l *Stack) {
	inSpec := map[string]bool{}
	for _, v := range s.VMs {
		inSpec[v.Key] = true
	}
	byVMID := map[int]*Entry[VM]{} // with a key of the spec
	for i := range l.VMs {
		if e := &l.VMs[i]; inSpec[e.Key] && e.Value.VMID != 0 {
			byVMID[e.Value.VMID] = e
		}
	}
	merged := map[string]bool{}
	for i := range l.VMs {
		was := &l.VMs[i]
		if now := byVMID[was.Value.VMID]; now != nil && !inSpec[was.Key] && sameGuest(s, was, now) {
			now.Value = now.Value.mergedWith(was)
			merged[was.Key] = true
			d.note("%s: %s and %s are one %s in the lock, VMID %d, as after a merge of two branches: it has the key %s now",
				s.Name, was.Key, now.Key, now.Value.Kind.Name(), now.Value.VMID, now.Key)
		}
	}
	l.VMs = slices.DeleteFunc(l.VMs, func(e Entry[VM]) bool { return merged[e.Key] })
}

// sameGuest reports whether two entries with one VMID are one guest, which had the key of the first
// one before: by what was seen of both, or because the lock or the spec says so.
func sameGuest(s *schema.Stack, was, now *Entry[VM]) bool {
	a, b := &was.Value, &now.Value
	if a.Status != Live || b.Status != Live || a.IsContainer() != b.IsContainer() {
		return false
	}
	if a.seen() && b.seen() {
		return a.Fingerprint.UUID == b.Fingerprint.UUID && slices.Equal(a.Fingerprint.MACs, b.Fingerprint.MACs)
	}
	return b.had(was.Key) ||
		slices.ContainsFunc(s.Renamed, func(r schema.Rename) bool { return r.From == was.Key && r.To == now.Key })
}

// had reports whether the guest had a key before.
func (v *VM) had(key string) bool {
	return slices.ContainsFunc(v.Former, func(f Address) bool { return f.Key == key })
}

// mergedWith is the entry of a guest that has another one with a former key. What was seen belongs to
// the decisions of its branch.
func (v *VM) mergedWith(was *Entry[VM]) VM {
	out := *v
	if was.Value.seen() && !v.seen() {
		out = was.Value
		out.Profile, out.Unit, out.at = v.Profile, v.Unit, v.at
		out.Member, out.Email, out.Seat = v.Member, v.Email, v.Seat
	}
	out.Former = slices.Clone(v.Former)
	for _, a := range append(slices.Clone(was.Value.Former), was.Value.Address(was.Key)) {
		if !slices.Contains(out.Former, a) {
			out.Former = append(out.Former, a)
		}
	}
	return out
}

// ordinals are the seats of the students by key, each with an ordinal of its own. Two branches may have
// taken one: then the student whose VM was never seen gets a free one.
func (s *Stack) ordinals() map[string]int {
	holders, out := map[int]*Entry[VM]{}, map[string]int{}
	var twice []*Entry[VM]
	for i := range s.VMs {
		e := &s.VMs[i]
		first := holders[e.Value.Seat]
		out[e.Key] = e.Value.Seat
		switch {
		case e.Value.Seat == 0:
		case first == nil || first.Value.Status != Live:
			holders[e.Value.Seat] = e
		case first.Value.had(e.Key) || e.Value.had(first.Key): // one guest, which mergeKeys makes one entry
		case e.Value.Status != Live || first.Value.seen() && e.Value.seen():
		case e.Value.seen():
			holders[e.Value.Seat], twice = e, append(twice, first)
		default:
			twice = append(twice, e)
		}
	}
	n := 1
	for _, e := range twice {
		for holders[n] != nil {
			n++
		}
		holders[n], out[e.Key] = e, n
	}
	return out
}
