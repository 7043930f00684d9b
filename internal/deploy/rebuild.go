package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// An Order says which VMs a rebuild gives new disks.
type Order struct {
	VMs     []string      // each as STACK/KEY
	Named   []string      // those of them that were named one by one
	Timeout time.Duration // that a guest has to shut down; then it is stopped
}

// of are the keys of the VMs of a stack in a list.
func of(stack string, names []string) []string {
	var out []string
	for _, n := range names {
		if s, key, _ := strings.Cut(n, "/"); s == stack {
			out = append(out, key)
		}
	}
	return out
}

// A rebuilding is what a rebuild does in one stack.
type rebuilding struct {
	guard.Rebuild
	stack *stack
	found []finding.Finding
	plans *plans // nil until it is planned, or without VMs to replace
}

// Rebuild gives VMs of the selected stacks of a project new disks. The result is the exit code.
func Rebuild(ctx context.Context, p *project.Project, q Request, o Order) (exit finding.Severity, err error) {
	r, err := begin(ctx, "rebuild", p, q)
	if err != nil {
		return finding.Failed, err
	}
	defer func() {
		if failed := r.close(); failed != nil {
			exit, err = finding.Failed, errors.Join(err, failed)
		}
	}()
	return r.finish(r.rebuild(o))
}

// rebuild judges, plans, asks, replaces and verifies. What a run before it has left is completed
// first, as an apply does it.
func (r *run) rebuild(o Order) (err error) {
	defer func() {
		if !r.applied {
			err = errors.Join(err, r.forget())
		}
	}()
	s, all, err := r.lookForRebuild(o)
	if err != nil {
		return err
	}
	left := slices.ContainsFunc(all, func(b *rebuilding) bool { return len(b.Left)+len(b.Lost) > 0 })
	if !left {
		if err := r.planRebuilds(s, all); err != nil {
			return err
		}
	}
	switch confirmed, err := r.confirmRebuild(s, all); {
	case r.DryRun || err != nil:
		return err
	case !confirmed:
		r.say("not confirmed; nothing was changed")
		return ended{finding.Failed}
	}
	r.applied = true
	r.show(announceRebuild(all))
	if left {
		if s, all, err = r.completeLeft(o, all); err != nil {
			return err
		}
	}
	for _, b := range all {
		if r.ctx.Err() != nil || r.failed {
			r.failed = true
			err = report.Printf(r.Out, "%s: the rebuild of %s was not begun\n", b.stack.name, some(b.keys()))
		} else {
			err = r.recordEnd(r.rebuildStack(s, b, o))
		}
		if err != nil {
			return err
		}
	}
	if err := r.notRebuilt(); err != nil {
		return err
	}
	switch {
	case r.ctx.Err() != nil:
		return errInterrupted
	case r.failed:
		return r.partialOutputs()
	}
	return errors.Join(r.outputs(), r.rerender())
}

// keys are the VMs that are replaced.
func (b *rebuilding) keys() []string {
	var out []string
	for _, vm := range b.Replaced {
		out = append(out, vm.Key)
	}
	return out
}

// lookForRebuild reads the cluster and the states, and ends the command if a VM may not be
// replaced. What is wrong with other VMs does not matter.
func (r *run) lookForRebuild(o Order) (*check.Session, []*rebuilding, error) {
	from := r.sources()
	from.Destroys = true
	for said := false; ; said, from.Progress = true, nil {
		s := check.New(r.p, from)
		now, err := s.Preflight(r.ctx, false, false)
		if err != nil {
			return nil, nil, err
		}
		found := slices.DeleteFunc(now.Findings, func(f finding.Finding) bool { return !concerns(&f, o.VMs) })
		waiting := r.waitsFor(s, found)
		if waiting == "" {
			all, err := r.judgeRebuild(s, found, o)
			return s, all, err
		}
		if !said {
			r.say("%s; waiting until it has ended", waiting)
		}
		if err := r.pause(); err != nil {
			return nil, nil, err
		}
	}
}

// concerns reports whether a rebuild of VMs depends on a finding.
func concerns(f *finding.Finding, vms []string) bool {
	if f.Type == finding.VM {
		return slices.Contains(vms, f.String())
	}
	return f.Type == finding.Stack || f.Kind == finding.Unrendered || f.Type == finding.Unit && f.Unit == lock.UnitVM
}

// judgeRebuild says what is done in each stack, and ends the command if anything is refused.
func (r *run) judgeRebuild(s *check.Session, found []finding.Finding, o Order) (all []*rebuilding, err error) {
	var refused []finding.Finding
	for _, f := range found {
		if f.Kind == finding.Unrendered || f.Type != finding.VM && f.Stops() {
			refused = append(refused, f)
		}
	}
	for _, st := range r.stacks {
		b := &rebuilding{stack: st, found: found, Rebuild: s.Rebuild(found, st.name, of(st.name, o.VMs), of(st.name, o.Named))}
		all, refused = append(all, b), append(refused, b.Refused...)
		for _, key := range b.Done {
			r.say("%s/%s was rebuilt by a run that did not end; it is not rebuilt again", st.name, key)
			incomplete := st.unfinished[key].VMID != 0 || len(b.Replaced) == 0 // nobody has verified the others
			if incomplete && !slices.Contains(b.Left, key) {
				b.Left = append(b.Left, key)
			}
		}
	}
	if len(refused) > 0 {
		return nil, r.refuse(s, refused)
	}
	return all, nil
}

// completeLeft completes VMs that runs have begun to replace, as an apply does, and looks again.
// Of the VMs that were confirmed, it returns those that are still to be replaced.
func (r *run) completeLeft(o Order, all []*rebuilding) (*check.Session, []*rebuilding, error) {
	var confirmed []string
	for _, b := range all {
		for _, key := range b.keys() {
			confirmed = append(confirmed, b.stack.name+"/"+key)
		}
		if len(b.Left)+len(b.Lost) == 0 {
			continue
		}
		if err := r.markLost(b); err != nil {
			return nil, nil, err
		}
		if err := r.recordEnd(r.completeStack(b)); err != nil || r.failed {
			return nil, nil, err
		}
	}
	if o.VMs = confirmed; len(confirmed) == 0 {
		return nil, nil, nil
	}
	if err := r.reopen(); err != nil {
		return nil, nil, err
	}
	s, again, err := r.lookForRebuild(o)
	if err != nil {
		return nil, nil, err
	}
	return s, again, r.planRebuilds(s, again)
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
	if found, err = s.Rejudge(false); err != nil {
		return err
	}
	if finding.Exit(found) != finding.OK {
		return r.refuse(s, found)
	}
	r.completed(b.stack, s)
	b.stack.resumes(found, r.p.Lock.Stacks.Get(b.stack.name))
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
		"apply first\n  > stackgen apply %s\n", stack, address, shell.Path(r.p.Specs[stack]))
	return errors.Join(err, ended{finding.Blocked})
}

// reopen reads the project again, with what was recorded.
func (r *run) reopen() error {
	selected := r.p.Selected
	p, err := r.open()
	if err != nil {
		return err
	}
	p.Selected = selected
	r.p = p
	return nil
}

// confirmRebuild says what is lost, and asks for the key of one VM, or for the name of each stack.
func (r *run) confirmRebuild(s *check.Session, all []*rebuilding) (bool, error) {
	n, words := 0, []string{}
	var last string
	for _, b := range all {
		keys := append(b.keys(), b.Lost...)
		if n += len(keys); len(keys) > 0 {
			words, last = append(words, b.stack.name), keys[0]
		}
	}
	if err := r.summarizeRebuild(s, all); err != nil || r.Yes || r.DryRun || n == 0 {
		return err == nil && !r.DryRun, err
	}
	what := "the name of the stack"
	if n == 1 {
		words, what = []string{last}, "its key"
	}
	for _, word := range words {
		question := fmt.Sprintf("What is on their disks is lost. To rebuild %s, type %s, %s: ", report.Count(n, "VM"), what, word)
		if confirmed, err := r.answer(question, word); err != nil || !confirmed {
			return false, err
		}
	}
	return true, nil
}
