package deploy

import (
	"cmp"
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
	"stackgen/internal/rollout"
)

// An Order says which VMs a rebuild gives new disks.
type Order struct {
	VMs      []string      // each as STACK/KEY
	Named    []string      // those of them that were named one by one
	Timeout  time.Duration // that a guest has to shut down; then it is stopped
	Continue bool          // those that an earlier run has rebuilt, and that are not healthy, are rebuilt again
	Whole    bool          // all VMs of the stacks are meant
	Backup   string        // the storage on which a backup of each is made before; none if empty
	Rollout

	wavings map[string]waving // by stacks
	all     []string          // VMs, before those that are done were left out
	again   []string          // that are rebuilt although an earlier run has done so
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
	stack  *stack
	found  []finding.Finding
	plans  *plans // nil until it is planned, or without VMs to replace
	waving waving
	waves  []rollout.Wave
	first  *rebuilding // the first wave
	half   []string    // keys of Done whose creation is not complete
}

// Rebuild gives VMs of the selected stacks of a project new disks. The result is the exit code.
func Rebuild(ctx context.Context, p *project.Project, q Request, o Order) (exit finding.Severity, err error) {
	if o.wavings, err = o.Rollout.wavings(p, o.VMs, o.Continue); err != nil {
		return finding.Failed, err
	}
	o.all = o.VMs
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

// rebuild is carryOutRebuild. After an error, which has no steps, it also says how to go on with a
// rebuild that has begun.
func (r *run) rebuild(o Order) error {
	err := r.carryOutRebuild(o)
	var end ended
	if err == nil || errors.As(err, &end) || errors.Is(err, errInterrupted) {
		return err
	}
	return errors.Join(r.notRebuilt(o), err)
}

// carryOutRebuild judges, plans, asks, replaces and verifies. What a run before it has left is completed
// first, as an apply does it.
func (r *run) carryOutRebuild(o Order) (err error) {
	defer func() {
		if !r.applied {
			err = errors.Join(err, r.forget())
		}
	}()
	if err := r.knowsWaves(o); err != nil {
		return err
	}
	s, all, err := r.lookForRebuild(o)
	if err == nil {
		all, err = r.resume(s, all, &o)
	}
	if err != nil {
		return err
	}
	for _, b := range all {
		r.sayDone(b, &o)
		for _, note := range r.leftHolders(s, b.stack.name, b.Done) { // another run has ended it
			r.say("%s", note)
		}
	}
	if err := r.mayBackUp(s, all, o); err != nil {
		return err
	}
	if err := r.mayExchange(s, all); err != nil {
		return err
	}
	left := slices.ContainsFunc(all, func(b *rebuilding) bool { return len(b.Left)+len(b.Lost) > 0 })
	if !left {
		if err := r.planRebuilds(s, all); err != nil {
			return err
		}
	}
	switch confirmed, err := r.confirmRebuild(s, all, o); {
	case r.DryRun || err != nil:
		return err
	case !confirmed:
		r.sayUnchanged("not confirmed")
		return ended{finding.Failed}
	}
	r.applied = true
	if err := r.markHealthy(all); err != nil {
		return err
	}
	r.show(r.announceRebuild(all))
	if left {
		if s, all, err = r.completeLeft(s, o, all); err != nil {
			return err
		}
	}
	return r.rebuildAll(s, all, o)
}

// knowsWaves refuses to go on with waves that neither the spec nor the command line describes: all that
// wait would be rebuilt at once, and none would be checked.
func (r *run) knowsWaves(o Order) error {
	for _, st := range r.stacks {
		l := r.p.Lock.Stacks.Get(st.name)
		if l == nil || o.wavings[st.name].rule != nil {
			continue
		}
		if slices.ContainsFunc(l.VMs, func(e lock.Entry[lock.VM]) bool { return e.Value.Status == lock.Live && e.Value.InRollout() }) {
			return fmt.Errorf("a rebuild of %s in waves is not done, and its spec has no `rollout`: give the options with which it was begun, "+
				"such as --wave 2 --healthy agent, or --wave 100%% --healthy none for all at once and no check", st.name)
		}
	}
	return nil
}

// rebuildAll rebuilds the VMs of each stack, and says what is not done.
func (r *run) rebuildAll(s *check.Session, all []*rebuilding, o Order) (err error) {
	for _, b := range all {
		if len(b.keys()) > 0 && (r.ctx.Err() != nil || r.failed) {
			r.failed = true
			err = report.Printf(r.Out, "%s: the rebuild of %s was not begun\n", b.stack.name, some(b.keys()))
		} else {
			err = r.rollOut(s, b, o)
		}
		if err != nil {
			return err
		}
	}
	if err := r.notRebuilt(o); err != nil {
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

// names are the VMs that are replaced, as STACK/KEY.
func (b *rebuilding) names() []string {
	var out []string
	for _, key := range b.keys() {
		out = append(out, b.stack.name+"/"+key)
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
		found := slices.DeleteFunc(now.Findings, func(f finding.Finding) bool { return !concerns(&f, o.VMs) && !r.stopsRecord(&f, o.VMs) })
		waiting := cmp.Or(r.waitsFor(s, found), r.working(s, found))
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

// working says on which VMs a task runs that a rebuild has begun, such as their start: a run that was
// killed has sent it, and only when it has ended the VM tells whether it is done. Unlike waitsFor, it does not ask what
// else stops an apply: of other VMs of the rebuild, that they are gone is what was asked for.
func (r *run) working(s *check.Session, found []finding.Finding) string {
	var names []string
	for i := range found {
		f := &found[i]
		if l := r.p.Lock.Stacks.Get(f.Stack); f.Kind != finding.Busy || f.Type != finding.VM || l == nil || !s.Working(f.VMID) {
			continue
		} else if e := l.VMs.Get(f.Key); e != nil && e.Rebuild != nil && !e.Rebuild.Waits {
			names = append(names, f.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "a task runs on " + some(names)
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
		b := &rebuilding{stack: st, found: found,
			Rebuild: s.Rebuild(found, st.name, of(st.name, o.VMs), of(st.name, o.Named), of(st.name, o.again))}
		b.cut(o.wavings[st.name], o.again, len(of(st.name, o.all)))
		all, refused = append(all, b), append(refused, b.Refused...)
		r.exchangedNotStarted(s, b)
		b.leaves()
	}
	if len(refused) > 0 {
		return nil, r.refuse(s, refused)
	}
	return all, nil
}

// leaves adds to what a run has left the VMs that it has replaced and not completed. If no other is
// replaced, nobody has verified those that are complete: they are completed, too.
func (b *rebuilding) leaves() {
	for _, key := range b.Done {
		if slices.Contains(b.Left, key) || b.stack.unfinished[key].VMID != 0 {
			b.half = append(b.half, key)
		}
	}
	add := b.half
	if len(b.Replaced) == 0 {
		add = b.Done
	}
	for _, key := range add {
		if !slices.Contains(b.Left, key) {
			b.Left = append(b.Left, key)
		}
	}
}

// sayDone says which VMs are not rebuilt again.
func (r *run) sayDone(b *rebuilding, o *Order) {
	const few = 5
	if n := len(b.Done); n > few {
		r.say("%d VMs of %s were rebuilt by a run that did not end; they are not rebuilt again", n, b.stack.name)
		return
	}
	for _, key := range b.Done {
		r.say("%s/%s was rebuilt by a run that did not end; it is not rebuilt again", b.stack.name, key)
	}
	if _, open := r.marked(b.stack.name); len(b.Done) > 0 && len(b.keys()) == 0 && len(open) > 0 {
		r.say("to rebuild it once more, first complete that run: `%s`; then name it again", r.resumes(o, []string{b.stack.name}))
	}
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
