package deploy

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stackgen/generator"
	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// broken ends the apply of a stack that failed or was interrupted. The records of the VMs
// that exist are made all the same.
func (r *run) broken(p *plans, result *toolRun, a *announcement) error {
	r.failed = true
	if text := refusal(result.log); text != "" {
		if err := errors.Join(report.Text(r.Out, text), r.notMade(p.stack)); err != nil {
			return err
		}
		return ended{finding.Blocked}
	}
	if r.ctx.Err() != nil {
		return nil
	}
	r.explain(p, result)
	kept := r.keepFailed(p, result)
	if kept == nil {
		r.restore(p, result)
	}
	r.readBack(p)
	if kept != nil {
		return kept
	}
	return r.rescue(p, result, a)
}

// notMade drops the record of VMs that a refused apply was about to create and that do not exist: with
// it, a VM that somebody creates later would count as one that the apply left halfway. What cannot be
// read keeps its record.
func (r *run) notMade(st *stack) error {
	from := r.sources()
	from.Progress = nil
	s := check.New(r.p, from)
	if _, err := s.Preflight(r.background(), false, false); err != nil {
		r.say("what %s was about to create stays recorded, because the cluster cannot be read: %v", st.name, err)
		return nil
	}
	for _, m := range s.Matches() {
		vm := st.unfinished[m.Key]
		if m.Stack == st.name && m.Guest == nil && !vm.Unanswered && len(s.Inventory.GapsForVM(vm.VMID)) == 0 &&
			!vm.Clone.MayBe(s.Inventory.Guest(vm.VMID)) {
			delete(st.unfinished, m.Key)
		}
	}
	return st.keepUnfinished()
}

var unanswered = regexp.MustCompile(check.Unanswered)

// refusalLines are the beginnings of the lines of a refusal after the first: of a finding, of what
// belongs to one, and of what is said of all.
var refusalLines = []string{finding.Blocked.String() + " ", finding.Failed.String() + " ", finding.Outdated.String() + " ", "note: ", " "}

// refusal is what the guard said in a run that it refused, or empty.
func refusal(log string) string {
	var out []string
	open := false
	for l := range strings.Lines(log) {
		switch l = strings.TrimRight(l, "\n"); {
		case strings.HasPrefix(l, "stackgen guard refuses"):
			open = true
		case open:
			open = slices.ContainsFunc(refusalLines, func(word string) bool { return strings.HasPrefix(l, word) })
		}
		if open {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

// guestUnits are the units of guests of plans.
func (p *plans) guestUnits() []tf.Unit {
	var units []tf.Unit
	for _, u := range p.units {
		if u.unit.HasGuests() {
			units = append(units, u.unit)
		}
	}
	return units
}

// keepFailed makes sure that the next apply goes on with a VM that this one could not complete, and does not destroy it.
func (r *run) keepFailed(p *plans, result *toolRun) error {
	s := check.New(r.p, check.Sources{})
	if err := s.ReadStates(r.ctx, p.guestUnits()); err != nil {
		return err
	}
	kept, err := r.untaint(p, s.State)
	if err == nil {
		r.dropNotMade(p.stack, result, kept)
	}
	return err
}

// leaving are the guests in the state of a unit that no spec has: the apply was to destroy them. The module cannot be
// evaluated with them, except for a plan that destroys them.
func (r *run) leaving(stack string, unit tf.Unit) ([]string, error) {
	s := check.New(r.p, check.Sources{})
	if err := s.ReadStates(r.ctx, []tf.Unit{unit}); err != nil {
		return nil, err
	}
	var out []string
	specs := check.Starts(r.p, stack)
	for _, g := range s.State.Guests(stack) {
		if _, known := specs[g.Key]; !known && unit.Manages(g.Type) {
			out = append(out, stack+"/"+g.Key)
		}
	}
	return out, nil
}

// rescue completes what does not depend on the VMs that failed: the outputs of the VMs
// that exist, and their records.
func (r *run) rescue(p *plans, result *toolRun, a *announcement) error {
	records := r.unfinished(p, result, a)
	for _, unit := range p.guestUnits() {
		left, err := r.leaving(p.stack.name, unit)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			if len(records) > 0 {
				r.say("the records of %s that were not made wait until %s is destroyed", p.stack.name, some(left))
			}
			records = nil
			continue
		}
		if err := r.refreshOutputs(p.stack, unit); err != nil {
			r.say("the outputs of %s could not be written, so the records of its new %ss have to wait: %s", unit, unit.Kind().Name(), err)
			records = nil
		}
	}
	later := r.laterOf(p.stack, records, a)
	after, found, err := r.reread(p.stack)
	if err != nil {
		return errors.Join(later, err)
	}
	p.stack.notTaken(p.was, after.Inventory)
	if unread := r.unreadSettings(p.stack, found, after.Inventory); unread != "" {
		later = errors.Join(later, report.Text(r.Out, unread+"\n"))
	}
	r.completed(p.stack, after)
	p.stack.unfinished.Taken(result.log)
	if unanswered.MatchString(result.log) {
		p.stack.unfinished.Keep()
	}
	p.stack.unfinished.NotMade(after.Inventory)
	return errors.Join(later, p.stack.keepUnfinished(), r.record(after, p.stack.name))
}

// restore makes the states say again what the guests are like whose updates may have failed: the provider writes what was
// planned. Without that, the next plan would take what was not done for a change by hand.
func (r *run) restore(p *plans, result *toolRun) {
	var failed []planned
	for _, u := range p.units {
		did := result.result(u.unit.Unit)
		if len(p.stack.updates(u)) > 0 && (did == "failed" || did == "") {
			failed = append(failed, u)
		}
	}
	if len(failed) == 0 {
		return
	}
	now, err := check.ReadCluster(r.ctx, r.p, check.Sources{})
	for _, u := range failed {
		if err == nil {
			err = r.restoreUnit(p.stack, u, now)
		}
	}
	if err != nil {
		r.say("the state of %s may say that a change was made which has failed, and `stackgen drift` then calls it a change by hand: %s",
			p.stack.name, err)
	}
}

// updates are the guests that the plan of a unit updates. One that is created halfway is none: read again, the state would
// have the MAC addresses that its template gave it, and it would not be the guest of its spec any more.
func (st *stack) updates(u planned) []*tf.ResourceChange {
	return slices.DeleteFunc(slices.Clone(u.plan.Changes), func(c *tf.ResourceChange) bool {
		begun, halfway := st.unfinished[c.Key]
		return c.Action != tf.Update || !u.unit.Manages(c.Type) || halfway && begun.VMID == tf.VMIDOf(c.Before)
	})
}

// restoreUnit makes the state of a unit say again what the guests are like that its plan updates.
func (r *run) restoreUnit(st *stack, u planned, now *cluster.Inventory) error {
	var addresses, unread []string
	guests := map[string]tf.Restored{}
	for _, c := range st.updates(u) {
		g := guestOf(now, tf.VMIDOf(c.Before))
		if g == nil || g.Config == nil || len(g.Config.Raw) == 0 {
			unread = append(unread, st.name+"/"+c.Key)
			continue
		}
		addresses = append(addresses, c.Address)
		guests[c.Address] = tf.Restored{Before: c.Before, Lists: guard.Devices(g)}
	}
	if len(addresses) > 0 {
		if _, err := r.restoreDevices(u.unit, guests); err != nil {
			return err
		}
		left, err := r.leaving(st.name, u.unit)
		switch {
		case err != nil:
			return err
		case len(left) > 0:
			return fmt.Errorf("it cannot be read again before %s is destroyed", some(left))
		}
		if err := r.readAgain(st, u.unit, addresses); err != nil {
			return err
		}
	}
	if len(unread) > 0 {
		return fmt.Errorf("%s cannot be read", some(unread))
	}
	return nil
}

// restoreDevices makes the state of a unit say which devices its guests have. It reports whether it said something else.
func (r *run) restoreDevices(u tf.Unit, guests map[string]tf.Restored) (changed bool, err error) {
	root, err := filepath.Abs(r.p.Root)
	if err != nil {
		return false, err
	}
	backend := generator.Backend(r.p.Lock.Stacks.Get(u.Stack), u.Unit, filepath.ToSlash(root))
	err = r.tools.ChangeState(r.ctx, backend, func(state []byte) ([]byte, error) {
		after, err := tf.Restore(state, guests)
		changed = after != nil
		return after, err
	})
	return changed, err
}

// untaint keeps the VMs whose creation failed halfway. A VM that is tainted in the state
// is destroyed by the next apply, which the guard refuses. Of a container, it is asked whose it is: a stranger may
// have got the VMID. It returns those that are kept.
func (r *run) untaint(p *plans, states tf.States) (kept []tf.Resource, err error) {
	made := map[string]bool{}
	for _, c := range p.changes() {
		made[c.Address] = (c.Action == tf.Create || c.Action == tf.Replace) && c.Type == finding.VM
	}
	judged := sync.OnceValues(func() ([]finding.Finding, error) {
		_, found, err := r.reread(p.stack)
		return found, err
	})
	for _, resource := range states.Guests(p.stack.name) {
		if !resource.Tainted || !made[resource.Address] {
			continue
		}
		if resource.Type == guest.ContainerResource {
			found, err := judged()
			if err != nil {
				return kept, err
			}
			if !ours(found, p.stack.name, resource.Address) {
				continue
			}
		}
		if err := r.keep(p.stack, &resource); err != nil {
			return kept, err
		}
		kept = append(kept, resource)
	}
	return kept, nil
}

// dropNotMade removes from the state what the VMs did not get that a run has created halfway, so that the next plan shows it.
// What the run asked for may still come, if it had no answer or a task still works. Then, or if that fails, the next apply does it.
func (r *run) dropNotMade(st *stack, result *toolRun, vms []tf.Resource) {
	if len(vms) == 0 || unanswered.MatchString(result.log) {
		return
	}
	now, err := check.ReadCluster(r.ctx, r.p, check.Sources{})
	if err == nil {
		vms = slices.DeleteFunc(vms, func(vm tf.Resource) bool { return guard.Working(now, vm.VMID) })
		_, err = r.dropUnadded(st, vms, now, true)
	}
	if err != nil {
		r.say("the state of %s may have disks that its new VMs did not get: %v", st.name, err)
	}
}

// unit runs Terragrunt in the folder of a unit, which must succeed.
func (r *run) unit(st *stack, unit string, args ...string) error {
	result, err := r.terragrunt(st, filepath.Join(st.dir, generated, unit), r.files(st), nil, args...)
	if err == nil && result.code != 0 {
		err = toolError{problems(result.log)}
	}
	return err
}

// A toolError is what a tool said when it failed.
type toolError struct{ text string }

func (e toolError) Error() string { return e.text }

// refreshOutputs writes the outputs of the VMs that exist, which a failed apply does not
// write. Its plan leaves out what has failed, and changes nothing else.
func (r *run) refreshOutputs(st *stack, unit tf.Unit) error {
	var without []string
	for range 2 {
		files := r.files(st)
		args := []string{"run", "--all", "--out-dir", files, "--json-out-dir", files, "--", "plan", "-refresh=false", "-input=false"}
		for _, address := range without {
			args = append(args, "-exclude="+address)
		}
		if err := r.unit(st, unit.Unit, args...); err != nil {
			return err
		}
		plan, err := check.ReadPlan(unit, filepath.Join(files, "tfplan.json"))
		if err != nil {
			return err
		}
		changes := tf.Summaries(unit, plan)
		if len(changes) == 0 {
			return r.unit(st, unit.Unit, "run", "--", "apply", "-input=false", "-no-color", filepath.Join(files, "tfplan.tfplan"))
		}
		for _, c := range changes {
			without = append(without, c.Address)
		}
	}
	return toolError{"a plan without what failed still changes something"}
}

// unfinished are the units of records that this apply has not applied, or that wait, and
// whose VMs all exist.
func (r *run) unfinished(p *plans, result *toolRun, a *announcement) []string {
	units := slices.Clone(a.later(p.stack.name))
	for _, u := range p.units {
		if u.unit.HasRecords() && result.result(u.unit.Unit) != "succeeded" {
			units = append(units, u.unit.Unit)
		}
	}
	return units
}
