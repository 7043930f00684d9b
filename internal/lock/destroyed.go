package lock

import "slices"

// Destroyed returns a lock without what was observed of VMs of a stack that are certainly
// gone, by their keys, and whether that changes it. Whole says that the stack was destroyed as
// a whole, so that its units have nothing any more. Decisions stay: the next apply creates the
// same VMs. All other VMs keep what identifies them. It does not change l.
func (l *Lock) Destroyed(stack string, gone []string, whole bool) (*Lock, bool) {
	out := l.clone()
	s := out.Stacks.Get(stack)
	if s == nil {
		return l, false
	}
	changed, units := false, 0
	if whole {
		units = len(s.Units)
	}
	for i := range s.VMs {
		v := &s.VMs[i].Value
		if !slices.Contains(gone, s.VMs[i].Key) {
			continue
		}
		changed = changed || v.Fingerprint != nil || v.MadeFrom != nil || v.Rebuild != nil ||
			len(v.MadeWith)+len(v.Addresses)+len(v.Former)+len(v.FormerNodes)+len(v.Detached) > 0
		v.Fingerprint, v.MadeFrom, v.MadeWith, v.Addresses, v.Former, v.FormerNodes, v.Detached = nil, nil, nil, nil, nil, nil, nil
		v.Rebuild, v.Exchanged, v.ImageSeen = nil, "", false
	}
	for i := range s.Units[:units] {
		u := &s.Units[i].Value
		changed = changed || u.Lineage != "" || u.Serial > 0 || u.Applied
		u.Lineage, u.Serial, u.Applied = "", 0, false
	}
	if !changed {
		return l, false
	}
	return out, true
}
