package guard

import (
	"fmt"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// unlisted judges what a state has and neither spec nor lock.
func (j *judge) unlisted(at *place) {
	for _, e := range at.lock.Units {
		unit := tf.Unit{Stack: at.Name, Unit: e.Key}
		state, read := j.State[unit]
		if (e.Value.Status == lock.Retired || e.Value.Status == lock.Moving) && (!read || state.Unreadable != "") {
			f := j.add(at, e.Key, finding.Unit, "")
			_, unreadable := j.find(at, e.Key, "")
			j.stateUnknown(f, unreadable)
		}
		for _, r := range state.Resources {
			switch {
			case r.Type == guest.ContainerResource && e.Key != lock.UnitContainer:
				if at.Catalog == nil { // else its modules may have containers
					j.container(at, e.Key, r)
				}
			case unit.Manages(r.Type) && !at.lists(r):
				j.unlistedVM(at, e.Key, r)
			case r.Type == guest.PoolResource && e.Value.Status == lock.Live && !(at.createsPool() && at.Pool.ID == r.Key):
				j.unlistedPool(at, e.Key, r)
			}
		}
	}
}

// updateCheckout is the first step where the state knows more than specs and lock: it
// is the state of all checkouts.
const updateCheckout = "this checkout is old, or a merge dropped its lines: " +
	"update it, or restore them in spec and lock, then run preflight again"

// stopManaging is the step that removes an address from the state.
const stopManaging = "or stop managing it: remove it from the state"

func (j *judge) unlistedVM(at *place, unit string, r tf.Resource) {
	f := j.add(at, unit, finding.VM, r.Key)
	f.VMID, f.Node, f.Name, f.Resource = r.VMID, r.Node, r.Name, r.Address
	if j.otherID(f, &r) {
		return
	}
	g := j.Inventory.Guest(r.VMID)
	if g == nil && gaps(f, j.Inventory.GapsForVM(r.VMID)) {
		return
	}
	if g == nil {
		f.Is(finding.Gone, finding.Why("unlisted-gone"))
		f.Because("in state as %s; no guest has VMID %d", r.Address, r.VMID)
		f.Next(updateCheckout, "git pull")
	} else {
		j.listed[g.VMID] = true
		f.Is(finding.WouldDestroy, finding.Why("unlisted"))
		f.Because("in state as %s", r.Address).Because("%s", Describe(g))
		f.Next(updateCheckout, "git pull")
		f.Next("or, if no other checkout has it, restore its entry in "+at.Spec,
			fmt.Sprintf("%s: {vmid: %d}  # and the rest of its entry", r.Key, r.VMID))
	}
	f.Add(finding.DoAll(stopManaging, lock.StateRemove(at.Name, unit, r.Address)))
}

// container judges a container in the state of another unit than that of containers: somebody added
// it to the module.
func (j *judge) container(at *place, unit string, r tf.Resource) {
	f := j.add(at, unit, finding.VM, r.Address)
	f.VMID, f.Resource = r.ActsOn(), r.Address
	f.Is(finding.WouldDestroy, finding.Why("container-in-state")).Because("in state as %s", r.Address)
	if g := j.Inventory.Guest(f.VMID); g != nil {
		j.listed[g.VMID], f.Node, f.Name = true, g.Node, g.Name
		f.Because("%s", Describe(g))
	}
	f.Add(finding.DoAll("stop managing it: remove it from the state", lock.StateRemove(at.Name, unit, r.Address)))
}

// lists reports whether the lock has a resource in the state, or had: a guest of its key and kind.
func (at *place) lists(r tf.Resource) bool {
	if e := at.entries[r.Key]; e != nil {
		return e.Kind.Resource() == r.Type
	}
	return at.former[r.Key]
}

func (j *judge) unlistedPool(at *place, unit string, r tf.Resource) {
	f := j.add(at, unit, finding.Pool, r.Key)
	f.Resource = r.Address
	f.Is(finding.WouldDestroy, finding.Why("unlisted-pool"))
	f.Because("in state as %s", r.Address)
	f.Next("to keep it, restore it in "+at.Spec, "pool: {id: "+finding.Key(r.Key)+", create: true}")
	f.Add(finding.DoAll(stopManaging, lock.StateRemove(at.Name, unit, r.Address)))
}

// orphans lists the guests that are ours by tag or pool and in no spec, and those
// that have the name of a VM and are another one.
func (j *judge) orphans() {
	for _, m := range j.all {
		at := j.places[m.Stack]
		if at == nil {
			continue
		}
		for _, g := range vmsOf(m.Others) {
			if !j.listed[g.VMID] {
				j.orphan(at, g, finding.Why("orphan-by-name"), "the name of "+m.Stack+"/"+m.Key)
			}
		}
	}
	for _, o := range cluster.Orphans(j.Project.Stacks, j.all, j.Inventory) {
		if at := j.places[o.Stack]; at != nil && !j.listed[o.Guest.VMID] {
			j.orphan(at, o.Guest, finding.Why("orphan", o.Mark)).Mark = o.Mark
		}
	}
}

func (j *judge) orphan(at *place, g *cluster.Guest, reason finding.Reason, evidence ...string) *finding.Finding {
	j.listed[g.VMID] = true
	f := j.add(at, "", finding.Guest, fmt.Sprint(g.VMID))
	f.VMID, f.Node, f.Name, f.Container = g.VMID, g.Node, g.Name, g.Kind == guest.Container
	f.Is(finding.Orphan, reason)
	for _, e := range evidence {
		f.Because("%s", e)
	}
	f.Because("%s", Describe(g))
	f.Next("inspect it; no apply touches it", inspect(g))
	if g.Kind == guest.VM {
		f.Add(finding.DoAll("or write it into a spec", finding.Line{Text: "stackgen discover {}", Items: []string{fmt.Sprint(g.VMID)}, Sep: " "}))
	}
	return f
}
