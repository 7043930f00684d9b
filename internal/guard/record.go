package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// records judges the DNS records of a stack's VMs.
func (j *judge) records(at *place) {
	wanted := map[string]bool{} // unit and name; full names alone
	if at.DNS != nil {
		for _, vm := range at.VMs {
			unit := lock.UnitDNS
			if e := at.lock.VMs.Get(vm.Key); !at.DNS.PerStack && e != nil {
				unit = e.Unit
			}
			for _, r := range vm.Records {
				wanted[unit+"\x00"+r.Name], wanted[strings.ToLower(at.DNS.FQDN(r.Name))] = true, true
				j.record(at, unit, vm, r)
			}
		}
	}
	for _, e := range at.lock.Units {
		for _, r := range j.State[UnitID{at.Name, e.Key}].Resources {
			switch {
			case r.Type != TypeRecord || wanted[e.Key+"\x00"+r.Key]:
			case e.Value.Status == lock.Moving:
				if !wanted[strings.ToLower(r.ID)] { // else its new unit's verdict says all
					j.leftBehind(at, e.Key, r)
				}
			default:
				j.unwanted(at, e, r)
			}
		}
	}
}

// unwanted is a record that the state has and no VM asks for any more.
func (j *judge) unwanted(at *place, unit lock.Entry[lock.Unit], r Resource) {
	v := j.add(at, unit.Key, finding.Record, r.ID)
	v.Resource = r.Address
	if unit.Value.Status == lock.Forgotten {
		v.Is(finding.WouldDestroy).Because("unit %s is forgotten, and the record still in its state: a run in a folder that was left behind would remove it", unit.Key)
		v.Next("take it out of the state, and leave it alone from then on", inUnit(at.Name, unit.Key, "terragrunt state rm "+shell.Quote(r.Address))...)
		return
	}
	v.Is(finding.Retiring).Because("no VM asks for the record any more: the next apply removes it")
}

func (j *judge) record(at *place, unit string, vm *schema.VM, r schema.Record) {
	name := at.DNS.FQDN(r.Name)
	held, problem := j.held(at, unit, TypeRecord, r.Name)
	if j.Destroy && problem == "" && len(held) == 0 {
		return // a destroy has nothing to do with it
	}
	v := j.add(at, unit, finding.Record, name)
	v.Name = r.Name
	v.Resource = fmt.Sprintf("%s.this[%q]", TypeRecord, r.Name)
	v.Owner = vm.Key
	if known := j.addresses(at, vm); len(known) == 1 {
		v.IPv4 = known[0]
	}
	answer := j.answer(name)
	switch {
	case problem != "":
		unread(v, problem)
	case answer == nil || answer.Error != "":
		why := "nobody asked for it"
		if answer != nil {
			why = answer.Error
		}
		v.Is(finding.Unknown).Because("what DNS has for %s is not known: %s", name, why)
		v.Next("ask, then look again", fmt.Sprintf("dig @%s -p %d %s A", at.DNS.Server, at.DNS.Port, name))
	case len(held) > 0 && len(answer.Addresses) > 0:
		v.Is(finding.Managed).Because("DNS has %s", strings.Join(answer.Addresses, " "))
	case len(held) > 0:
		v.Is(finding.Create).Because("it is in state, and DNS has no address for it: an apply publishes it again")
	case answer.Wildcard && len(held) == 0:
		v.Is(finding.Create).Because("DNS has no %s; a wildcard answers in its place", name)
	case answer.CNAME != "":
		v.Is(finding.Conflict).Because("%s is an alias of %s; an address beside it is refused by DNS, after the VM was created", name, answer.CNAME)
		v.Next("remove the alias", deletion(at, name, "CNAME")...)
		v.Next("or publish another name: in "+at.Spec+", "+vm.Path, "dns: {records: [NAME]}")
	case len(answer.Addresses) == 0:
		v.Is(finding.Create).Because("DNS has no %s", name)
	case j.giver(at, name) != "":
		v.Is(finding.Adopt).Because("DNS has %s for it, from unit %s, which hands it over and forgets it", strings.Join(answer.Addresses, " "), j.giver(at, name))
		v.Import = v.Key
		ttl(v, r, answer)
	default:
		j.existing(at, v, vm, r, answer)
	}
}

// giver is the unit that hands a record over, or "": the proof that it is ours.
func (j *judge) giver(at *place, name string) string {
	for _, e := range at.lock.Units {
		if e.Value.Status == lock.Moving && slices.ContainsFunc(j.State[UnitID{at.Name, e.Key}].Resources, func(r Resource) bool {
			return r.Type == TypeRecord && strings.EqualFold(r.ID, name)
		}) {
			return e.Key
		}
	}
	return ""
}

// leftBehind is a record that its unit would let go of, and no other asks for.
func (j *judge) leftBehind(at *place, unit string, r Resource) {
	v := j.add(at, unit, finding.Record, r.ID)
	v.Name, v.Resource = r.Key, r.Address
	v.Is(finding.WouldDestroy).Because("unit %s lets go of its records, and no VM asks for %s any more: it would stay in DNS, in nobody's state", unit, r.ID)
	v.Next("let it go with its unit first: put the former dns.mode back in "+at.Spec, "stackgen render", "(cd stacks/"+at.Name+" && terragrunt stack run apply)")
	v.Next("or leave it in DNS: take it out of the state", inUnit(at.Name, unit, "terragrunt state rm "+shell.Quote(r.Address))...)
}

// ttl says what becomes of a record whose TTL is not the spec's.
func ttl(v *finding.Finding, r schema.Record, answer *cluster.Record) {
	if answer.TTL > 0 && answer.TTL != r.TTL {
		v.Because("its TTL is %d, the spec says %d: the apply replaces the record", answer.TTL, r.TTL)
	}
}

// existing is a record that DNS has and no state. It is ours if its address is
// the VM's; where that is not known, if the VM is ours and there already. A
// create would only add to it: both addresses would be published in turn.
func (j *judge) existing(at *place, v *finding.Finding, vm *schema.VM, r schema.Record, answer *cluster.Record) {
	has := strings.Join(answer.Addresses, " ")
	expected := j.addresses(at, vm)
	there := slices.Contains([]finding.Kind{finding.Adopt, finding.Managed, finding.Moved}, j.kinds[at.Name+"/"+vm.Key])
	switch {
	case len(answer.Addresses) == 1 && slices.Contains(expected, answer.Addresses[0]):
		v.Is(finding.Adopt).Because("DNS has %s for it, which is the VM's address, and no state knows it", has)
		v.Import = v.Key
	case len(expected) == 0 && there && len(answer.Addresses) == 1:
		v.Is(finding.Adopt).Because("DNS has %s for it, its VM is there, and no state knows it; an apply corrects the address if it is another one", has)
		v.Import = v.Key
	default:
		v.Is(finding.Conflict).Because("DNS has %s for %s already, and nothing says that it is ours: an apply would add the VM's address to it, and both would be answered in turn", has, v.Key)
		if len(expected) > 0 {
			v.Because("the VM's address is %s", strings.Join(expected, " "))
		}
		v.Next("it is a leftover: remove it, then look again", deletion(at, v.Key, "A")...)
		v.Next("it is ours, and its address is to be corrected", inUnit(at.Name, v.Unit, "terragrunt import "+shell.Quote(v.Resource)+" "+v.Key)...)
		v.Next("it is somebody else's: publish another name: in "+at.Spec+", "+vm.Path, "dns: {records: [NAME]}")
		return
	}
	ttl(v, r, answer)
}

// addresses are what a VM is known to have: from its spec, or from its agent.
func (j *judge) addresses(at *place, vm *schema.VM) []string {
	if vm.Address.IsValid() {
		return []string{vm.Address.Addr().String()}
	}
	for _, m := range j.matches {
		if m.Stack == at.Name && m.Key == vm.Key && m.Guest != nil && m.Guest.Config != nil {
			return m.Guest.Config.Address
		}
	}
	return nil
}

// deletion are the lines that remove a record from DNS.
func deletion(at *place, name, kind string) []string {
	return []string{
		"nsupdate -k KEYFILE",
		fmt.Sprintf("server %s %d", at.DNS.Server, at.DNS.Port),
		fmt.Sprintf("update delete %s %s", name, kind),
		"send",
	}
}

// answer is what DNS said of a name, or nil if it was not asked.
func (j *judge) answer(name string) *cluster.Record {
	for i := range j.Inventory.Records {
		if r := &j.Inventory.Records[i]; strings.EqualFold(r.Name, name) {
			return r
		}
	}
	return nil
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func unique(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
