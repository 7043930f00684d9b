package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/live"
	"stackgen/internal/power"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

// Apply applies the selected stacks of a project. The result is the exit code.
func Apply(ctx context.Context, p *project.Project, q Request) (exit finding.Severity, err error) {
	r, err := begin(ctx, "apply", p, q)
	if err != nil {
		return finding.Failed, err
	}
	defer func() {
		if failed := r.close(); failed != nil {
			exit, err = finding.Failed, errors.Join(err, failed)
		}
	}()
	return r.finish(r.apply())
}

// apply plans, asks, applies and verifies.
func (r *run) apply() (err error) {
	defer func() {
		if !r.applied {
			err = errors.Join(err, r.revert(), r.forget())
		}
	}()
	s, found, err := r.look()
	if err != nil {
		return err
	}
	var all []*plans
	for _, st := range r.stacks {
		r.say("planning %s", st.name)
		p, err := r.plan(s, st, found, nil, r.waiting(s, found, st.name))
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	if found, err = s.Rejudge(r.ctx, false); err != nil {
		return err
	}
	if finding.Exit(found) != finding.OK {
		return r.refuse(s, found)
	}
	announced := announce(found, all)
	for _, st := range r.stacks {
		r.completed(st, s)
		st.resumes(found, r.p.Lock.Stacks.Get(st.name))
		st.interrupts(found)
		announced.starts = append(announced.starts, startsOf(r.off(st, s, found), st.stopped)...)
	}
	if announced.nothing() {
		return r.nothing(s, found)
	}
	if err := r.summarize(s, found, announced); err != nil {
		return err
	}
	switch confirmed, err := r.confirm(); {
	case r.DryRun || err != nil:
		return err
	case !confirmed:
		r.sayUnchanged("not confirmed")
		return ended{finding.Failed}
	}
	r.undo, r.applied = nil, true
	if err := r.recordDetached(s); err != nil {
		return err
	}
	r.show(announced)
	return r.carryOut(s, all, announced)
}

// summarize prints what is about to be done.
func (r *run) summarize(s *check.Session, found []finding.Finding, a *announcement) error {
	notes := slices.Concat(s.Notes(found), r.checkpointNote(s), r.holderNotes(s, a), lossNotes(s, a), r.thenNote())
	sum := report.Summary{Command: r.command, Stacks: r.p.SelectedNames(), Actions: a.actions(), Notes: notes}
	for i := range found {
		f := &found[i]
		if f.Kind == finding.Create && f.Type == finding.VM && r.Created != nil {
			*r.Created = append(*r.Created, f.Stack+"/"+f.Key)
		}
		if f.Notable() || f.Type == finding.Unit {
			sum.Findings = append(sum.Findings, *f)
		}
	}
	return sum.Print(r.Out, r.Options)
}

// confirm asks for the word yes, as OpenTofu does.
func (r *run) confirm() (bool, error) {
	if r.Yes || r.DryRun {
		return r.Yes, nil
	}
	return r.answer("Apply these changes? Only `yes` is accepted: ", "yes")
}

// answer asks a question, and reports whether the answer is the one that is needed.
func (r *run) answer(question, want string) (bool, error) {
	line, err := live.Ask(r.ctx, r.In, r.ErrOut, question)
	if r.ctx.Err() != nil {
		err = errInterrupted
	}
	return err == nil && line == want, err
}

// nothing ends an apply that has nothing to do.
func (r *run) nothing(s *check.Session, found []finding.Finding) error {
	said := "nothing to do: " + asSpecified(r.p.SelectedNames()) + exceptions(found) + r.pending(found, r.p.SelectedNames()) + "\n"
	if r.DryRun {
		for _, note := range r.checkpointNote(s) {
			said += "note: " + note + "\n"
		}
		return report.Text(r.Out, said)
	}
	r.undo, r.applied = nil, true
	if err := r.unchanged(s, r.stacks); err != nil {
		return err
	}
	if err := report.Text(r.Out, said); err != nil {
		return err
	}
	if err := r.checkpoints(s, r.p.SelectedNames()); err != nil {
		return err
	}
	return errors.Join(r.outputs(), r.rerender())
}

// unchanged keeps what was observed of stacks in which nothing is to do: an apply that ended
// early may have done it, and recorded nothing.
func (r *run) unchanged(s *check.Session, stacks []*stack) error {
	for _, st := range stacks {
		if err := st.keepUnfinished(); err != nil {
			return err
		}
	}
	if err := r.record(s, namesOfStacks(stacks)...); err != nil {
		return err
	}
	for _, st := range stacks {
		if err := r.endRebuild(s, st); err != nil {
			return err
		}
	}
	return nil
}

func namesOfStacks(stacks []*stack) []string {
	var names []string
	for _, st := range stacks {
		names = append(names, st.name)
	}
	return names
}

// exceptions says which VMs are not as their specs say although no plan changes them: they were made otherwise, or have or
// lack what no plan shows.
func exceptions(found []finding.Finding) string {
	var made, unread, lacks, out []string
	what := "made from another template"
	for i := range found {
		f := &found[i]
		if f.MadeFrom != 0 {
			made = append(made, fmt.Sprintf("%s from %d", f, f.MadeFrom))
		}
		for _, m := range f.MadeWith {
			if m.Read {
				lacks = append(lacks, fmt.Sprintf("%s has %s: %s", f, m.Property, m.Was))
				continue
			}
			what = "not made as their specs say"
			made = append(made, fmt.Sprintf("%s with %s: %s", f, m.Property, m.Was))
		}
		for _, key := range f.Lacks {
			lacks = append(lacks, fmt.Sprintf("%s has no %s", f, key))
		}
		if len(f.Unread) > 0 {
			unread = append(unread, fmt.Sprintf("%s has %s", f, strings.Join(f.Unread, " and ")))
		}
	}
	if len(made) > 0 {
		out = append(out, fewOf(made)+": "+what)
	}
	if len(unread) > 0 {
		out = append(out, fewOf(unread)+", which neither spec nor state have")
	}
	if len(lacks) > 0 {
		out = append(out, fewOf(lacks))
	}
	if len(out) == 0 {
		return ""
	}
	return ", except that " + strings.Join(out, ", and that ") + "; `stackgen preflight` says more"
}

// fewOf names some of many.
func fewOf(names []string) string {
	const few = 5
	if n := len(names); n > few {
		names = append(names[:few:few], fmt.Sprintf("and %d more", n-few))
	}
	return strings.Join(names, ", ")
}

// pending says which guests of stacks have what their specs say only after a restart.
func (r *run) pending(found []finding.Finding, stacks []string) string {
	var out []string
	for i := range found {
		if f := &found[i]; len(f.Pending) > 0 && slices.Contains(stacks, f.Stack) {
			out = append(out, f.String())
		}
	}
	if len(out) == 0 {
		return ""
	}
	line := shell.In(r.p.Elsewhere(), "stackgen restart --pending "+strings.Join(stacks, " "))
	return "; changes of " + fewOf(out) + " wait for a restart: `" + line + "`"
}

// unreadSettings says which guests of a stack have new settings of cloud-init. They read them when they start, and Proxmox VE
// does not list these among what waits for a restart. The line names the stack if they are all of it: a reboot refuses guests
// that are off.
func (r *run) unreadSettings(st *stack, found []finding.Finding, now *cluster.Inventory) string {
	var out []string
	others := false
	for i := range found {
		f := &found[i]
		if f.Type != finding.VM || f.Stack != st.name {
			continue
		}
		g := now.Guest(f.VMID)
		if g != nil && g.Status == string(power.Running) && st.waits[f.Key] == f.VMID && len(f.Pending) == 0 {
			out = append(out, f.String())
		} else {
			others = true
		}
	}
	if len(out) == 0 {
		return ""
	}
	reboots := strings.Join(out, " ")
	if !others {
		reboots = st.name
	}
	line := shell.In(r.p.Elsewhere(), "stackgen power reboot "+reboots)
	reads := one(out, "reads its new settings of cloud-init when it starts", "read their new settings of cloud-init when they start")
	return fewOf(out) + " " + reads + ": `" + line + "`"
}

func asSpecified(stacks []string) string {
	if len(stacks) > 1 {
		return strings.Join(stacks, ", ") + " are as their specs say"
	}
	return strings.Join(stacks, "") + " is as its spec says"
}

// carryOut applies the plans that were confirmed, and what follows from them.
func (r *run) carryOut(s *check.Session, all []*plans, a *announcement) error {
	var idle []*stack
	all = slices.DeleteFunc(all, func(p *plans) bool {
		nothing := p.empty() && len(a.later(p.stack.name)) == 0 && !a.starting(p.stack.name)
		if nothing {
			idle = append(idle, p.stack)
		}
		return nothing
	})
	if err := errors.Join(r.unchanged(s, idle), r.checkpoints(s, namesOfStacks(idle))); err != nil {
		return err
	}
	for _, p := range all {
		if r.ctx.Err() != nil {
			r.left(p)
			continue
		}
		if err := r.recordEnd(r.carryOutStack(p, a)); err != nil {
			return err
		}
	}
	if r.ctx.Err() != nil {
		return errInterrupted
	}
	if r.failed {
		return r.partialOutputs()
	}
	return errors.Join(r.outputs(), r.rerender())
}

// recordEnd keeps how a stack ended, so that the other ones are not stopped by it.
func (r *run) recordEnd(err error) error {
	var end ended
	if !errors.As(err, &end) {
		return err
	}
	r.failed = true
	r.blocked = r.blocked || end.exit == finding.Blocked
	return nil
}

// carryOutStack applies the plans of one stack.
func (r *run) carryOutStack(p *plans, a *announcement) error {
	p, err := r.downloaded(p)
	if err == nil {
		p, err = r.cloned(p)
	}
	if err != nil {
		return err
	}
	if err := p.stack.begins(p, r.p.Lock.Stacks.Get(p.stack.name)); err != nil {
		return err
	}
	if err := r.awaitCleanup(p); err != nil {
		return err
	}
	r.say("applying %s", p.stack.name)
	result, err := r.applyPlans(p)
	if err != nil {
		return err
	}
	if r.ctx.Err() != nil || result.failed() {
		return r.broken(p, result, a)
	}
	if err := r.readHidden(p); err != nil {
		return err
	}
	return r.complete(p.stack, a)
}

// complete applies the records that waited, records what is there now, and verifies that
// nothing is left to do.
func (r *run) complete(st *stack, a *announcement) error {
	started, err := r.start(st, a)
	if err != nil {
		return err
	}
	if err := r.later(st, a); err != nil {
		return err
	}
	for round := 0; ; round++ {
		s, found, p, err := r.verify(st)
		if err != nil {
			return err
		}
		switch st.end = r.ending(s, st, found, p); {
		case st.end != "" && !started: // what failed is said
			st.end = ""
			return nil
		case st.end != "":
			return errors.Join(r.sayNow(st), r.checkpoints(s, []string{st.name}), r.endRebuild(s, st))
		case round > 0 || !st.follows(p, found) || anyStops(found):
			return r.remains(s, found, p)
		}
		r.saySecond(st, p)
		st.interrupts(found)
		result, err := r.applyPlans(p)
		if err != nil {
			return err
		}
		if r.ctx.Err() != nil || result.failed() {
			return r.broken(p, result, a)
		}
	}
}

// ending is what is said of a stack of which nothing is left to do, or of which only records of others are. It is
// empty otherwise.
func (r *run) ending(s *check.Session, st *stack, found []finding.Finding, p *plans) string {
	if p.empty() && !anyStops(found) {
		own := slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Stack != st.name })
		text := p.asSpecified() + exceptions(own) + r.pending(own, []string{st.name})
		if unread := r.unreadSettings(st, own, s.Inventory); unread != "" {
			text += "; " + unread
		}
		return text + "\n"
	}
	if others := r.othersRecords(s, found, p); len(others) > 0 {
		return r.sayOthers(st, others)
	}
	return ""
}

// verify reads a stack again, records what is there now, and returns the plans of what is
// left to do, and the findings with them.
func (r *run) verify(st *stack) (*check.Session, []finding.Finding, *plans, error) {
	s, found, err := r.reread(st)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := r.record(s, st.name); err != nil {
		return nil, nil, nil, err
	}
	r.completed(st, s)
	if err := st.keepUnfinished(); err != nil {
		return nil, nil, nil, err
	}
	p, err := r.plan(s, st, found, nil, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	found, err = s.Rejudge(r.ctx, false)
	return s, found, p, err
}

// remains names what is left to do after an apply.
func (r *run) remains(s *check.Session, found []finding.Finding, p *plans) error {
	r.failed = true
	if anyStops(found) {
		out := report.NewFindings(found, s.Notes(found))
		out.Endpoint = s.Endpoint()
		out.Answer = p.stack.name + " was applied, but is not as its spec says: " + out.Summary()
		return out.Print(r.Out, r.Options)
	}
	sum := report.Summary{
		Command:  "not done in",
		Stacks:   []string{p.stack.name},
		Actions:  announce(found, []*plans{p}).actions(),
		Findings: found,
		Notes:    []string{"it was not in the summary that was confirmed, so it was not applied. To apply it: `" + r.Line + "`"},
	}
	return sum.Print(r.Out, r.Options)
}
