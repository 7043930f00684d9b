package guard

import (
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// Observe turns what Judge found into what the lock records of the selected stacks:
// of VMs only where the finding says that the guest is the VM. It also returns the
// findings about the VMs of which it records nothing, and no steps: the findings of
// a preflight have them.
func Observe(in Input, found []finding.Finding) (seen []lock.Observed, left []finding.Finding) {
	guests := map[int]*cluster.Guest{}
	for i := range in.Inventory.Guests {
		guests[in.Inventory.Guests[i].VMID] = &in.Inventory.Guests[i]
	}
	verdicts := map[finding.Address]finding.Finding{}
	for _, f := range found {
		verdicts[f.Address] = f
	}
	for _, s := range in.Project.Stacks {
		l := in.Lock.Stacks.Get(s.Name)
		if !in.Selected(s.Name) || l != nil && l.Status == lock.Forgotten {
			continue
		}
		left = append(left, undecided(s, l)...)
		if l == nil {
			continue
		}
		o := lock.Observed{Stack: s.Name}
		for _, e := range l.Units {
			if u, ok := observeUnit(in, s.Name, e); ok {
				o.Units = append(o.Units, u)
			}
		}
		for i := range l.VMs {
			e := &l.VMs[i]
			f, judged := verdicts[finding.Address{Stack: s.Name, Unit: lock.UnitVM, Type: finding.VM, Key: e.Key}]
			v := lock.ObservedVM{Key: e.Key, VMID: e.Value.VMID, Gone: gone(in, s.Name, l, e)}
			certain := f.VMID == v.VMID && (f.Kind == finding.Managed || f.Kind == finding.Adopt || f.Kind == finding.Moved)
			if g := guests[v.VMID]; g != nil && certain {
				v.Fingerprint = g.Fingerprint()
				if g.Config != nil {
					v.Addresses = g.Config.Address
				}
			}
			if certain || f.Kind == finding.Create {
				v.Left = leftState(in, s.Name, e, f.Kind)
			}
			if judged && v.Fingerprint == nil && !v.Gone && !e.Value.Gone {
				f.Evidence, f.Steps, f.Differs = nil, nil, nil
				left = append(left, f)
			}
			o.VMs = append(o.VMs, v)
		}
		seen = append(seen, o)
	}
	finding.Sort(left)
	return seen, left
}

// undecided are findings about the VMs of a spec that have no entry in the lock, which
// may be nil.
func undecided(s *schema.Stack, l *lock.Stack) []finding.Finding {
	entries := map[string]*lock.VM{}
	if l != nil {
		entries = l.VMs.ByKey()
	}
	var out []finding.Finding
	for _, v := range s.VMs {
		if entries[v.Key] == nil {
			f := finding.Finding{Address: finding.Address{Stack: s.Name, Unit: lock.UnitVM, Type: finding.VM, Key: v.Key}, Object: finding.Object{Name: v.Name}}
			out = append(out, *f.Is(finding.Unrendered, "not in the lock yet: run `stackgen render` first"))
		}
	}
	return out
}

// observeUnit observes the state of a unit, if it could be read.
func observeUnit(in Input, stack string, e lock.Entry[lock.Unit]) (lock.ObservedUnit, bool) {
	state, read := in.State[UnitID{stack, e.Key}]
	if !read || state.Unreadable != "" {
		return lock.ObservedUnit{}, false
	}
	u := lock.ObservedUnit{Name: e.Key, Lineage: state.Lineage}
	if pool := e.Value.Pool; pool != "" {
		applied := slices.ContainsFunc(state.Resources, func(r Resource) bool { return r.Type == TypePool && r.Key == pool })
		if applied || in.Inventory.Pool(pool) == nil && len(in.Inventory.GapsForPool(pool)) == 0 {
			u.Applied = &applied // a pool that exists may have lost its state
		}
	}
	return u, true
}

// leftState are the former addresses of a VM that the state does not have. A state
// that lacks the VM may be a lost one, which has the old address when it is restored,
// unless the VM was never created.
func leftState(in Input, stack string, e *lock.Entry[lock.VM], kind finding.Kind) []lock.Address {
	state, read := in.State[UnitID{stack, lock.UnitVM}]
	if !read || state.Unreadable != "" {
		return nil
	}
	has := func(a lock.Address) bool {
		return slices.ContainsFunc(state.Resources, func(r Resource) bool { return r.Address == a.Resource() })
	}
	if !has(e.Value.Address(e.Key)) && kind != finding.Create {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Value.Former), has)
}

// gone reports whether a retired VM certainly does not exist any more: no state that
// was read has it, its records are in no state, and no guest has its VMID.
func gone(in Input, stack string, l *lock.Stack, e *lock.Entry[lock.VM]) bool {
	v := &e.Value
	if v.Status != lock.Retired || !in.Inventory.Quorate || in.Inventory.Guest(v.VMID) != nil || len(in.Inventory.GapsForVM(v.VMID)) > 0 {
		return false
	}
	if state, read := in.State[UnitID{stack, lock.UnitVM}]; !read || state.Unreadable != "" {
		return false
	}
	if own := l.Units.Get(v.Unit); own != nil && own.Status == lock.Retired {
		if state, read := in.State[UnitID{stack, v.Unit}]; !read || state.Unreadable != "" || len(state.Resources) > 0 {
			return false
		}
	}
	keys := []string{e.Key}
	for _, a := range v.Former {
		keys = append(keys, a.Key)
	}
	for id, state := range in.State {
		for _, r := range state.Resources {
			if r.Type == TypeVM && (r.VMID == v.VMID || id.Stack == stack && slices.Contains(keys, r.Key)) {
				return false
			}
		}
	}
	return true
}
