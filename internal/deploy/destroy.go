package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/power"
	"stackgen/internal/project"
	"stackgen/internal/pve"
	"stackgen/internal/report"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// Destroy destroys all of the selected stacks of a project, or the part that the request names. The result is the exit code.
func Destroy(ctx context.Context, p *project.Project, q Request) (exit finding.Severity, err error) {
	q.onlySpecs(p)
	r, err := begin(ctx, "destroy", p, q)
	if err != nil {
		return finding.Failed, err
	}
	defer func() {
		if failed := r.close(); failed != nil {
			exit, err = finding.Failed, errors.Join(err, failed)
		}
	}()
	if q.Part != nil {
		return r.finish(r.destroyPart())
	}
	return r.finish(r.destroy())
}

// destroy judges, asks, destroys and verifies.
func (r *run) destroy() (err error) {
	defer func() {
		if !r.applied {
			err = errors.Join(err, r.forget())
		}
	}()
	s, found, err := r.lookForDestroy()
	if err != nil {
		return err
	}
	var all []*plans
	var idle []string
	for _, st := range r.templatesLast() {
		if r.nothingIn(s, st.name) {
			idle = append(idle, st.name)
			continue
		}
		r.say("planning the destroy of %s", st.name)
		had := maps.Clone(s.State)
		p, err := r.plan(s, st, found, nil, nil)
		if err != nil {
			return err
		}
		p.gone = p.notFound(had)
		all = append(all, p)
	}
	a, gone := announce(nil, all), goneRows(all)
	if len(a.changes)+len(gone) == 0 {
		return r.nothingToDestroy(s, found)
	}
	if found, err = s.Rejudge(r.ctx, true); err != nil {
		return err
	}
	if anyStops(found) {
		return r.refuse(s, found)
	}
	sum := report.Summary{
		Command: "destroy",
		Stacks:  namesOf(all),
		Actions: append(gone, a.actions()...),
		Notes:   slices.Concat(s.Notes(found), s.CloneNotes(), r.notInState(found), r.holderNotes(s, a), r.keptNotes(a), lossNotes(s, a)),
	}
	err = r.carryOutDestroy(sum, a, all, r.confirmDestroy, func(p *plans) error { return r.destroyStack(s, p, found) })
	if err != nil || !r.applied {
		return err
	}
	return r.forgetIdle(s, idle, found)
}

// carryOutDestroy shows what plans destroy, asks, and does it, one stack after the other.
func (r *run) carryOutDestroy(
	sum report.Summary, a *announcement, all []*plans, confirm func([]*plans) (bool, error), destroy func(*plans) error,
) error {
	if err := sum.Print(r.Out, r.Options); err != nil || r.DryRun {
		return err
	}
	switch confirmed, err := confirm(all); {
	case err != nil:
		return err
	case !confirmed:
		r.sayUnchanged("not confirmed")
		return ended{finding.Failed}
	}
	r.applied = true
	r.show(a)
	return r.destroyInOrder(all, destroy)
}

// keptNotes say which disks go although specs keep them, which is for rebuilds only.
func (r *run) keptNotes(a *announcement) (notes []string) {
	for _, st := range r.p.SelectedStacks() {
		for _, v := range st.VMs {
			goes := func(c tf.Summary) bool {
				return c.Unit == tf.VMUnit(st.Name) && c.Key == v.Key && c.Action == tf.Delete
			}
			if kept := v.KeptDisks(); len(kept) > 0 && slices.ContainsFunc(a.changes, goes) {
				notes = append(notes, fmt.Sprintf("%s/%s: %s is destroyed, too: `keep` is for `stackgen rebuild` only",
					st.Name, v.Key, strings.Join(kept, ", ")))
			}
		}
	}
	return notes
}

// lossNotes say what a destroy of VMs does beside that: which running ones it stops hard, and which ones leave the HA manager.
func lossNotes(s *check.Session, a *announcement) (notes []string) {
	var without, asked, ha []string
	for _, c := range a.changes {
		g, at := s.Inventory.Guest(c.VMID), c.Unit.Stack+"/"+c.Key
		if c.Unit != tf.VMUnit(c.Unit.Stack) || c.Action != tf.Delete || g == nil {
			continue
		}
		if g.HA != "" { // the provider destroys with `purge`
			ha = append(ha, at)
		}
		stops := func(r tf.Resource) bool {
			return r.Address == c.Address && r.Settled[schema.VMField(guest.StopOnDestroy).HCL] == "true"
		}
		// The provider shuts down only those whose configuration enables an agent, and whose state does not say stop_on_destroy.
		switch {
		case g.Config == nil || g.Status != string(power.Running):
		case !pve.AgentEnabled(g.Config.Raw[guest.Agent]):
			without = append(without, at)
		case slices.ContainsFunc(s.State[c.Unit].Resources, stops):
			asked = append(asked, at)
		}
	}
	if len(without) > 0 {
		notes = append(notes, fewOf(without)+one(without, " runs without a guest agent, so its destroy stops it hard",
			" run without a guest agent, so their destroy stops them hard"))
	}
	if len(asked) > 0 {
		notes = append(notes, fewOf(asked)+one(asked, " has `stop_on_destroy: true`, so its destroy stops it hard",
			" have `stop_on_destroy: true`, so their destroy stops them hard"))
	}
	if len(ha) > 0 {
		notes = append(notes, fewOf(ha)+one(ha, " is an HA resource, which is destroyed with it: a VM that is created again is none",
			" are HA resources, which are destroyed with them: VMs that are created again are none"))
	}
	return notes
}

// nothingToDestroy ends a destroy of stacks whose states have nothing.
func (r *run) nothingToDestroy(seen *check.Session, found []finding.Finding) error {
	if !r.DryRun {
		if err := r.forgetIdle(seen, namesOfStacks(r.stacks), found); err != nil {
			return err
		}
	}
	text := "nothing to destroy: no state of " + strings.Join(r.p.SelectedNames(), ", ") + " has anything"
	for _, note := range r.notInState(found) {
		text += "\nnote: " + note
	}
	return report.Text(r.Out, text+"\n")
}

// lookForDestroy reads the cluster and the states once, and ends the command if anything
// keeps a stack from being destroyed.
func (r *run) lookForDestroy() (*check.Session, []finding.Finding, error) {
	from := r.sources()
	for said := false; ; said, from.Progress = true, nil {
		s := check.New(r.p, from)
		s.TemplatesLast = r.Part == nil
		now, err := s.Preflight(r.ctx, true, false)
		if err != nil {
			return nil, nil, err
		}
		found := r.concerning(now.Findings)
		waiting := r.waitsFor(s, found)
		switch {
		case waiting == "" && anyStops(found):
			unneeded := func(f finding.Finding) bool { return f.Kind == finding.Unrendered && !f.Stops() }
			return nil, nil, r.refuse(s, slices.DeleteFunc(found, unneeded))
		case waiting == "":
			return s, found, nil
		case !said:
			r.say("%s; waiting until it has ended", waiting)
		}
		if err := r.pause(); err != nil {
			return nil, nil, err
		}
	}
}

// nothingIn reports whether no state of a stack has anything.
func (r *run) nothingIn(s *check.Session, stack string) bool {
	for u, state := range s.State {
		if u.Stack == stack && (state.Unreadable != "" || len(state.Resources) > 0) {
			return false
		}
	}
	return true
}

func namesOf(all []*plans) []string {
	var out []string
	for _, p := range all {
		out = append(out, p.stack.name)
	}
	return out
}

// confirmDestroy asks for the name of each stack.
func (r *run) confirmDestroy(all []*plans) (bool, error) {
	if r.Yes {
		return true, nil
	}
	for _, p := range all {
		confirmed, err := r.answer(fmt.Sprintf("This cannot be undone. To destroy %s, type its name: ", p.stack.name), p.stack.name)
		if err != nil || !confirmed {
			return false, err
		}
	}
	return true, nil
}

// destroyStack destroys the units of a stack in the reverse order, verifies that nothing
// is left, and removes from the lock what was seen of it.
func (r *run) destroyStack(seen *check.Session, p *plans, found []finding.Finding) error {
	if err := r.onlyConfirmed(p); err != nil {
		return err
	}
	r.say("destroying %s", p.stack.name)
	result, err := r.applyPlans(p)
	if err == nil {
		result, err = r.stackAgainAfterLock(p, result)
	}
	if err != nil {
		return err
	}
	if text := refusal(result.log); text != "" {
		if err := report.Text(r.Out, text); err != nil {
			return err
		}
		return ended{finding.Blocked}
	}
	if result.failed() && r.ctx.Err() == nil {
		r.explain(p, result)
	}
	s := check.New(r.p, check.Sources{})
	if err := s.ReadStates(r.background(), s.Units()); err != nil {
		return err
	}
	var left []string
	for _, u := range s.Units() {
		if u.Stack == p.stack.name {
			left = append(left, names(s.State[u])...)
		}
	}
	if len(left) > 0 {
		r.failed = true
		return report.Printf(r.Out, "%s: still in its states: %s\n", p.stack.name, strings.Join(left, ", "))
	}
	if err := r.forgetGone(seen, p.stack.name, nil, p.destroyedBy(seen)); err != nil {
		return err
	}
	left = existing(found, p.stack.name)
	maps.DeleteFunc(p.stack.unfinished, func(key string, _ check.BegunVM) bool { return !slices.Contains(left, key) })
	maps.DeleteFunc(p.stack.stopped, func(key string, _ int) bool { return !slices.Contains(left, key) })
	if err := p.stack.keepUnfinished(); err != nil {
		return err
	}
	if err := r.removeOutputs(p.stack.name); err != nil {
		return err
	}
	then := "so that an apply creates the same " + guestsOf(r.p.Lock, p.stack.name, nil).Word() + "s again"
	if r.adopts(p.stack.name, nil) {
		then += ", except for what has `adopt` in its spec: that blocks it"
	}
	return report.Printf(r.Out, "%s is destroyed; %s keeps its decisions, %s\n", p.stack.name, r.p.LockFile(), then)
}

// notFound are what the states had before the plans, and no plan destroys: the refresh did not find it any more.
func (p *plans) notFound(had tf.States) []tf.Summary {
	changes := p.changes()
	var out []tf.Summary
	for _, u := range p.units {
		resources := had[u.unit].Resources
		for i := range resources {
			if c := tf.Destroys(u.unit, &resources[i]); !among(changes, c) {
				c.Action = tf.Forget
				out = append(out, c)
			}
		}
	}
	return out
}

// goneRows are the rows of what destroys remove from the states only.
func goneRows(all []*plans) []report.Action {
	var out []report.Action
	for _, p := range all {
		for _, c := range p.gone {
			row := (&announcement{}).action(c)
			if row.Detail = "it is gone already"; c.VMID != 0 {
				row.Detail = fmt.Sprintf("%s %d is gone already", row.What, c.VMID)
			}
			row.Named = c.VMID != 0
			out = append(out, row)
		}
	}
	sortActions(out)
	return out
}

// restored are the guests that were gone when a destroy was planned, and exist now.
func (r *run) restored(p *plans) ([]tf.Summary, error) {
	guests := slices.DeleteFunc(slices.Clone(p.gone), func(c tf.Summary) bool { return c.VMID == 0 })
	if len(guests) == 0 {
		return nil, nil
	}
	inv, err := check.ReadCluster(r.ctx, r.p, check.Sources{})
	if err != nil {
		return nil, fmt.Errorf("cannot read the cluster again, so nothing of %s was destroyed: %w", p.stack.name, err)
	}
	guests = slices.DeleteFunc(guests, func(c tf.Summary) bool { return inv.Guest(c.VMID) == nil })
	for i := range guests {
		guests[i].Action = tf.Delete
	}
	return guests, nil
}

// onlyConfirmed ends the command if the states of a stack have anything that was not
// confirmed: another run may have created it while this one waited for the answer, and
// Terragrunt destroys whatever it finds, in units that were rendered meanwhile, too. What is
// gone stops nothing, as long as nobody has restored it.
func (r *run) onlyConfirmed(p *plans) error {
	now, err := r.open()
	if err != nil {
		return err
	}
	now.Selected = func(name string) bool { return name == p.stack.name }
	s := check.New(now, check.Sources{})
	units := s.Units()
	if err := s.ReadStates(r.background(), units); err != nil {
		return err
	}
	confirmed := slices.Concat(p.changes(), p.gone)
	other, err := r.restored(p)
	if err != nil {
		return err
	}
	for _, u := range units {
		state := s.State[u]
		if state.Unreadable != "" {
			return fmt.Errorf("cannot read the state of %s again, so nothing of %s was destroyed: %s", u, p.stack.name, state.Unreadable)
		}
		for i := range state.Resources {
			if c := tf.Destroys(u, &state.Resources[i]); !among(confirmed, c) {
				other = append(other, c)
			}
		}
	}
	if len(other) > 0 {
		return r.unconfirmed(p.stack.name, other)
	}
	return nil
}

// among reports whether changes remove from the state what one destroys. A plan moves a
// VM that has another profile now, such as a retired one, to another address first.
func among(changes []tf.Summary, one tf.Summary) bool {
	return slices.ContainsFunc(changes, func(c tf.Summary) bool {
		moved := one.Type == finding.VM && one.VMID != 0
		return c.Unit == one.Unit && c.VMID == one.VMID && (c.Address == one.Address || moved) && (c.Action == tf.Delete || c.Action == tf.Forget)
	})
}

// names are what a state has.
func names(state tf.State) []string {
	if state.Unreadable != "" {
		return []string{state.Unreadable}
	}
	var out []string
	for _, resource := range state.Resources {
		out = append(out, resource.Address)
	}
	return out
}
