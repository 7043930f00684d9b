package lock

import (
	"fmt"
)

// moves reports whether the records of a unit go on in another one, since the spec
// now says another dns.mode. Such a unit lets go of its records and destroys none.
// It stays until the person says that they have arrived.
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

// moveNotes says how records get from their old units into the new ones, and when
// that is done.
func (d *stackDecider) moveNotes() {
	name, left := d.stack.Name, 0
	for _, u := range d.lock.Units {
		if u.Value.Status == Moving {
			left++
		}
	}
	units := "one unit lets"
	if left > 1 {
		units = fmt.Sprintf("%d units let", left)
	}
	done := fmt.Sprintf("stackgen render --records-moved %s && (cd stacks/%s && terragrunt stack clean)", name, name)
	if d.moving == 0 {
		if left > 0 {
			d.note("%s: %s go of its records with the next apply, if that was not done yet; after it: %s", name, units, done)
		}
		return
	}
	to := "to a unit for each VM"
	if d.stack.DNS.PerStack {
		to = "to the unit " + UnitDNS
	}
	d.note("%s: its records move %s, and %s go of them; DNS answers as before all the while. Now run: stackgen import-blocks && (cd stacks/%s && terragrunt stack run apply), then: %s",
		name, to, units, name, done)
}
