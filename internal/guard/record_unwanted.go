package guard

import (
	"net/netip"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// unwanted is a record that the state has and no VM of the unit asks for any more: an apply of the unit deletes it. That
// is right unless the name is in use otherwise: another unit manages it by now, or it is that of a forgotten VM.
func (j *judge) unwanted(at *place, unit lock.Entry[lock.Unit], r tf.Resource) {
	f := j.add(at, unit.Key, finding.Record, r.ID)
	f.Name, f.Resource = r.Key, r.Address
	stateRemove := lock.StateRemove(at.Name, unit.Key, r.Address)
	by, forgotten := j.wanter(at, r.ID), j.mayBeForgotten(at, unit.Key, r)
	switch {
	case unit.Value.Status == lock.Forgotten:
		f.Is(finding.WouldDestroy, finding.Why("record-unit-forgotten"))
		f.Because("unit %s", unit.Key)
		f.Add(finding.DoAll("remove it from the state", stateRemove))
	case by != nil && j.mayManage(by.unit, r.ID) != "":
		f.Is(finding.WouldDestroy, finding.Why("record-of-two-units"))
		f.Because("%s/%s asks for it, and %s", by.unit.Stack, by.vm, j.mayManage(by.unit, r.ID))
		f.Add(finding.DoAll("remove it from the state here: DNS keeps it", stateRemove))
	case len(forgotten) > 0:
		f.Is(finding.WouldDestroy, finding.Why("record-of-forgotten"))
		if len(r.Addresses) > 0 {
			f.Because("the state has %s for it", strings.Join(r.Addresses, " "))
		}
		for _, e := range forgotten {
			f.Because("forgotten: %s, VMID %d", e.Key, e.Value.VMID)
		}
		f.Add(finding.DoAll("to keep it in DNS, remove it from the state", stateRemove))
		if dns := at.lock.DNS; dns != nil {
			f.Add(finding.Step{What: "or, if nothing uses it, remove it from the state and from DNS",
				Lines: []finding.Line{stateRemove, removal(dns.Server, dns.Port, r.ID, "A")}})
		}
	case by != nil && by.unit.Stack != at.Name:
		f.Is(finding.Retiring, finding.Why("record-for-other-stack", by.unit.Stack))
		f.Because("%s/%s asks for it", by.unit.Stack, by.vm)
	default:
		f.Is(finding.Retiring, finding.Why("record-unwanted"))
	}
}

// mayManage says that the state of a unit has a record, or that it is not known whether it has. It is empty if the
// unit certainly does not manage the record.
func (j *judge) mayManage(u tf.Unit, name string) string {
	state, read := j.State[u]
	switch l := j.Lock.Stacks.Get(u.Stack); {
	case l == nil || l.Units.Get(u.Unit) == nil: // it was never rendered
		return ""
	case !read:
		return "the state of " + u.String() + " was not read"
	case state.Unreadable != "":
		return "the state of " + u.String() + " could not be read: " + state.Unreadable
	case hasRecord(state, name):
		return "the state of " + u.String() + " has it"
	}
	return ""
}

// hasRecord reports whether a state has a record, by its full name.
func hasRecord(state tf.State, name string) bool {
	return slices.ContainsFunc(state.Resources, func(r tf.Resource) bool {
		return r.Type == guest.RecordResource && strings.EqualFold(r.ID, name)
	})
}

// mayBeForgotten are the forgotten VMs that exist and that a record of a unit may belong to. No spec and no lock has the names
// that they had; names and addresses that the state, the lock and the cluster have tell which VM it was, as far as they are known.
func (j *judge) mayBeForgotten(at *place, unit string, r tf.Resource) []lock.Entry[lock.VM] {
	left := func(e lock.Entry[lock.VM]) bool {
		return e.Value.Status == lock.Forgotten && !e.Value.Gone && (unit == lock.UnitDNS || unit == e.Value.Unit)
	}
	if !slices.ContainsFunc(at.lock.VMs, left) {
		return nil
	}
	var possible, certain []lock.Entry[lock.VM]
	explained := false
	for _, e := range at.lock.VMs {
		its := j.hasNameOrAddress(at, &e, r)
		switch {
		case !left(e):
			explained = explained || its && e.Value.Status != lock.Forgotten
		case its:
			certain = append(certain, e)
		default:
			possible = append(possible, e)
		}
	}
	if len(certain) > 0 || explained {
		return certain
	}
	return possible
}

// hasNameOrAddress reports whether a record has the name of a VM, which is that of its record unless its spec says
// another one, or no address but those of the VM.
func (j *judge) hasNameOrAddress(at *place, e *lock.Entry[lock.VM], r tf.Resource) bool {
	addresses, names := slices.Clone(e.Value.Addresses), []string{}
	if m := j.matches[at.Name+"/"+e.Key]; m != nil {
		if m.VM != nil {
			names = append(names, m.VM.Name)
			addresses = append(addresses, j.addresses(at, m.VM)...)
		}
		if m.Guest != nil {
			names = append(names, m.Guest.Name)
		}
		if m.Guest != nil && m.Guest.Config != nil {
			addresses = append(addresses, m.Guest.Config.Address...)
		}
	}
	states, _ := j.find(at, e.Value.In(), e.Value.Kind.Resource(), at.keys(e.Key, &e.Value)...)
	for i := range states {
		names = append(names, states[i].Name)
		addresses = append(addresses, ipv4In(states[i].Values)...)
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, r.Key) }) {
		return true
	}
	return len(r.Addresses) > 0 && !slices.ContainsFunc(r.Addresses, func(a string) bool { return !slices.Contains(addresses, a) })
}

// ipv4In are the addresses in the state of a guest: those that the spec gave it, and those that were read.
func ipv4In(values tf.Values) []string {
	var out []string
	for path, value := range values {
		if !strings.Contains(path, guest.IPv4) || strings.HasSuffix(path, guest.Gateway) {
			continue
		}
		for _, word := range strings.Fields(value) { // ipv4_addresses is a list of lists
			word, _, _ = strings.Cut(strings.Trim(word, "[]"), "/")
			if ip, err := netip.ParseAddr(word); err == nil && ip.Is4() && !ip.IsLoopback() {
				out = append(out, word)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A wanter is a VM that asks for a record.
type wanter struct {
	unit tf.Unit // that would have the record
	vm   string
	dns  *schema.DNS
}

// addWanters adds the records that the VMs of a stack ask for, by lower-case full name. No two VMs of a project ask for one.
func (x index) addWanters(s *schema.Stack, l *lock.Stack) {
	if s.DNS == nil || l == nil {
		return
	}
	at := &place{Stack: s, lock: l, entries: l.VMs.ByKey()}
	for _, vm := range s.VMs {
		unit := tf.Unit{Stack: s.Name, Unit: at.recordUnit(vm)}
		for _, r := range vm.Records {
			x.wanters[strings.ToLower(s.DNS.FQDN(r.Name))] = &wanter{unit, vm.Key, s.DNS}
		}
	}
}

// wanter is the VM that asks for a record in the state of a stack, by the record's full name, or nil. Servers with one
// zone, such as one for each side of a firewall, have other records.
func (x index) wanter(at *place, name string) *wanter {
	w := x.wanters[strings.ToLower(name)]
	if w == nil || !sameServer(at.lock.DNS, w.dns) {
		return nil
	}
	return w
}

// sameServer reports whether a stack has its records on the server of another one. What is not known may be the same.
func sameServer(l *lock.DNS, s *schema.DNS) bool {
	return l == nil || strings.EqualFold(l.Server, s.Server) && l.Port == s.Port
}

// inOtherStack is the unit of another stack that has a record of the spec in its state, and its address there; nil if there
// is none. A forgotten unit is never applied again.
func (j *judge) inOtherStack(at *place, name string) (*tf.Unit, string) {
	for _, s := range j.Lock.Stacks {
		if s.Key == at.Name || s.Value.Status == lock.Forgotten || !sameServer(s.Value.DNS, at.DNS) {
			continue
		}
		for _, e := range s.Value.Units {
			u := tf.Unit{Stack: s.Key, Unit: e.Key}
			if e.Value.Status == lock.Forgotten {
				continue
			}
			for _, r := range j.State[u].Resources {
				if r.Type == guest.RecordResource && strings.EqualFold(r.ID, name) {
					return &u, r.Address
				}
			}
		}
	}
	return nil, ""
}

// RecordUnits are the units of stacks that are not selected whose states say what happens to records of the selected
// ones: those that may have got a record which a selected stack is about to delete, and, if DNS has a name that is
// in no state of its stack, those that may have it.
func RecordUnits(in Input) []tf.Unit {
	if in.Inventory == nil { // nothing is judged
		return nil
	}
	x := newIndex(in)
	wanted := map[tf.Unit]bool{}
	for _, s := range in.Project.Stacks {
		at := x.places[s.Name]
		if at == nil {
			continue
		}
		for _, e := range at.lock.Units {
			x.addWanting(in.State[tf.Unit{Stack: s.Name, Unit: e.Key}], at, wanted)
		}
		x.addForeign(in, at, wanted)
	}
	var out []tf.Unit
	for _, l := range in.Lock.Stacks {
		for _, e := range l.Value.Units {
			u := tf.Unit{Stack: l.Key, Unit: e.Key}
			if _, read := in.State[u]; wanted[u] && !read && !in.Selected(l.Key) && e.Value.Status != lock.Forgotten {
				out = append(out, u)
			}
		}
	}
	return out
}

// addWanting adds the units of the VMs that ask for the records in a state of a stack.
func (x index) addWanting(state tf.State, at *place, wanted map[tf.Unit]bool) {
	for _, r := range state.Resources {
		if w := x.wanter(at, r.ID); r.Type == guest.RecordResource && w != nil {
			wanted[w.unit] = true
		}
	}
}

// addForeign adds all units of records on the server of a stack if DNS has a name of the stack that none of its states has.
func (x index) addForeign(in Input, at *place, wanted map[tf.Unit]bool) {
	if at.DNS == nil || !slices.ContainsFunc(at.VMs, func(vm *schema.VM) bool {
		return slices.ContainsFunc(vm.Records, func(r schema.Record) bool { return x.foreign(in, at, at.DNS.FQDN(r.Name)) })
	}) {
		return
	}
	for _, l := range in.Lock.Stacks {
		if l.Value.DNS == nil || l.Value.Status == lock.Forgotten || !sameServer(l.Value.DNS, at.DNS) {
			continue
		}
		for _, e := range l.Value.Units {
			if u := (tf.Unit{Stack: l.Key, Unit: e.Key}); u.HasRecords() {
				wanted[u] = true
			}
		}
	}
}

// foreign reports whether DNS has a name that no state of its stack has.
func (x index) foreign(in Input, at *place, name string) bool {
	answer := x.records[strings.ToLower(name)]
	if answer == nil || len(answer.Addresses) == 0 || answer.Wildcard {
		return false
	}
	return !slices.ContainsFunc(at.lock.Units, func(e lock.Entry[lock.Unit]) bool {
		return hasRecord(in.State[tf.Unit{Stack: at.Name, Unit: e.Key}], name)
	})
}
