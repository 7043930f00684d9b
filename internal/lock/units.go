package lock

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// The names of the units that are not one VM's.
const (
	UnitPool = "proxmox-pool"
	UnitVM   = guest.VMUnit
	UnitDNS  = "dns"

	UnitContainer = guest.ContainerUnit
)

// UnitOf is the unit of the guests of a kind.
func UnitOf(kind guest.Kind) string { return kind.Unit() }

// HasGuests reports whether a unit is one of guests.
func HasGuests(unit string) bool { return unit == UnitVM || unit == UnitContainer }

// containers reports whether the stack has containers, or had some: their unit remains, as that of
// VMs does.
func (d *stackDecider) containers() bool {
	return d.lock.Units.Get(UnitContainer) != nil || slices.ContainsFunc(d.lock.VMs, func(e Entry[VM]) bool { return e.Value.IsContainer() })
}

// units records the units that the stack has now, and the status of those it had:
// a unit that is removed from the stack file keeps its state and its resources, so
// it must not be removed by accident.
func (d *stackDecider) units() {
	status := map[string]string{UnitVM: Live}
	create := d.stack.Pool != nil && d.stack.Pool.Create
	if create {
		status[UnitPool] = Live
	}
	if d.containers() {
		status[UnitContainer] = Live
	}
	d.dnsUnits(status)
	recorded := d.lock.Units.ByKey()
	for _, e := range d.lock.VMs {
		// The refusal of a VM covers its unit as well.
		if d.inSpec[e.Key] == nil && recorded[e.Value.Unit] != nil {
			status[e.Value.Unit] = e.Value.Status
		}
	}
	var out Ordered[Unit]
	var left []string
	d.pool(create)
	for _, e := range d.lock.Units {
		now, known := status[e.Key]
		delete(status, e.Key)
		switch {
		case known:
		case d.retired[e.Key] && !d.isGuest(e.Key):
			now = Retired
		case d.forgotten[e.Key] && !d.isGuest(e.Key):
			now = Forgotten
		case e.Value.Status == Moving && slices.Contains(d.options.RecordsMoved, d.stack.Name):
			continue
		case d.moves(e.Key, e.Value.Status):
			now = Moving
		case e.Value.Status == Forgotten:
			now = Forgotten // its state may still have its resources
		case e.Value.Status == Retired && !e.Value.Gone:
			now = Retired
			d.refuseUnseen(finding.Unit, e.Key, "retired-unit-unseen")
		case e.Value.Status != Live:
			left = append(left, e.Key)
			continue // its line is gone
		default:
			d.unitGone(e.Key)
		}
		u := e.Value
		u.Status, u.Gone = now, u.Gone && now == Retired
		out = append(out, Entry[Unit]{e.Key, u})
	}
	for name, s := range status {
		out = append(out, Entry[Unit]{name, Unit{Status: s}})
	}
	if u := out.Get(UnitPool); u != nil && create {
		u.Applied = u.Applied && u.Pool == d.stack.Pool.ID
		u.Pool = d.stack.Pool.ID
	}
	slices.SortFunc(out, func(a, b Entry[Unit]) int { return natural.Compare(a.Key, b.Key) })
	d.lock.Units = out
	d.moveNotes()
	if len(left) > 0 {
		d.note("%s: removed from the lock: %s", d.stack.Name, strings.Join(left, ", "))
	}
}

// pool refuses to destroy a pool that has VMs.
func (d *stackDecider) pool(create bool) {
	was := d.lock.Units.Get(UnitPool)
	if was == nil || was.Pool == "" || was.Status != Live {
		return
	}
	if create && d.stack.Pool.ID != was.Pool {
		spec := d.lock.Spec
		d.refuse(finding.OtherPool, finding.Pool, was.Pool,
			finding.Why("other-pool", spec, d.stack.Pool.ID),
			finding.Do("restore in "+spec, "pool: {id: "+finding.Key(was.Pool)+", create: true}"),
			finding.Step{What: "or let the guests join a pool that exists, then destroy this one: in " + spec,
				Lines: append(finding.Lines("pool: {id: "+finding.Key(d.stack.Pool.ID)+"}"), Entries("retired", d.stack.Retired, UnitPool))})
	}
	inside := slices.ContainsFunc(d.stack.VMs, func(v *schema.VM) bool { return v.PoolID == was.Pool })
	if !create && inside && d.retired[UnitPool] {
		d.clash(listPos(d.stack.Retired, UnitPool), "retired",
			"remove pool too; preflight then prints how to take the guests out of the pool",
			"the pool is in retired, but guests are still in it")
	}
}

// dnsUnits gives every VM with records its unit. A VM never changes its unit,
// also when it is renamed.
func (d *stackDecider) dnsUnits(status map[string]string) {
	if d.stack.DNS != nil && d.stack.DNS.PerStack {
		if slices.ContainsFunc(d.stack.VMs, func(v *schema.VM) bool { return len(v.Records) > 0 }) {
			status[UnitDNS] = Live
		}
		return
	}
	taken, entries := map[string]bool{}, d.lock.VMs.ByKey()
	for _, e := range entries {
		taken[e.Unit] = true
	}
	for _, v := range d.stack.VMs {
		if len(v.Records) == 0 {
			continue
		}
		e := entries[v.Key]
		for i := 1; e.Unit == ""; i++ {
			name := UnitDNS + "-" + v.Key
			if i > 1 {
				name = fmt.Sprintf("%s-%d", name, i)
			}
			if !taken[name] {
				e.Unit, taken[name] = name, true
			}
		}
		status[e.Unit] = Live
	}
}

// isGuest reports whether a guest that may exist has the name of a unit as its key, such as dns. Then the lists of the spec
// name the guest.
func (d *stackDecider) isGuest(unit string) bool {
	was := d.old[unit]
	return d.inSpec[unit] != nil || was != nil && !was.Gone
}

// unitGone refuses to drop a unit that the spec no longer asks for.
func (d *stackDecider) unitGone(unit string) {
	spec := d.lock.Spec
	restore := "restore what asked for it in " + spec
	if d.isGuest(unit) {
		d.refuse(finding.Removed, finding.Unit, unit, finding.Why("unit-unwanted", spec), finding.Do(restore),
			finding.Do("or give the guest another key, or destroy it, first: then `retired` and `forgotten` in "+spec+" name the unit"))
		return
	}
	into := "destroy its resources: " + d.into("retired", d.stack.Retired != nil)
	what := into + ", then render and apply"
	lines := []string{"stackgen render", d.applies()}
	if d.leavesGuests() { // the same for all units, whose lines a report joins
		what = into + ", then render and run preflight, which prints how to take the guests out of the pool"
		lines = lines[:1]
	}
	d.refuse(finding.Removed, finding.Unit, unit,
		finding.Why("unit-unwanted", spec),
		finding.DoAll(what, Entries("retired", d.stack.Retired, unit), lines...),
		finding.DoAll("or stop managing its resources: "+d.into("forgotten", d.stack.Forgotten != nil)+", then render",
			Entries("forgotten", d.stack.Forgotten, unit), "stackgen render"),
		finding.Do("or "+restore))
}

// leavesGuests reports whether VMs of the stack may stay in its pool, which the spec has no more: those that an apply
// neither destroys nor moves into another pool. Proxmox VE deletes only an empty pool, the provider does not remove VMs
// from it, and which guests are in it only the cluster says.
func (d *stackDecider) leavesGuests() bool {
	was := d.lock.Units.Get(UnitPool)
	if was == nil || was.Pool == "" || was.Status != Live || d.stack.Pool != nil && d.stack.Pool.Create ||
		d.retired[UnitPool] || d.forgotten[UnitPool] {
		return false
	}
	leaves := map[string]bool{}
	for _, v := range d.stack.VMs {
		leaves[v.Key] = v.PoolID != "" && v.PoolID != was.Pool
	}
	return slices.ContainsFunc(d.lock.VMs, func(e Entry[VM]) bool { return e.Value.Status != Retired && !leaves[e.Key] })
}
