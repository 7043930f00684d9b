package deploy

import (
	"errors"
	"slices"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/progress"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// completeLeft completes VMs that runs have begun to replace, as an apply does, and looks again.
// Of the VMs that were confirmed, it returns those that are still to be replaced. In a stack in which an exchange of
// disks has not ended, they are completed after that: nothing can be planned before.
func (r *run) completeLeft(s *check.Session, o Order, all []*rebuilding) (*check.Session, []*rebuilding, error) {
	var confirmed []string
	for _, b := range all {
		for _, key := range b.keys() {
			confirmed = append(confirmed, b.stack.name+"/"+key)
		}
		if len(b.Left)+len(b.Lost) == 0 {
			continue
		}
		if err := r.markLost(s, b); err != nil {
			return nil, nil, err
		}
		if b.halfway() {
			b.stack.later = b.Left
			continue
		}
		if err := r.recordEnd(r.completeHealthy(b)); err != nil || r.failed {
			return nil, nil, err
		}
	}
	if o.VMs = confirmed; len(confirmed) == 0 {
		var err error
		for _, b := range all {
			err = errors.Join(err, r.sayEnd(b.stack))
		}
		return nil, nil, err
	}
	if err := r.reopen(); err != nil {
		return nil, nil, err
	}
	s, again, err := r.lookForRebuild(o)
	if err != nil {
		return nil, nil, err
	}
	for i, b := range again { // both are in the order of the stacks
		if !b.confirmed(all[i], b.keys()) {
			return nil, nil, r.notConfirmed("the rebuild of "+b.stack.name, b.keys())
		}
	}
	return s, again, r.planRebuilds(s, again)
}

// completeHealthy is completeStack, and waits until the VMs are healthy.
func (r *run) completeHealthy(b *rebuilding) error {
	if err := r.completeStack(b); err != nil || r.failed || r.ctx.Err() != nil {
		return err
	}
	for _, key := range b.Left { // of one that only had to be seen, no tool has said anything
		target := progress.Target{Kind: progress.VM, Stack: b.stack.name, Unit: lock.UnitVM, Key: key}
		r.view.Event(progress.Event{Type: progress.Ended, Action: progress.Create, Target: target})
	}
	if rule := b.waving.rule; rule != nil {
		unhealthy, err := r.awaitHealthy(b.stack, b.Left, *rule)
		if err != nil {
			return err
		}
		if len(unhealthy) > 0 {
			return errors.Join(r.sayUnhealthy(unhealthy), ended{finding.Failed})
		}
	}
	return r.endMarks(nil, b.stack)
}

// completeStack applies what a run has left of a rebuild in one stack, and nothing else.
func (r *run) completeStack(b *rebuilding) error {
	selected := r.p.Selected
	r.p.Selected = func(name string) bool { return name == b.stack.name }
	defer func() { r.p.Selected = selected }()
	s, found, err := r.look()
	if err != nil {
		return err
	}
	p, err := r.plan(s, b.stack, found, nil, r.waiting(s, found, b.stack.name))
	if err != nil {
		return err
	}
	for _, c := range p.changes() {
		if !r.completes(b, found, c) {
			return r.applyFirst(b.stack.name, c.Address)
		}
	}
	if found, err = s.Rejudge(r.ctx, false); err != nil {
		return err
	}
	if finding.Exit(found) != finding.OK {
		return r.refuse(s, found)
	}
	r.completed(b.stack, s)
	b.stack.resumes(found, r.p.Lock.Stacks.Get(b.stack.name))
	b.stack.interrupts(found)
	r.say("completing what a run has left of the rebuild of %s", b.stack.name)
	return r.carryOutStack(p, announce(found, []*plans{p}))
}

// completes reports whether a change is one that completes what a run has left of a rebuild: the
// creation of such a VM, or its import and configuration, or a record of it.
func (r *run) completes(b *rebuilding, found []finding.Finding, c tf.Summary) bool {
	switch c.Type {
	case finding.VM:
		begun := c.Action == tf.Create || c.Imports || b.stack.unfinished[c.Key].VMID == c.VMID
		return begun && slices.Contains(b.Left, c.Key)
	case finding.Record:
		return slices.ContainsFunc(found, func(f finding.Finding) bool {
			same := f.Type == finding.Record && f.Stack == b.stack.name && f.Unit == c.Unit.Unit && f.Name == c.Key
			return same && slices.Contains(b.Left, f.Owner)
		}) || r.ownUnit(b, c.Unit.Unit)
	}
	return false
}

// ownUnit reports whether a unit has the records of a VM that is left, and no others.
func (r *run) ownUnit(b *rebuilding, unit string) bool {
	l := r.p.Lock.Stacks.Get(b.stack.name)
	return l != nil && unit != lock.UnitDNS && slices.ContainsFunc(b.Left, func(key string) bool {
		e := l.VMs.Get(key)
		return e != nil && e.Unit == unit
	})
}

// applyFirst ends the command because an apply would change something else, too.
func (r *run) applyFirst(stack, address string) error {
	err := report.Printf(r.Out, "blocked: the plan of %s also changes %s, and a rebuild replaces VMs only: "+
		"apply first\n  > %s\n", stack, address, r.p.Command("apply", stack))
	return errors.Join(err, ended{finding.Blocked})
}

// replaceAfterLock replaces the rest of a wave, each time by another plan and grant, as long as that
// fails because VMs are locked: these are as they were, and stopped.
func (r *run) replaceAfterLock(b *rebuilding, o Order, result *toolRun) (*toolRun, error) {
	o.VMs = nil
	for _, key := range b.keys() {
		o.VMs = append(o.VMs, b.stack.name+"/"+key)
	}
	for range lockTries {
		if !r.metLock(result) {
			break
		}
		if err := r.reopen(); err != nil {
			return nil, err
		}
		s, all, err := r.lookForRebuild(o)
		if err != nil {
			return nil, err
		}
		rest := all[slices.IndexFunc(all, func(other *rebuilding) bool { return other.stack == b.stack })]
		r.completed(b.stack, s)
		broken := slices.ContainsFunc(b.keys(), func(key string) bool {
			return b.stack.unfinished[key].VMID != 0 && !slices.Contains(rest.keys(), key)
		})
		if broken || len(rest.Replaced) == 0 || !rest.confirmed(b, rest.keys()) {
			break
		}
		if err := r.beginsRebuild(rest); err != nil {
			return nil, err
		}
		r.say("another task has the lock of a VM of %s; rebuilding again: %s", b.stack.name, some(rest.keys()))
		if err := r.planRebuild(s, rest); err != nil {
			return nil, err
		}
		b.plans = rest.plans
		if result, err = r.replace(rest); err != nil {
			return nil, err
		}
	}
	return result, nil
}
