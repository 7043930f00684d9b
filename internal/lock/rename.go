package lock

import (
	"slices"

	"stackgen/internal/finding"
	"stackgen/schema"
)

// rename moves the entries of renamed VMs to their new keys.
func (d *stackDecider) rename() {
	d.freeKeys()
	at := make(map[string]int, len(d.lock.VMs))
	for i, e := range d.lock.VMs {
		at[e.Key] = i
	}
	index := func(key string) int {
		if i, ok := at[key]; ok {
			return i
		}
		return -1
	}
	between := map[string]bool{} // keys that are renamed again
	for _, r := range d.stack.Renamed {
		between[r.To] = true
	}
	for _, r := range chained(d.stack.Renamed) {
		from, to := index(r.From), index(r.To)
		if from < 0 && to < 0 {
			from = d.formerly(r.From)
		}
		if from < 0 && to < 0 {
			to = index(d.last(r.To)) // its line stays beside those of later renames
		}
		switch {
		case from < 0 && to < 0 && !d.lock.Had(r.From):
			d.clash(r.Pos, "renamed", "remove the line, or correct the old key", "the lock has no VM or container %q", r.From)
		case from >= 0 && to >= 0:
			d.keyTaken(r, d.lock.VMs[to].Value.Status)
		case from >= 0:
			v := &d.lock.VMs[from]
			was := v.Key
			delete(at, was)
			at[r.To] = from
			v.Key = r.To
			d.addresses[r.To] = d.addresses[was]
			delete(d.addresses, was)
			delete(d.had, was)
			d.release(&v.Value, d.stack.Name+"/"+was, d.stack.Name+"/"+r.To)
		case to >= 0 && !between[r.From] && !d.lock.Had(r.From) && !d.lock.VMs[to].Value.seen(): // a lock that was lost does not know
			v := &d.lock.VMs[to].Value
			v.Former = append(slices.Clone(v.Former), Address{v.Address(r.To).Profile, r.From})
		}
	}
}

// freeKeys removes entries whose keys renamed guests get, if nothing of them exists and no list has them any more: a render
// removes those anyway.
func (d *stackDecider) freeKeys() {
	wanted := map[string]bool{}
	for _, r := range d.stack.Renamed {
		wanted[r.To] = wanted[r.To] || d.lock.VMs.index(r.From) >= 0
	}
	var kept, dropped Ordered[VM]
	for _, e := range d.lock.VMs {
		v := e.Value
		if !wanted[e.Key] || v.Status == Live || !v.Gone || d.retired[e.Key] || d.forgotten[e.Key] {
			kept = append(kept, e)
			continue
		}
		dropped = append(dropped, e)
		d.release(&v, d.stack.Name+"/"+e.Key, "")
		delete(d.addresses, e.Key)
		delete(d.had, e.Key)
	}
	d.lock.VMs = kept
	d.noteLeaving(nil, dropped)
}

// keyTaken refuses a new key that another guest of the lock has.
func (d *stackDecider) keyTaken(r schema.Rename, status string) {
	if status == Live {
		d.clash(r.Pos, "renamed", "retire or forget one of them",
			"%s and %s are both in the lock, and two guests cannot become one", r.From, r.To)
		return
	}
	d.clash(r.Pos, "renamed",
		"undo the change of the key, run `stackgen resolve`, which records whether that guest is gone, then change it again",
		"%s is the key of a guest in the lock that is %s and may exist", r.To, status)
}

// last is the key that a VM has after all renames.
func (d *stackDecider) last(key string) string {
	for range d.stack.Renamed { // as often as a key can change
		i := slices.IndexFunc(d.stack.Renamed, func(r schema.Rename) bool { return r.From == key })
		if i < 0 {
			break
		}
		key = d.stack.Renamed[i].To
	}
	return key
}

// Renamed returns the stack and the key that the specs give to a VM of the lock now. A
// render moves its entry there.
func (l *Lock) Renamed(p *schema.Project, stack, key string) (toStack, toKey string) {
	toStack, toKey = stack, key
	if to := p.NewName(stack); to != stack && l.Stacks.index(to) < 0 {
		toStack = to
	}
	s := slices.IndexFunc(p.Stacks, func(s *schema.Stack) bool { return s.Name == toStack })
	e := l.Stacks.Get(stack)
	if s < 0 || e == nil {
		return toStack, key
	}
	for _, r := range chained(p.Stacks[s].Renamed) {
		if r.From == toKey && (e.VMs.index(r.To) < 0 || toKey != key) {
			toKey = r.To
		}
	}
	return toStack, toKey
}

// chained sorts renames so that x: y comes before y: z.
func chained(renames []schema.Rename) []schema.Rename {
	rest, out := slices.Clone(renames), make([]schema.Rename, 0, len(renames))
	for len(rest) > 0 {
		first := slices.IndexFunc(rest, func(r schema.Rename) bool {
			return !slices.ContainsFunc(rest, func(before schema.Rename) bool { return before.To == r.From })
		})
		first = max(first, 0) // a circle has no first one
		out = append(out, rest[first])
		rest = slices.Delete(rest, first, first+1)
	}
	return out
}

// formerly returns the index of the one VM that had a key and is no longer in the
// spec, or -1: the line of a rename was changed before the rename was applied.
func (d *stackDecider) formerly(key string) int {
	found := -1
	for i, e := range d.lock.VMs {
		if d.inSpec[e.Key] != nil || !slices.ContainsFunc(e.Value.Former, func(a Address) bool { return a.Key == key }) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// formerKeysFree refuses a key for a VM that did not have it while the state may have
// another VM under it: a plan would change or replace that VM.
func (d *stackDecider) formerKeysFree() {
	former := map[string]*Entry[VM]{}
	for i := range d.lock.VMs {
		for _, a := range d.lock.VMs[i].Value.Former {
			if e := &d.lock.VMs[i]; a.Key != e.Key && former[a.Key] == nil {
				former[a.Key] = e
			}
		}
	}
	for _, v := range d.stack.VMs {
		e := former[v.Key]
		if e == nil || d.had[v.Key] {
			continue
		}
		at := slices.IndexFunc(e.Value.Former, func(a Address) bool { return a.Key == v.Key })
		d.refuse(finding.OtherVM, finding.VM, v.Key,
			finding.Why("key-was-anothers"),
			finding.Do("remove this "+v.Kind.Name()+" from "+d.lock.Spec+", apply the move of the other "+e.Value.Kind.Name()+
				", then add this one again",
				"stackgen render", d.applies()),
			finding.Do("or give this "+v.Kind.Name()+" another key")).
			Because("%s is %s %d, which had the key %s; the move from %s is not recorded as applied",
				e.Key, e.Value.Kind.Name(), e.Value.VMID, v.Key, e.Value.Resource(e.Value.Former[at]))
	}
}
