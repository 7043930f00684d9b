package deploy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/report"
)

// rebuilt verifies that nothing is left to do, as an apply does. What is wrong with other VMs of the
// stack keeps it from planning that; then it looks at the VMs that it has made.
func (r *run) rebuilt(b *rebuilding, a *announcement) error {
	s, found, err := r.reread(b.stack)
	if err != nil {
		return err
	}
	if err := r.made(b); err != nil {
		return err
	}
	if err := r.record(s, b.stack.name); err != nil {
		return err
	}
	if err := r.publish(b.stack, s, found); err != nil || r.failed || r.ctx.Err() != nil {
		return err
	}
	switch {
	case len(b.stack.later) > 0: // what completes those verifies the stack
		return nil
	case !anyStops(found):
		return r.complete(b.stack, a)
	}
	names := b.names()
	own := slices.DeleteFunc(found, func(f finding.Finding) bool { return !f.Stops() || !concerns(&f, names) })
	if len(own) > 0 {
		return r.refuse(s, own)
	}
	err = report.Printf(r.Out, "rebuilt: %s; other findings of %s keep it from being planned: `stackgen preflight` names them\n",
		strings.Join(names, ", "), b.stack.name)
	return errors.Join(err, r.checkpoints(s, []string{b.stack.name}), r.endRebuild(s, b.stack))
}

// sayNow says how a stack is. A rebuild says it after its last wave.
func (r *run) sayNow(st *stack) error {
	if r.command == "rebuild" {
		return nil
	}
	return r.sayEnd(st)
}

func (r *run) sayEnd(st *stack) error {
	text := st.end
	if st.end = ""; text == "" {
		return nil
	}
	return report.Text(r.Out, text)
}

// endRebuild ends the rebuild of a stack after an apply. A rebuild does that itself, after the VMs
// are healthy.
func (r *run) endRebuild(s *check.Session, st *stack) error {
	if r.command == "rebuild" {
		return nil
	}
	return r.endMarks(s, st)
}

// endMarks removes the marks of a stack in which all VMs that have one are done: until then, they
// keep another run from replacing one twice. An apply that leaves nothing to do ends the rebuild of
// VMs whose guest of before exists: they are as their specs say. s is what it saw; a rebuild has none.
func (r *run) endMarks(s *check.Session, st *stack) error {
	marked := func(e lock.Entry[lock.VM]) bool { return e.Value.Rebuild != nil }
	if l := r.p.Lock.Stacks.Get(st.name); l == nil || !slices.ContainsFunc(l.VMs, marked) {
		return nil
	}
	if err := r.reopen(); err != nil {
		return err
	}
	all, open := r.marked(st.name)
	if r.command != "rebuild" {
		all, open = r.keepExchanges(s, st.name, all, open)
	}
	switch {
	case len(all) == 0, len(open) > 0 && r.command == "rebuild":
		return nil
	case len(open) > 0:
		r.say("the rebuild of %s was begun, and is not done: it is given up. To begin it again: `%s`",
			some(open), r.rebuildAgain(strings.Join(open, " ")))
	}
	return r.p.EndRebuild(r.background(), st.name, all, func(text string) { r.say("%s", text) })
}

// marked are the VMs of a stack that have the mark of a rebuild, by their keys, and those of them,
// as STACK/KEY, that are not replaced yet, or that are not healthy.
func (r *run) marked(stack string) (all, open []string) {
	l := r.p.Lock.Stacks.Get(stack)
	if l == nil {
		return nil, nil
	}
	for i := range l.VMs {
		if v := &l.VMs[i].Value; v.Rebuild != nil {
			all = append(all, l.VMs[i].Key)
			if v.Status == lock.Live && (v.RebuildBegun() || v.Rebuild.Waits || v.Rebuild.Unhealthy) {
				open = append(open, stack+"/"+l.VMs[i].Key)
			}
		}
	}
	return all, open
}

// howToGoOn says when the command that goes on with a rebuild makes sense. The same one has just ended, and it rebuilds
// each time the VMs that are not healthy.
func (o *Order) howToGoOn(progress *lock.Rollout) string {
	failed := progress.Unhealthy
	if !o.Continue || len(failed) == 0 {
		return "to go on"
	}
	return fmt.Sprintf("%s %s not healthy: find out why, and repair the cause. Then, to rebuild %s once more and go on",
		some(failed), one(failed, "is", "are"), one(failed, "it", "them"))
}

// notRebuilt says how far rebuilds are that are not done, which VMs they have left off, and how to go on.
func (r *run) notRebuilt(o Order) error {
	if err := r.reopen(); err != nil {
		return err
	}
	if err := r.sayOff(); err != nil {
		return err
	}
	for _, st := range r.stacks {
		all, open := r.marked(st.name)
		l := r.p.Lock.Stacks.Get(st.name)
		if len(all) == 0 || l == nil {
			continue
		}
		progress := l.Rollout()
		text := fmt.Sprintf("%d of %d; %s: `%s`", len(progress.Done), progress.All(), o.howToGoOn(progress), r.resumes(&o, o.scope(st.name)))
		if !slices.ContainsFunc(l.VMs, func(e lock.Entry[lock.VM]) bool { return e.Value.Rebuild != nil && e.Value.Rebuild.Holder != 0 }) {
			text += ". An apply gives it up"
		}
		if len(open) == 0 {
			text = fmt.Sprintf("all VMs are replaced, and what follows is left to do: `%s`", r.resumes(&o, o.scope(st.name)))
		}
		err := report.Printf(r.Out, "note: the rebuild of %s is not done: %s\n", st.name, text)
		if err != nil {
			return err
		}
	}
	return nil
}
