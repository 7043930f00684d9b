package lock

import (
	"fmt"
	"slices"

	"stackgen/schema"
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
	owned := slices.ContainsFunc(d.stack.VMs, func(v *schema.VM) bool {
		e := d.lock.VMs.Get(v.Key)
		return len(v.Records) > 0 && (unit == UnitDNS || e != nil && e.Unit == unit)
	})
	if owned {
		d.moving++
	}
	return owned
}

// arrived says how records get from their old units into the new ones.
func (d *stackDecider) arrived() {
	if d.moving == 0 {
		return
	}
	name, units := d.stack.Name, "one unit lets"
	if d.moving > 1 {
		units = fmt.Sprintf("%d units let", d.moving)
	}
	to := "to a unit for each VM"
	if d.stack.DNS.PerStack {
		to = "to the unit " + UnitDNS
	}
	d.note("%s: its records move %s, and %s go of them; DNS answers as before all the while. Now run: stackgen import-blocks && (cd stacks/%s && terragrunt stack run apply), then: stackgen render --records-moved %s && (cd stacks/%s && terragrunt stack clean)",
		name, to, units, name, name, name)
}
