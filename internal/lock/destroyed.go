package lock

import "slices"

// Destroyed returns a lock without what was observed of the VMs and units of a stack that
// was destroyed as a whole, and whether that changes it. Decisions stay: the next apply
// creates the same VMs. VMs that exist, by their keys, were in no state, and keep what
// identifies them. It does not change l.
func (l *Lock) Destroyed(stack string, exist []string) (*Lock, bool) {
	out := l.clone()
	s := out.Stacks.Get(stack)
	if s == nil {
		return l, false
	}
	changed := false
	for i := range s.VMs {
		v := &s.VMs[i].Value
		if slices.Contains(exist, s.VMs[i].Key) {
			continue
		}
		changed = changed || v.Fingerprint != nil || v.MadeFrom != nil ||
			len(v.MadeWith)+len(v.Addresses)+len(v.Former)+len(v.FormerNodes)+len(v.Detached) > 0
		v.Fingerprint, v.MadeFrom, v.MadeWith, v.Addresses, v.Former, v.FormerNodes, v.Detached = nil, nil, nil, nil, nil, nil, nil
	}
	for i := range s.Units {
		u := &s.Units[i].Value
		changed = changed || u.Lineage != "" || u.Serial > 0 || u.Applied
		u.Lineage, u.Serial, u.Applied = "", 0, false
	}
	if !changed {
		return l, false
	}
	return out, true
}
