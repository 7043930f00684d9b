package deploy

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// forgetGone removes from the lock what was observed of VMs of a stack that are certainly gone: those
// that this run has destroyed, and those whose VMID no guest has. The others keep it, because
// what is recorded of a VM is all that tells it from a stranger that has its VMID and MAC since.
// Of a whole stack, only is nil.
func (r *run) forgetGone(s *check.Session, stack string, only, destroyed []string) error {
	gone, kept := identities(s, stack, destroyed)
	if only != nil {
		gone = slices.DeleteFunc(gone, func(key string) bool { return !slices.Contains(only, key) })
	}
	for _, k := range kept {
		if only == nil || slices.Contains(only, k.Key) {
			r.say("%s/%s: its VMID %d belongs to another guest (%s on %s), so %s keeps the identity of the VM that is gone; "+
				"`%s` says what to do", stack, k.Key, k.VMID, k.Holder.Name, k.Holder.Node, r.p.LockFile(), r.p.Command("preflight", stack))
		}
	}
	return r.p.Destroyed(r.background(), stack, gone, only == nil, func(text string) { r.say("%s", text) })
}

// identities are the VMs of a stack, by their keys, that are certainly gone, and those whose VMID
// a stranger has. destroyed are those that were destroyed since the cluster was read.
func identities(s *check.Session, stack string, destroyed []string) (gone []string, kept []cluster.Match) {
	for _, m := range s.Matches() {
		switch {
		case m.Stack != stack || m.Entry == nil:
		case slices.Contains(destroyed, m.Key):
			gone = append(gone, m.Key)
		case s.Inventory.Guest(m.Entry.VMID) == nil && len(s.Inventory.GapsForVM(m.Entry.VMID)) == 0:
			gone = append(gone, m.Key)
		case m.Entry.Fingerprint != nil && m.Holder != nil:
			kept = append(kept, m)
		}
	}
	return gone, kept
}

// destroyedBy are the keys of the VMs that plans destroy, where the state had the VMID that the
// lock decides.
func (p *plans) destroyedBy(s *check.Session) []string {
	l := s.Project.Lock.Stacks.Get(p.stack.name)
	if l == nil {
		return nil
	}
	var out []string
	for _, c := range p.changes() {
		if e := l.VMs.Get(c.Key); c.Type == finding.VM && c.Action == tf.Delete && e != nil && e.VMID == c.VMID {
			out = append(out, c.Key)
		}
	}
	return out
}

// guestsOf counts guests of a stack by the lock: those with keys, or all of them if keys is nil.
func guestsOf(l *lock.Lock, stack string, keys []string) guest.Tally {
	var of lock.Ordered[lock.VM]
	if s := l.Stacks.Get(stack); s != nil {
		of = slices.DeleteFunc(slices.Clone(s.VMs), func(v lock.Entry[lock.VM]) bool { return keys != nil && !slices.Contains(keys, v.Key) })
	}
	return guest.Count(of, func(v lock.Entry[lock.VM]) guest.Kind { return v.Value.Kind })
}

// askedName is what a person types to confirm the destroy of guests: the key of the only one, else
// the name of their stack.
func askedName(stack string, keys []string, l *lock.Lock) (what, name string) {
	all := guestsOf(l, stack, keys)
	if len(keys) == 1 {
		return fmt.Sprintf("%s %s/%s", all.Word(), stack, keys[0]), keys[0]
	}
	return fmt.Sprintf("%s of %s", all, stack), stack
}
