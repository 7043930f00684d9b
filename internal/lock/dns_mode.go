package lock

import (
	"fmt"
)

// moves reports whether the records of a unit move to another one, because the
// spec now has another dns.mode. Such a unit removes its records from its state and
// destroys none. It stays until the user confirms that they have moved.
func (d *stackDecider) moves(unit, status string) bool {
	was := d.decider.old.Stacks.Get(d.stack.Name)
	switch {
	case status == Moving:
		return true
	case status != Live, d.stack.DNS == nil, was == nil, was.DNS == nil, was.DNS.Zone != d.stack.DNS.Zone:
		return false // records of another zone are other records
	case !d.stack.DNS.PerStack && unit != UnitDNS:
		return false
	}
	if d.publishing == nil {
		d.publishing = d.publishingUnits()
	}
	if d.publishing[unit] {
		d.moving++
	}
	return d.publishing[unit]
}

// publishingUnits returns the units, of either dns.mode, that have had the
// records which the spec asks for.
func (d *stackDecider) publishingUnits() map[string]bool {
	out, entries := map[string]bool{}, d.lock.VMs.ByKey()
	for _, v := range d.stack.VMs {
		if len(v.Records) == 0 {
			continue
		}
		out[UnitDNS] = true
		if e := entries[v.Key]; e != nil {
			out[e.Unit] = true
		}
	}
	return out
}

// moveNotes says how records move from their old units to the new ones, and how to
// end that.
func (d *stackDecider) moveNotes() {
	name, left := d.stack.Name, 0
	for _, u := range d.lock.Units {
		if u.Value.Status == Moving {
			left++
		}
	}
	units := "one unit removes"
	if left > 1 {
		units = fmt.Sprintf("%d units remove", left)
	}
	done := "stackgen render --records-moved " + name
	if d.moving == 0 {
		if left > 0 {
			d.note("%s: %s its records from the state with the next apply; after it, run: %s", name, units, done)
		}
		return
	}
	to := "to a unit for each VM"
	if d.stack.DNS.PerStack {
		to = "to the unit " + UnitDNS
	}
	d.note("%s: its records move %s, and %s them from the state; DNS keeps them all the time. "+
		"Now run: stackgen import-blocks && %s, then: %s", name, to, units, ApplyStack(name), done)
}
