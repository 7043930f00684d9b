package guard

import (
	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// RecordsLeft refuses an apply of a unit of guests that would destroy a retired one
// whose records are still in the state of its unit: they would stay in DNS. The
// states of the units were read after all units before the VM unit were applied.
func RecordsLeft(in Input, of tf.Unit, units []tf.Unit) []finding.Finding {
	entries := in.Lock.Stacks.Get(of.Stack).VMs.ByKey()
	destroyed := map[string]string{} // unit -> VM
	for _, r := range in.State[of].Resources {
		if e := entries[r.Key]; e != nil && of.Manages(r.Type) && e.Status == lock.Retired {
			destroyed[e.Unit], destroyed[lock.UnitDNS] = r.Key, r.Key // of dns.mode per-vm, and per-stack
		}
	}
	var out []finding.Finding
	for _, u := range units {
		key, ok := destroyed[u.Unit]
		if !ok {
			continue
		}
		for _, r := range in.State[u].Resources {
			if r.Type != guest.RecordResource || in.wants(u, r.Key) {
				continue
			}
			f := finding.Finding{Address: finding.Address{Stack: of.Stack, Unit: u.Unit, Type: finding.Record, Key: r.ID}}
			f.Resource = r.Address
			f.Is(finding.Retiring, finding.Why("record-of-retired-vm"))
			f.Because("%s %s", of.Kind().Name(), key)
			f.Next("apply the whole stack: it removes the record, too", lock.ApplyStack(of.Stack))
			f.Severity = finding.Blocked
			out = append(out, f)
		}
	}
	return out
}

// wants reports whether a VM of the unit's stack asks for a record.
func (in Input) wants(u tf.Unit, name string) bool {
	for _, s := range in.Project.Stacks {
		for _, v := range s.VMs {
			for _, r := range v.Records {
				if s.Name == u.Stack && r.Name == name {
					return true
				}
			}
		}
	}
	return false
}
