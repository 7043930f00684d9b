package guard

import (
	"slices"
	"strings"

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
	matches := Matches(in)
	owner, createdAgain := owners(matches), map[*lock.VM]bool{}
	for i := range matches {
		createdAgain[matches[i].Entry] = matches[i].Again
	}
	verdicts, specs := map[finding.Address]finding.Finding{}, map[string]*schema.VM{}
	for _, f := range found {
		verdicts[f.Address] = f
	}
	for _, s := range in.Project.Stacks {
		for _, v := range s.VMs {
			specs[s.Name+"/"+v.Key] = v
		}
	}
	left = undecided(in)
	profiles := newIndex(in)
	for i := range in.Lock.Stacks {
		stack, l := in.Lock.Stacks[i].Key, &in.Lock.Stacks[i].Value
		if !in.Selected(stack) {
			continue
		}
		if in.Inventory.Compare(l.Cluster) != cluster.SameCluster && !slices.Contains(in.NewClusters, stack) {
			if f, judged := verdicts[finding.Address{Stack: stack, Type: finding.Stack}]; judged {
				left = append(left, f)
			}
			continue
		}
		if f, judged := verdicts[finding.Address{Stack: stack, Unit: lock.UnitVM, Type: finding.Unit}]; judged && otherProject(in, stack) && f.Stops() && !slices.Contains(in.NewStates, stack) {
			left = append(left, f)
			continue
		}
		o := lock.Observed{Stack: stack, Cluster: observeCluster(in, stack, l, found)}
		for _, e := range l.Units {
			if u, ok := observeUnit(in, stack, e); ok {
				u.Replaces = slices.Contains(in.NewStates, stack)
				o.Units = append(o.Units, u)
			}
		}
		for k := range l.VMs {
			e := &l.VMs[k]
			f, judged := verdicts[finding.Address{Stack: stack, Unit: lock.UnitVM, Type: finding.VM, Key: e.Key}]
			g := guests[e.Value.VMID]
			if name, several := owner[e.Value.VMID]; several && name != stack+"/"+e.Key {
				g = nil // it may be the VM of another entry
			}
			v := observeVM(in, stack, l, e, f, g, createdAgain[&e.Value])
			f.Stack, f.Key = in.Lock.Renamed(in.Project, stack, e.Key)
			spec := specs[f.String()]
			if v.Fingerprint != nil && spec != nil && g.Config != nil && len(g.Config.Raw) > 0 {
				v.Detached = detachedDisks(resourceOf(in, stack, e), spec, &e.Value, g)
				if p := profiles.profile(&e.Value); p != nil && !p.Ignores("disk") {
					v.Disks = e.Value.OrderAs(resourceOf(in, stack, e).Disks, diskInterfaces(spec))
				}
			}
			if v.Fingerprint != nil && spec != nil && e.Value.MACs == nil && !spec.Adopt {
				v.MACs = existingMACs(spec, guests[v.VMID].Config)
			}
			if judged && v.Fingerprint == nil && !v.Gone && !e.Value.Gone {
				f.Evidence, f.Steps, f.Differs = nil, nil, nil
				if spec != nil {
					f.Name = spec.Name
				}
				left = append(left, f)
			}
			o.VMs = append(o.VMs, v)
		}
		seen = append(seen, o)
	}
	finding.Sort(left)
	return seen, left
}

// observeVM observes a VM. f is what was found about it, and g the guest that has its
// VMID, or nil. createdAgain is whether the VM was created after it was observed last.
func observeVM(in Input, stack string, l *lock.Stack, e *lock.Entry[lock.VM], f finding.Finding, g *cluster.Guest, createdAgain bool) lock.ObservedVM {
	v := lock.ObservedVM{Key: e.Key, VMID: e.Value.VMID, Gone: gone(in, stack, l, e)}
	certain := f.VMID == v.VMID && (f.Kind.Exists() || f.Kind == finding.Adopt)
	if state, read := in.State[UnitID{stack, lock.UnitVM}]; certain && read {
		i := slices.IndexFunc(state.Resources, func(r Resource) bool { return r.Address == f.Resource })
		if i >= 0 {
			v.MadeFrom = state.Resources[i].madeFrom()
		}
	}
	if certain && g != nil {
		v.Fingerprint, v.Node = g.Fingerprint(), g.Node
		v.Confirmed = createdAgain // the recorded guest is gone
		if g.Config != nil {
			v.Addresses = g.Config.Address
		}
	}
	if certain || f.Kind == finding.Create {
		v.Left = leftState(in, stack, e, f.Kind)
	}
	return v
}

// resourceOf is a VM in its state, or one without disks.
func resourceOf(in Input, stack string, e *lock.Entry[lock.VM]) *Resource {
	all := in.State[UnitID{stack, lock.UnitVM}].Resources
	if i := slices.IndexFunc(all, func(r Resource) bool { return r.Address == e.Value.Address(e.Key).Resource() }); i >= 0 {
		return &all[i]
	}
	return &Resource{}
}

// observeCluster is the cluster of a stack. A cluster in which none of the VMs in state
// exists is not recorded for the first time: it may be the wrong one.
func observeCluster(in Input, stack string, l *lock.Stack, found []finding.Finding) *lock.Cluster {
	if slices.Contains(in.NewClusters, stack) {
		return in.Inventory.Identity()
	}
	gone, exists := false, false
	for _, f := range found {
		if f.Stack == stack && f.Type == finding.VM {
			gone, exists = gone || f.Kind == finding.Gone, exists || f.Kind.Exists()
		}
	}
	if l.Cluster == nil && gone && !exists {
		return nil
	}
	return in.Inventory.Observed(l.Cluster)
}

// undecided are findings about the VMs of the specs that have no entry in the lock, under
// any name.
func undecided(in Input) []finding.Finding {
	known := map[string]bool{}
	for _, s := range in.Lock.Stacks {
		for _, v := range s.Value.VMs {
			stack, key := in.Lock.Renamed(in.Project, s.Key, v.Key)
			known[stack+"/"+key] = true
		}
	}
	var out []finding.Finding
	for _, s := range in.Project.Stacks {
		for _, v := range s.VMs {
			if in.Selected(s.Name) && !known[s.Name+"/"+v.Key] {
				f := finding.Finding{Address: finding.Address{Stack: s.Name, Unit: lock.UnitVM, Type: finding.VM, Key: v.Key}, Object: finding.Object{Name: v.Name}}
				out = append(out, *f.Is(finding.Unrendered, "not in the lock yet: run `stackgen render` first"))
			}
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
	u := lock.ObservedUnit{Name: e.Key, Lineage: state.Lineage, Gone: e.Value.Status == lock.Retired && unitGone(in, UnitID{stack, e.Key}, &e.Value)}
	if e.Key == lock.UnitVM {
		u.Serial = int(state.Serial) //nolint:gosec // a serial counts changes
	}
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

// existingMACs are the MAC addresses that the NICs of a VM have, where its spec does not
// say which. They end at the first NIC that it does not have yet.
func existingMACs(v *schema.VM, c *cluster.Config) []string {
	if missingDevice(c.Raw, "net") != "" {
		return nil // the positions in spec and configuration differ
	}
	out := []string{}
	for i, given := range v.MACs {
		switch {
		case given != "":
			out = append(out, given)
		case i < len(c.MACs):
			out = append(out, strings.ToUpper(c.MACs[i]))
		default:
			return out
		}
	}
	return out
}

// owners are the VMs, as STACK/KEY, of guests that match several entries of the lock, as
// after a merge of two branches: the only one of which that was recorded, or the only one
// that has its name; else empty.
func owners(matches []cluster.Match) map[int]string {
	all := map[int][]*cluster.Match{}
	for i := range matches {
		if m := &matches[i]; m.Guest != nil && m.Entry != nil {
			all[m.VMID] = append(all[m.VMID], m)
		}
	}
	out := map[int]string{}
	for vmid, several := range all {
		if len(several) < 2 {
			continue
		}
		out[vmid] = ""
		for _, is := range []func(*cluster.Match) bool{
			func(m *cluster.Match) bool { return m.Entry.Fingerprint != nil },
			func(m *cluster.Match) bool { return m.Name() == m.Guest.Name },
		} {
			one := slices.DeleteFunc(slices.Clone(several), func(m *cluster.Match) bool { return !is(m) })
			if len(one) == 1 {
				out[vmid] = one[0].Stack + "/" + one[0].Key
				break
			}
		}
	}
	return out
}

// unitGone reports whether nothing is left of what a unit had made. A state that does
// not exist, but did, is a lost one.
func unitGone(in Input, id UnitID, u *lock.Unit) bool {
	state, read := in.State[id]
	if !read || state.Unreadable != "" || len(state.Resources) > 0 || state.Lineage == "" && u.Lineage != "" {
		return false
	}
	return u.Pool == "" || in.Inventory.Pool(u.Pool) == nil && len(in.Inventory.GapsForPool(u.Pool)) == 0
}

// gone reports whether a VM that is retired or forgotten certainly does not exist any
// more: no state that was read has it, its records are in no state, and no guest has
// its VMID.
func gone(in Input, stack string, l *lock.Stack, e *lock.Entry[lock.VM]) bool {
	v, forgotten := &e.Value, l.Status == lock.Forgotten // the units of a forgotten stack are not read
	if v.Status == lock.Live && !forgotten || !in.Inventory.Quorate || in.Inventory.Guest(v.VMID) != nil || len(in.Inventory.GapsForVM(v.VMID)) > 0 {
		return false
	}
	if state, read := in.State[UnitID{stack, lock.UnitVM}]; !forgotten && (!read || state.Unreadable != "") {
		return false
	}
	if own := l.Units.Get(v.Unit); own != nil && own.Status == lock.Retired && !unitGone(in, UnitID{stack, v.Unit}, own) {
		return false
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
