package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/placement"
	"stackgen/internal/project"
	"stackgen/internal/render"
	"stackgen/internal/selection"
)

// A Request is what a person asks for.
type Request struct {
	Paths []string
	Words []string // names of stacks; without any, the paths decide
	Again []string // VMs that get other decisions, each as STACK/KEY
	ID    string   // random, for a lock that has no id of its project

	NewClusters []string // stacks that are in another cluster than the recorded one
	NewStates   []string // stacks whose states replace the recorded ones
	StateMoved  []string // stacks whose states were moved to where their specs say

	Sources check.Sources
}

// A Result is what was recorded and decided, and what was not.
type Result struct {
	Project  *project.Project
	Recorded []lock.Recording
	Left     []finding.Finding // about VMs of which nothing was recorded
	Kept     []finding.Finding // about VMs that keep their decisions, although other ones were asked for
	Decided  []Decision
	Loads    []placement.Load
	Advice   []placement.Advice
	Render   bool     // a render would change files now
	Notes    []string // what a render would say of the lock, had it written it

	stacks []string // that the words name; nil without words
}

// A Decision is what was decided for a VM now. Without Again, what it lacks was decided
// before or is in the spec.
type Decision struct {
	placement.Decision
	Again bool
	VMID  int
	MACs  []string
}

// Run reads the cluster and the states once, and records what they show. Then it
// decides what only the cluster knows, and again what it is told to, unless a VM may
// exist.
func Run(ctx context.Context, q Request) (*Result, error) {
	p, err := load(q)
	if err != nil {
		return nil, err
	}
	r := &Result{Project: p}
	if len(q.Words) > 0 {
		r.stacks = p.SelectedNames()
	}
	s := check.New(p, q.Sources)
	s.NewClusters, s.NewStates = q.NewClusters, q.NewStates
	o, err := s.Observe(ctx, q.Again)
	if err != nil {
		return nil, err
	}
	q.withoutMoved(p, o)
	if r.Recorded, err = p.Record(ctx, o.Seen, q.Sources.Progress); err != nil {
		return nil, err
	}
	for i := range r.Recorded {
		if one := &r.Recorded[i]; !one.Unit && one.Key != "" {
			one.Stack, one.Key = p.Rendered.Renamed(p.Stacks, one.Stack, one.Key)
		}
	}
	r.Kept = o.Kept
	r.Left = slices.DeleteFunc(o.Left, func(f finding.Finding) bool { return slices.Contains(q.Again, f.String()) })
	inv := s.Inventory
	if slices.ContainsFunc(r.Left, func(f finding.Finding) bool { return f.Type == finding.Stack && f.Stops() }) {
		inv = nil // what another cluster has decides nothing
	}
	if len(r.Kept) > 0 || inv == nil {
		q.Again = nil
	}
	return r, r.decide(ctx, q, inv)
}

// withoutMoved drops what was observed of stacks whose states were moved: they were read
// where the lock says.
func (q *Request) withoutMoved(p *project.Project, o *check.Observation) {
	moved := func(stack string) bool { return slices.Contains(q.StateMoved, p.Stacks.NewName(stack)) }
	o.Seen = slices.DeleteFunc(o.Seen, func(s lock.Observed) bool { return moved(s.Stack) })
	o.Left = slices.DeleteFunc(o.Left, func(f finding.Finding) bool { return moved(f.Stack) && f.Type != finding.Stack })
}

// load reads the project, and checks that it has the VMs.
func load(q Request) (*project.Project, error) {
	p, err := project.Load(q.Paths, "")
	switch {
	case err != nil:
		return nil, err
	case p.Stacks == nil:
		return nil, &project.BlockedError{Project: p}
	case p.Empty():
		return nil, p.NoSpecs()
	}
	all := slices.Concat(p.Stacks.Stacks, p.Rendered.Tombstones(p.Stacks))
	names, err := selection.Whole("resolve", all, q.Words)
	if err != nil {
		return nil, err
	}
	p.Limit(names)
	for _, name := range q.Again {
		stack, key, _ := strings.Cut(name, "/")
		s := p.Rendered.Stacks.Get(stack)
		switch {
		case s == nil || s.VMs.Get(key) == nil:
			return nil, fmt.Errorf("--again %s: the lock has no such guest; a guest is STACK/KEY", name)
		case !p.Selected(stack):
			return nil, fmt.Errorf("--again %s: stack %s is not among those that the command is for", name, stack)
		}
	}
	p.Stacks.Stacks = all
	for _, name := range slices.Concat(q.NewClusters, q.NewStates, q.StateMoved) {
		if !slices.Contains(p.SelectedNames(), name) {
			return nil, fmt.Errorf("no stack %q here; stacks: %s", name, strings.Join(p.SelectedNames(), ", "))
		}
	}
	return p, nil
}

// decide makes the decisions that are missing in the lock as it is now, and writes it.
// Where VMs get other decisions, it renders too. inv is nil if nothing should be decided.
// What a render refuses for another reason is for render to say.
func (r *Result) decide(ctx context.Context, q Request, inv *cluster.Inventory) (err error) {
	unlock, err := project.LockFolder(ctx, q.Paths, "", q.Sources.Progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	p, err := project.Load(q.Paths, "")
	if err != nil || p.Stacks == nil {
		return err
	}
	p.Limit(r.stacks)
	by, options := &placement.Resolver{}, lock.Options{Project: q.ID, Again: q.Again, StateMoved: q.StateMoved}
	if inv != nil {
		by = placement.New(p.Stacks, p.Rendered, inv, q.Again)
		options.MACs, options.VMIDs, options.Resolve, options.Cluster = inv.MACs(), inv.VMIDs(), by.Resolve, inv.Identity()
	}
	rendering, err := render.New(p, options)
	again := len(q.Again) > 0
	switch {
	case err != nil:
		return err
	case rendering.Rejected != nil && (again || len(by.Decisions) > 0 || by.Problems > 0):
		return rendering.Rejected
	case rendering.Rejected != nil:
		return nil
	case again && rendering.Blocked():
		return errors.New("a file that stackgen did not write is in the way; `stackgen render --check` names it")
	}
	r.decisions(p.Lock, by.Decisions, renamed(p, q.Again))
	r.Loads = by.Loads()
	if inv != nil {
		r.Advice = placement.Advise(p.SelectedStacks(), p.Lock, inv)
	}
	switch {
	case again:
		r.newStacks(p)
		return rendering.Write()
	case len(r.Decided) > 0:
		r.newStacks(p)
		r.Left = slices.DeleteFunc(r.Left, func(f finding.Finding) bool { return f.Kind == finding.Unrendered }) // they are in the lock now
		r.Render = len(rendering.Changes) > 1
		return rendering.WriteLock()
	}
	r.Render = len(rendering.Changes) > 0
	return nil
}

// newStacks lists of which cluster the stacks are that the lock did not have. Their
// first observation is written together with their decisions.
func (r *Result) newStacks(p *project.Project) {
	r.Notes = p.Notes
	for _, s := range p.Lock.Stacks {
		had := slices.ContainsFunc(p.Rendered.Stacks, func(e lock.Entry[lock.Stack]) bool { return p.Stacks.NewName(e.Key) == s.Key })
		if s.Value.Cluster != nil && !had {
			r.Recorded = append(r.Recorded, lock.Recording{Stack: s.Key, What: []string{lock.SawCluster}})
		}
	}
}

// renamed are the names that VMs of the lock have after a render.
func renamed(p *project.Project, names []string) []string {
	var out []string
	for _, name := range names {
		stack, key, _ := strings.Cut(name, "/")
		stack, key = p.Rendered.Renamed(p.Stacks, stack, key)
		out = append(out, stack+"/"+key)
	}
	return out
}

// decisions lists what was decided.
func (r *Result) decisions(l *lock.Lock, made []placement.Decision, again []string) {
	decided := map[string]bool{}
	for _, d := range made {
		v := l.Stacks.Get(d.Stack).VMs.Get(d.Key)
		name := d.Stack + "/" + d.Key
		decided[name] = true
		r.Decided = append(r.Decided, Decision{d, slices.Contains(again, name), v.VMID, v.MACs})
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(again))) {
		if stack, key, _ := strings.Cut(name, "/"); !decided[name] {
			v := l.Stacks.Get(stack).VMs.Get(key)
			r.Decided = append(r.Decided, Decision{placement.Decision{Stack: stack, Key: key, Container: v.IsContainer()}, true, v.VMID, v.MACs})
			decided[name] = true
		}
	}
	r.Left = slices.DeleteFunc(r.Left, func(f finding.Finding) bool { return decided[f.String()] }) // judged without the decision
}
