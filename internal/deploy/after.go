package deploy

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// reread reads the project, the cluster and the states of one stack again, and removes
// import files that have done their work.
func (r *run) reread(st *stack) (*check.Session, []finding.Finding, error) {
	for said := false; ; said = true {
		p, err := r.open()
		if err != nil {
			return nil, nil, err
		}
		p.Selected = func(name string) bool { return name == st.name }
		s := check.New(p, check.Sources{})
		imports, err := s.Imports(r.ctx)
		if err != nil {
			return nil, nil, err
		}
		if again, err := r.newState(s, imports.Findings); again || err != nil {
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		waiting := r.waitsFor(s, imports.Findings)
		if waiting == "" {
			if err := s.WriteImports(imports.Changes); err != nil {
				return nil, nil, err
			}
			found, err := s.Rejudge(r.ctx, false)
			return s, found, err
		}
		if !said {
			r.say("%s; waiting", waiting)
		}
		if err := r.pause(); err != nil {
			return nil, nil, err
		}
	}
}

// newState records the state into which an apply from here has imported VMs, whose former
// state was lost. The import files prove it, so it must be recorded before they are removed.
// It reports whether the lock is another one now.
func (r *run) newState(s *check.Session, found []finding.Finding) (bool, error) {
	s.NewStates = nil
	for _, f := range found {
		if f.Kind == finding.OtherState && f.Severity == finding.OK {
			s.NewStates = append(s.NewStates, f.Stack)
		}
	}
	if len(s.NewStates) == 0 {
		return false, nil
	}
	r.say("recording the new state of %s, which replaces the one that is lost", strings.Join(s.NewStates, ", "))
	return true, r.record(s, s.NewStates...)
}

// record writes what was seen of stacks into the lock, as resolve does, without decisions
// that a render would follow.
func (r *run) record(s *check.Session, stacks ...string) error {
	observed, err := s.Observation(nil)
	if err != nil {
		return err
	}
	seen := slices.DeleteFunc(observed.Seen, func(o lock.Observed) bool { return !slices.Contains(stacks, o.Stack) })
	for _, o := range seen {
		for i := range o.VMs {
			o.VMs[i].Disks = nil
		}
	}
	return r.recordSeen(s, seen)
}

func (r *run) recordSeen(s *check.Session, seen []lock.Observed) error {
	recorded, err := s.Project.Record(r.background(), seen, func(text string) { r.say("%s", text) })
	if err == nil && len(recorded) > 0 {
		r.say("recorded what was seen in %s: %s", s.Project.LockFile(), plural(len(recorded), "entry", "entries"))
	}
	return err
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// later plans and applies the records that waited for the address of their VM. Anything
// else in these plans stops it.
func (r *run) later(st *stack, a *announcement) error {
	return r.laterOf(st, a.later(st.name), a)
}

func (r *run) laterOf(st *stack, units []string, a *announcement) error {
	if len(units) == 0 {
		return nil
	}
	s, found, err := r.reread(st)
	if err != nil {
		return err
	}
	still := r.waiting(s, found, st.name)
	units = slices.DeleteFunc(units, func(u string) bool {
		wait := slices.Contains(still, u)
		if wait && u == lock.UnitDNS { // with a unit for each VM, it is clear whose record it is
			r.say("the records of %s are one unit, and wait until all of its guests exist", st.name)
		}
		return wait
	})
	if len(units) == 0 {
		return nil
	}
	p, err := r.plan(s, st, found, units, nil)
	if err != nil || p.empty() {
		return err
	}
	if err := r.permitted(s, p, a); err != nil {
		return err
	}
	r.say("publishing records of %s", st.name)
	result, err := r.applyPlans(p)
	if err != nil {
		return err
	}
	if r.ctx.Err() != nil || result.failed() {
		return r.broken(p, result, a)
	}
	return nil
}

// permitted ends the command unless plans do only what was announced, and nothing of it
// is refused.
func (r *run) permitted(s *check.Session, p *plans, a *announcement) error {
	var unasked []tf.Summary
	for _, c := range p.changes() {
		if !a.allows(c) {
			unasked = append(unasked, c)
		}
	}
	if len(unasked) > 0 {
		return r.unconfirmed(p.stack.name, unasked)
	}
	found, err := s.Rejudge(r.ctx, false)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(found, func(f finding.Finding) bool {
		return !f.Stops() || !slices.Contains(p.only, f.Unit) && f.Type != finding.Stack
	})
	if len(own) > 0 {
		return r.refuse(s, own)
	}
	return nil
}

// unconfirmed ends the command because it would do what was not announced.
func (r *run) unconfirmed(stack string, changes []tf.Summary) error {
	other := &announcement{changes: changes}
	sum := report.Summary{
		Command: "blocked: this was not in the summary that was confirmed:",
		Stacks:  []string{stack},
		Actions: other.actions(),
		Notes:   []string{"run the same command again to see it, and to confirm it: `" + r.Line + "`"},
	}
	if err := sum.Print(r.Out, r.Options); err != nil {
		return err
	}
	return ended{finding.Blocked}
}

// left says that a stack was not begun.
func (r *run) left(p *plans) {
	r.failed = true
	_ = report.Printf(r.Out, "%s: the %s was not begun\n", p.stack.name, r.command)
}
