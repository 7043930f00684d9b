package deploy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// takenVMIDs are those of the lock and of the cluster.
func (r *run) takenVMIDs(s *check.Session) map[int]bool {
	out := map[int]bool{}
	for i := range r.p.Lock.Stacks {
		vms := r.p.Lock.Stacks[i].Value.VMs
		for j := range vms {
			out[vms[j].Value.VMID] = true
			if vms[j].Value.RebuildBegun() {
				out[vms[j].Value.Rebuild.Holder] = true
			}
		}
	}
	for i := range s.Inventory.Guests {
		out[s.Inventory.Guests[i].VMID] = true
	}
	return out
}

// holder is the VMID of the VM from which a VM gets its disks: that of a run that did not end, or the highest free
// one of the range of its stack; 0 if there is none.
func (r *run) holder(b *rebuilding, vm guard.Replacement, taken map[int]bool) int {
	if vm.Exchange.Holder != 0 {
		return vm.Exchange.Holder
	}
	for _, st := range r.p.SelectedStacks() {
		if st.Name != b.stack.name || st.VMIDs == nil {
			continue
		}
		for vmid := st.VMIDs.Last; vmid >= st.VMIDs.First; vmid-- {
			if !taken[vmid] {
				taken[vmid] = true
				return vmid
			}
		}
	}
	return 0
}

// mayExchange ends the command if there are no VMIDs for the new disks of the VMs of a wave that keep others: nobody is
// asked first.
func (r *run) mayExchange(s *check.Session, all []*rebuilding) error {
	for _, b := range all {
		for _, w := range b.waves {
			taken := r.takenVMIDs(s)
			for _, vm := range b.only(w).Replaced {
				if vm.Exchange != nil && r.holder(b, vm, taken) == 0 {
					err := report.Printf(r.Out, "%s/%s keeps a disk, and its new disks need a VMID of the `vmids` of %s for a while, "+
						"and none is free: write more of them into its spec; nothing was changed\n", b.stack.name, vm.Key, b.stack.name)
					return errors.Join(err, ended{finding.Failed})
				}
			}
		}
	}
	return nil
}

// keepExchanges leaves out of marked VMs those whose new disks are cloned already, which an apply does not give up:
// nothing else would know that clone.
func (r *run) keepExchanges(s *check.Session, stack string, all, open []string) (ended, left []string) {
	l := r.p.Lock.Stacks.Get(stack)
	begun := func(key string) bool {
		e := l.VMs.Get(key)
		g := s.Inventory.Holder(e)
		return e.RebuildBegun() && g != nil && (g.Name == "" || g.Lock != "" || cluster.MadeFor(g, e)) // a new one has no name
	}
	for _, name := range open {
		key := strings.TrimPrefix(name, stack+"/")
		if !begun(key) {
			left = append(left, name)
			continue
		}
		r.say("%s was begun to be rebuilt, and VM %d has its new disks; to go on: `%s`",
			name, l.VMs.Get(key).Rebuild.Holder, r.rebuildAgain(name))
	}
	return slices.DeleteFunc(slices.Clone(all), begun), left
}

// holderNotes say of the VMs that plans destroy what a rebuild has made for them.
func (r *run) holderNotes(s *check.Session, a *announcement) (notes []string) {
	for _, c := range a.changes {
		if c.Type == finding.VM && c.Action == tf.Delete {
			notes = append(notes, r.leftHolders(s, c.Unit.Stack, []string{c.Key})...)
		}
	}
	return notes
}

// leftHolders says of the VMs of a stack, by their keys, which are destroyed or were, what a rebuild has made for them.
func (r *run) leftHolders(s *check.Session, stack string, keys []string) (notes []string) {
	l := r.p.Lock.Stacks.Get(stack)
	if l == nil {
		return nil
	}
	for _, key := range keys {
		if g := s.Inventory.Holder(l.VMs.Get(key)); cluster.MadeFor(g, l.VMs.Get(key)) {
			// It may have the protection of its template.
			notes = append(notes, fmt.Sprintf("VM %d %s was made for the new disks of %s/%s, and stays; to destroy it, on %s: "+
				"`qm set %[1]d --protection 0 && qm destroy %[1]d`", g.VMID, g.Name, stack, key, g.Node))
		}
	}
	return notes
}
