package deploy

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// A VM with new disks usually gets another address from a DHCP server, which knows it by what its
// system has made of the machine-id. Its records are corrected when it is healthy: until then, they
// have the address of before.

// publish corrects the records of the VMs of a stack that a rebuild has replaced and that report
// another address than DNS has, and no other record. What keeps it from that ends the command.
func (r *run) publish(st *stack, s *check.Session, found []finding.Finding) error {
	for again := false; ; again = true {
		wanted := r.outdatedRecords(st, s, found)
		if len(wanted) == 0 {
			return nil
		}
		if bad := slices.DeleteFunc(slices.Clone(wanted), func(f finding.Finding) bool { return !f.Stops() }); len(bad) > 0 {
			out := report.NewFindings(bad, s.Notes(bad))
			out.Endpoint, out.Answer = s.Endpoint(), r.notPublished(st, wanted)+": "+out.Summary()
			return errors.Join(out.Print(r.Out, r.Options), ended{finding.Blocked})
		}
		if again || !staleOutputs(s.State[tf.VMUnit(st.name)], wanted) {
			return r.publishWanted(st, s, found, wanted)
		}
		if err := r.rereadAddresses(st, s, found); err != nil {
			return err
		}
		var err error
		if s, found, err = r.reread(st); err != nil {
			return err
		}
	}
}

// publishDone is publish for VMs that were replaced before.
func (r *run) publishDone(st *stack) error {
	s, found, err := r.reread(st)
	if err != nil {
		return err
	}
	return r.publish(st, s, found)
}

// outdatedRecords are the records of replaced VMs whose address is not the one that DNS has, or of
// which it is not known.
func (r *run) outdatedRecords(st *stack, s *check.Session, found []finding.Finding) (out []finding.Finding) {
	l, fixed, made := s.Project.Lock.Stacks.Get(st.name), r.mocks(st.name), map[string]bool{}
	for _, resource := range s.State[tf.VMUnit(st.name)].Resources {
		e := l.VMs.Get(resource.Key)
		if e == nil || resource.Tainted {
			continue
		}
		g := s.Inventory.Guest(e.VMID)
		made[resource.Key] = g != nil && g.Config != nil && e.Rebuilt(g.Config.UUID)
	}
	for _, f := range found {
		if f.Stack == st.name && f.Type == finding.Record && made[f.Owner] && fixed[f.Owner] == "" && !f.NoAddress &&
			(f.IPv4 == "" || !slices.Equal(answered(s, f.Key), []string{f.IPv4})) {
			out = append(out, f)
		}
	}
	return out
}

// answered are the addresses that DNS has of a name.
func answered(s *check.Session, name string) []string {
	for _, r := range s.Inventory.Records {
		if strings.EqualFold(r.Name, name) && r.CNAME == "" && !r.Wildcard {
			return r.Addresses
		}
	}
	return nil
}

// staleOutputs reports whether the outputs of the VMs have another address than those that records
// need: the agent of a VM has answered after its apply.
func staleOutputs(state tf.State, wanted []finding.Finding) bool {
	var vms map[string]struct{ IPv4 string }
	_ = json.Unmarshal(state.Outputs["vms"], &vms) // without outputs, they are stale
	return slices.ContainsFunc(wanted, func(f finding.Finding) bool {
		has := vms[f.Owner].IPv4
		return has == "" || f.IPv4 != "" && has != f.IPv4
	})
}

// rereadAddresses writes the addresses into the outputs that the agents of VMs report now, and
// nothing else.
func (r *run) rereadAddresses(st *stack, s *check.Session, found []finding.Finding) error {
	p, err := r.plan(s, st, found, []string{lock.UnitVM}, nil)
	if err != nil || len(p.outputs()) == 0 {
		return err // what it changes else is found when the stack is verified
	}
	st.outdated = true
	result, err := r.applyPlans(p)
	if err == nil && r.ctx.Err() == nil && result.failed() {
		return r.broken(p, result, announce(nil, nil))
	}
	return err
}

// publishWanted plans and applies the units of some records, without their other records.
func (r *run) publishWanted(st *stack, s *check.Session, found, wanted []finding.Finding) error {
	how, a := planning{}, &announcement{waiting: map[tf.Unit][]finding.Finding{}}
	for _, f := range wanted {
		u := tf.Unit{Stack: f.Stack, Unit: f.Unit}
		if a.waiting[u] = append(a.waiting[u], f); !slices.Contains(how.only, f.Unit) {
			how.only = append(how.only, f.Unit)
		}
	}
	for _, f := range found {
		is := func(w finding.Finding) bool { return w.Address == f.Address }
		record := f.Stack == st.name && f.Type == finding.Record && f.Resource != ""
		if record && slices.Contains(how.only, f.Unit) && !slices.ContainsFunc(wanted, is) {
			how.args = append(how.args, "-exclude="+f.Resource)
		}
	}
	p, err := r.planUnits(s, st, how)
	if err != nil {
		return r.sayNotPublished(st, wanted, err)
	}
	for _, c := range p.changes() {
		if !a.allows(c) {
			return r.sayNotPublished(st, wanted, r.applyFirst(st.name, c.Address))
		}
	}
	if err := r.permitted(s, p, a); err != nil {
		return r.sayNotPublished(st, wanted, err)
	}
	if p.empty() {
		return nil
	}
	r.say("correcting the records of %s: their VMs have other addresses", st.name)
	result, err := r.applyPlans(p)
	if err != nil || r.ctx.Err() != nil {
		return err
	}
	if !result.failed() {
		return nil
	}
	r.failed = true
	if text := refusal(result.log); text != "" {
		err = report.Text(r.Out, text)
	} else {
		r.explain(p, result)
	}
	return errors.Join(err, r.sayNotPublished(st, wanted, ended{finding.Failed}))
}

// notPublished says which records have the addresses of before. How to go on is said at the end.
func (r *run) notPublished(st *stack, wanted []finding.Finding) string {
	var names []string
	owners := map[string]bool{}
	for _, f := range wanted {
		names, owners[st.name+"/"+f.Owner] = append(names, f.Key), true
	}
	r.failed = true
	return some(slices.Sorted(maps.Keys(owners))) + " rebuilt, but with the records of before, which may have the address of " +
		"another machine: " + some(names)
}

// sayNotPublished prints the same before the error that is the cause.
func (r *run) sayNotPublished(st *stack, wanted []finding.Finding, cause error) error {
	return errors.Join(report.Text(r.Out, r.notPublished(st, wanted)+"\n"), cause)
}

// stopsRecord reports whether a finding keeps a record of a VM, as STACK/KEY, whose address a DHCP server
// gives from being changed: it is refused before the VM has another address.
func (r *run) stopsRecord(f *finding.Finding, vms []string) bool {
	return f.Type == finding.Record && f.Stops() && slices.Contains(vms, f.Stack+"/"+f.Owner) && r.mocks(f.Stack)[f.Owner] == ""
}

// othersRecords are the names of records of VMs that a rebuild has not replaced, if plans change
// nothing else: their addresses have changed by themselves.
func (r *run) othersRecords(s *check.Session, found []finding.Finding, p *plans) (names []string) {
	l := s.Project.Lock.Stacks.Get(p.stack.name)
	if r.command != "rebuild" || l == nil || anyStops(found) || len(p.outputs())+len(p.hidden) > 0 {
		return nil
	}
	for _, c := range p.changes() {
		i := slices.IndexFunc(found, func(f finding.Finding) bool {
			return f.Type == finding.Record && f.Stack == c.Unit.Stack && f.Unit == c.Unit.Unit && f.Name == c.Key && f.Owner != ""
		})
		if i < 0 || c.Type != finding.Record || c.Action != tf.Update {
			return nil
		}
		if e := l.VMs.Get(found[i].Owner); e == nil || e.Rebuild != nil && !e.Rebuild.Waits {
			return nil
		}
		names = append(names, found[i].Key)
	}
	return names
}

// sayOthers is what is said of a stack in which only records of other VMs are not right.
func (r *run) sayOthers(st *stack, names []string) string {
	return "the VMs of " + st.name + " are rebuilt; other VMs have other addresses than their records: " + some(names) +
		"; to correct them: `" + r.p.Command("apply", st.name) + "`\n"
}
