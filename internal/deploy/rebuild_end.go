package deploy

import (
	"errors"
	"maps"
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
	maps.DeleteFunc(b.stack.unfinished, func(key string, _ check.BegunVM) bool { return slices.Contains(b.keys(), key) })
	if err := b.stack.keepUnfinished(); err != nil {
		return err
	}
	if !anyStops(found) {
		return r.complete(b.stack, a)
	}
	if err := r.record(s, b.stack.name); err != nil {
		return err
	}
	var names []string
	for _, key := range b.keys() {
		names = append(names, b.stack.name+"/"+key)
	}
	own := slices.DeleteFunc(found, func(f finding.Finding) bool { return !f.Stops() || !concerns(&f, names) })
	if len(own) > 0 {
		return r.refuse(s, own)
	}
	err = report.Printf(r.Out, "rebuilt: %s; other findings of %s keep it from being planned: `stackgen preflight` names them\n",
		strings.Join(names, ", "), b.stack.name)
	return errors.Join(err, r.checkpoints(s, []string{b.stack.name}), r.endRebuild(b.stack))
}

// endRebuild removes the marks of a stack in which all VMs that have one are done: until then, they
// keep another run from replacing one twice. An apply that leaves nothing to do ends the rebuild of
// VMs whose guest of before exists: they are as their specs say.
func (r *run) endRebuild(st *stack) error {
	marked := func(e lock.Entry[lock.VM]) bool { return e.Value.Rebuild != nil }
	if l := r.p.Lock.Stacks.Get(st.name); l == nil || !slices.ContainsFunc(l.VMs, marked) {
		return nil
	}
	if err := r.reopen(); err != nil {
		return err
	}
	all, open := r.marked(st.name)
	switch {
	case len(all) == 0, len(open) > 0 && r.command == "rebuild":
		return nil
	case len(open) > 0:
		r.say("the rebuild of %s was begun, and has destroyed nothing: it is given up. To begin it again: `stackgen rebuild %s`",
			some(open), strings.Join(open, " "))
	}
	return r.p.EndRebuild(r.background(), st.name, all, func(text string) { r.say("%s", text) })
}

// marked are the VMs of a stack that have the mark of a rebuild, by their keys, and those of them,
// as STACK/KEY, that are not replaced yet.
func (r *run) marked(stack string) (all, open []string) {
	l := r.p.Lock.Stacks.Get(stack)
	if l == nil {
		return nil, nil
	}
	for i := range l.VMs {
		if v := &l.VMs[i].Value; v.Rebuild != nil {
			all = append(all, l.VMs[i].Key)
			if v.RebuildBegun() {
				open = append(open, stack+"/"+l.VMs[i].Key)
			}
		}
	}
	return all, open
}

// notRebuilt names the VMs whose rebuild an earlier run has begun, and nobody has completed.
func (r *run) notRebuilt() error {
	if err := r.reopen(); err != nil {
		return err
	}
	var left []string
	for _, st := range r.stacks {
		_, open := r.marked(st.name)
		left = append(left, open...)
	}
	if len(left) == 0 {
		return nil
	}
	return report.Printf(r.Out, "note: a rebuild of %s was begun, and is not done: `stackgen rebuild %s`. An apply gives it up\n",
		some(left), strings.Join(left, " "))
}
