package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// records judges the DNS records of a stack's VMs.
func (j *judge) records(at *place) {
	wanted := map[string]bool{} // unit and name; full names alone
	if at.DNS != nil {
		for _, vm := range at.VMs {
			unit := at.recordUnit(vm)
			for _, r := range vm.Records {
				wanted[unit+"\x00"+r.Name], wanted[strings.ToLower(at.DNS.FQDN(r.Name))] = true, true
				j.record(at, unit, vm, r)
			}
		}
	}
	for _, e := range at.lock.Units {
		for _, r := range j.State[tf.Unit{Stack: at.Name, Unit: e.Key}].Resources {
			switch {
			case r.Type != guest.RecordResource || wanted[e.Key+"\x00"+r.Key]:
			case e.Value.Status == lock.Moving:
				if !wanted[strings.ToLower(r.ID)] { // else the finding of its new unit covers it
					j.leftBehind(at, e.Key, r)
				}
			default:
				j.unwanted(at, e, r)
			}
		}
	}
}

// recordUnit is the unit that has the records of a VM.
func (at *place) recordUnit(vm *schema.VM) string {
	if e := at.entries[vm.Key]; !at.DNS.PerStack && e != nil {
		return e.Unit
	}
	return lock.UnitDNS
}

// record judges one record of a VM.
func (j *judge) record(at *place, unit string, vm *schema.VM, r schema.Record) {
	name := at.DNS.FQDN(r.Name)
	states, unreadable := j.find(at, unit, guest.RecordResource, r.Name)
	if j.Destroy && unreadable == "" && len(states) == 0 {
		return // a destroy does nothing about it
	}
	f := j.add(at, unit, finding.Record, name)
	f.Name = r.Name
	f.Resource = fmt.Sprintf("%s.this[%q]", guest.RecordResource, r.Name)
	f.Owner, f.Container = vm.Key, vm.IsContainer()
	if known := j.addresses(at, vm); len(known) == 1 {
		f.IPv4 = known[0]
	}
	answer := j.index.records[strings.ToLower(name)]
	defer j.withoutAddress(at, f, vm)
	switch {
	case unreadable != "":
		j.stateUnknown(f, unreadable)
	case j.NoDNSKey && at.DNS.KeyName != "":
		f.Is(finding.Unknown,
			finding.Why("no-dns-key"))
		f.Next("set it to the secret of the key "+at.DNS.KeyName+", then run this again",
			"read -rs DNS_UPDATE_KEYSECRET && export DNS_UPDATE_KEYSECRET")
	case answer == nil || answer.Error != "":
		why := "DNS was not queried for it"
		if answer != nil {
			why = answer.Error
		}
		f.Is(finding.Unknown, finding.Why("dns-not-known", why))
		f.Next("query it, then run preflight again",
			fmt.Sprintf("dig %s -p %d %s A", shell.Word("@"+at.DNS.Server), at.DNS.Port, shell.Word(name)))
	case j.zoneMeetsOther(at, vm, states, answer, name):
		f.Is(finding.Conflict, finding.Why("record-of-other-address"))
		f.Because("DNS has %s", strings.Join(answer.Addresses, " "))
		f.Because("the state has %s: an apply would add the address of the %s to %s, and later remove the others", states[0].ID, f.Word(), name)
		f.Add(finding.DoAll("if nothing uses it, remove it, then run preflight again", removal(at.DNS.Server, at.DNS.Port, f.Key, "A")))
		f.Next("if it is not yours, publish another name: write into "+at.Spec, specLine(vm, "dns: {records: [NAME]}"))
	case len(states) > 0 && len(answer.Addresses) > 0:
		f.Is(finding.Managed, finding.Why("record-agrees")).Because("DNS has %s", strings.Join(answer.Addresses, " "))
	case len(states) > 0:
		f.Is(finding.Create, finding.Why("record-without-address"))
	case answer.Wildcard:
		f.Is(finding.Create, finding.Why("record-under-wildcard"))
	case answer.CNAME != "":
		f.Is(finding.Conflict, finding.Why("record-is-alias"))
		f.Because("it is an alias of %s", answer.CNAME)
		f.Add(finding.DoAll("remove the alias", removal(at.DNS.Server, at.DNS.Port, name, "CNAME")))
		f.Next("or publish another name: write into "+at.Spec, specLine(vm, "dns: {records: [NAME]}"))
	case len(answer.Addresses) == 0:
		f.Is(finding.Create, finding.Why("record-free"))
	case j.formerUnit(at, name) != "":
		f.Is(finding.Adopt, finding.Why("record-handed-over"))
		f.Because("DNS has %s; unit %s forgets it", strings.Join(answer.Addresses, " "), j.formerUnit(at, name))
		f.Import = f.Key
		compareTTL(f, r, answer)
	case j.unitWith(at, lock.Live, name) != "": // not its own, whose state does not have it
		f.Is(finding.Conflict, finding.Why("record-of-other-vm"))
		f.Because("DNS has %s, in the state of unit %s", strings.Join(answer.Addresses, " "), j.unitWith(at, lock.Live, name))
		f.Next("leave it out of "+vm.Path+" in "+at.Spec+" until an apply has removed it there", "stackgen render", lock.ApplyStack(at.Name))
	case !j.Partial && j.unitWith(at, lock.Retired, name) != "":
		f.Is(finding.Create, finding.Why("record-of-retired-unit"))
		f.Because("DNS has %s, in the state of unit %s", strings.Join(answer.Addresses, " "), j.unitWith(at, lock.Retired, name))
	default:
		j.existing(at, f, vm, r, answer)
	}
}

// zoneMeetsOther reports whether the spec has another zone than the state, and the name there has other addresses than the VM's.
// The provider creates a record by adding an address to what is there.
func (j *judge) zoneMeetsOther(at *place, vm *schema.VM, states []tf.Resource, answer *cluster.Record, name string) bool {
	if len(states) == 0 || states[0].ID == "" || strings.EqualFold(states[0].ID, name) || answer == nil || answer.Wildcard {
		return false
	}
	expected := j.addresses(at, vm)
	return slices.ContainsFunc(answer.Addresses, func(a string) bool { return !slices.Contains(expected, a) })
}

// formerUnit is the unit that hands a record over, or "". That the record is in
// its state proves that it is ours.
func (j *judge) formerUnit(at *place, name string) string { return j.unitWith(at, lock.Moving, name) }

// unitWith is the unit with a status that has a record in its state, or "".
func (j *judge) unitWith(at *place, status, name string) string {
	for _, e := range at.lock.Units {
		if e.Value.Status == status && slices.ContainsFunc(j.State[tf.Unit{Stack: at.Name, Unit: e.Key}].Resources, func(r tf.Resource) bool {
			return r.Type == guest.RecordResource && strings.EqualFold(r.ID, name)
		}) {
			return e.Key
		}
	}
	return ""
}

// leftBehind is a record that its unit hands over, and that no other unit wants.
func (j *judge) leftBehind(at *place, unit string, r tf.Resource) {
	f := j.add(at, unit, finding.Record, r.ID)
	f.Name, f.Resource = r.Key, r.Address
	f.Is(finding.WouldDestroy,
		finding.Why("record-left-behind"))
	f.Because("unit %s", unit)
	f.Next("remove it with its unit first: restore the former dns.mode in "+at.Spec, "stackgen render", lock.ApplyStack(at.Name))
	f.Add(finding.DoAll("or leave it in DNS, and remove it from the state", lock.StateRemove(at.Name, unit, r.Address)))
}

// compareTTL says that a record with another TTL than the spec's is replaced.
func compareTTL(f *finding.Finding, r schema.Record, answer *cluster.Record) {
	if answer.TTL > 0 && answer.TTL != r.TTL {
		f.Because("its TTL is %d, and the spec says %d: the apply replaces the record", answer.TTL, r.TTL)
	}
}

// existing is a record that DNS has and no state. It is ours if its address is
// the VM's, or, where that is not known, if the VM exists and is ours, and the lock did
// not see another address of it last. A create would only add an address to it.
func (j *judge) existing(at *place, f *finding.Finding, vm *schema.VM, r schema.Record, answer *cluster.Record) {
	addresses := strings.Join(answer.Addresses, " ")
	expected := j.addresses(at, vm)
	exists := j.exists(at, vm)
	same := len(answer.Addresses) == 1 && slices.Contains(expected, answer.Addresses[0])
	last, silent := "", len(expected) == 0 && exists && len(answer.Addresses) == 1
	if silent {
		last = j.lastOther(at, vm, answer.Addresses[0])
	}
	ours := same || silent && last == ""
	other, address := j.inOtherStack(at, f.Key)
	importing := lock.InUnit(at.Name, f.Unit, "terragrunt import "+shell.Quote(f.Resource)+" "+shell.Word(f.Key))
	switch {
	case other != nil:
		f.Is(finding.Conflict, finding.Why("record-of-other-stack", other.Stack))
		f.Because("DNS has %s, in the state of %s", addresses, other)
		if ours {
			importing = "stackgen import-blocks"
		}
		if ours || exists && last == "" { // OpenTofu imports nothing for a VM that its unit has not made
			f.Add(finding.DoAll("if it is that of this "+f.Word()+" now, remove it from the state there, then import it here",
				lock.StateRemove(other.Stack, other.Unit, address), importing))
		}
		f.Next("or let an apply of stack "+other.Stack+" remove it from DNS first", lock.ApplyStack(other.Stack))
		return
	case same:
		f.Is(finding.Adopt, finding.Why("record-in-no-state")).Because("DNS has %s", addresses)
	case ours:
		f.Is(finding.Adopt, finding.Why("record-of-existing-vm"))
		f.Because("DNS has %s; an apply corrects it if the %s has another address", addresses, f.Word())
	default:
		f.Is(finding.Conflict, finding.Why("record-of-other-address"))
		f.Because("DNS has %s", addresses)
		if len(expected) > 0 {
			f.Because("the %s's address is %s", f.Word(), strings.Join(expected, " "))
		}
		f.Add(finding.DoAll("if nothing uses it, remove it, then run preflight again", removal(at.DNS.Server, at.DNS.Port, f.Key, "A")))
		if last != "" { // nothing is imported for a VM without an address
			f.Because("the %s reports no address, and the last one that the lock saw is %s", f.Word(), last)
			f.Next("if it is that of this " + f.Word() +
				", start it or its agent, then run preflight again: that compares the address that it reports")
		} else {
			f.Next("if it is that of this "+f.Word()+", import it: an apply corrects the address", importing)
		}
		f.Next("if it is not yours, publish another name: write into "+at.Spec, specLine(vm, "dns: {records: [NAME]}"))
		return
	}
	f.Import = f.Key
	compareTTL(f, r, answer)
}

// lastOther is the IPv4 address that the lock saw last of a VM, or empty if it saw none or the one that DNS has.
func (j *judge) lastOther(at *place, vm *schema.VM, inDNS string) string {
	e := at.entries[vm.Key]
	if e == nil || slices.Contains(e.Addresses, inDNS) {
		return ""
	}
	return lastIPv4(e.Addresses)
}

// addresses are the known addresses of a VM: from its spec, or from its agent.
func (j *judge) addresses(at *place, vm *schema.VM) []string {
	if vm.Address.IsValid() {
		return []string{vm.Address.Addr().String()}
	}
	if m := j.matches[at.Name+"/"+vm.Key]; m != nil && m.Guest != nil && m.Guest.Config != nil {
		return m.Guest.Config.Address
	}
	return nil
}

// removal is the line that removes a record from DNS.
func removal(server string, port int, name, kind string) finding.Line {
	return finding.Line{
		Text:  `printf '%s\n' ` + shell.Quote(fmt.Sprintf("server %s %d", server, port)) + " {} send | nsupdate -k KEYFILE",
		Items: []string{shell.Quote("update delete " + name + " " + kind)}, Sep: " ",
	}
}

func unique(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
