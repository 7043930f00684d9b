package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/render"
	"stackgen/internal/session"
)

// A Request is what a person asks for.
type Request struct {
	Paths []string
	Again []string // VMs that get other decisions, each as STACK/KEY
	ID    string   // random, for a lock that has no id of its project

	NewClusters []string // stacks that are in another cluster than the recorded one
	NewStates   []string // stacks whose states replace the recorded ones

	Sources session.Sources
}

// A Result is what was recorded and decided, and what was not.
type Result struct {
	Project  *project.Project
	Recorded []lock.Recording
	Left     []finding.Finding // about VMs of which nothing was recorded
	Kept     []finding.Finding // about VMs that keep their decisions, although other ones were asked for
	Decided  []Decision
	Render   bool // a render would change files now
}

// A Decision is what was decided again for a VM.
type Decision struct {
	Stack, Key string
	VMID       int
	MACs       []string
}

// Run reads the cluster and the states once, and records what they show. Then it
// decides again, unless a VM may exist.
func Run(ctx context.Context, q Request) (*Result, error) {
	p, err := load(q)
	if err != nil {
		return nil, err
	}
	r := &Result{Project: p}
	s := session.New(p, q.Sources)
	s.NewClusters, s.NewStates = q.NewClusters, q.NewStates
	o, err := s.Observe(ctx, q.Again)
	if err != nil {
		return nil, err
	}
	if r.Recorded, err = p.Record(ctx, o.Seen, q.Sources.Progress); err != nil {
		return nil, err
	}
	r.Kept = o.Kept
	r.Left = slices.DeleteFunc(o.Left, func(f finding.Finding) bool { return slices.Contains(q.Again, f.String()) })
	if len(q.Again) > 0 && len(r.Kept) == 0 {
		if err := r.decide(ctx, q, o.MACs); err != nil {
			return nil, err
		}
	}
	r.Render, err = outdated(q)
	return r, err
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
	case len(p.Rendered.Stacks) == 0:
		return nil, errors.New("there is no " + lock.File + " to record in; run `stackgen render` first")
	}
	for _, name := range q.Again {
		stack, key, _ := strings.Cut(name, "/")
		s := p.Rendered.Stacks.Get(stack)
		switch {
		case s == nil || s.VMs.Get(key) == nil:
			return nil, fmt.Errorf("--again %s: the lock has no such VM; a VM is STACK/KEY", name)
		case !p.Selected(stack):
			return nil, fmt.Errorf("--again %s: the spec of stack %s is not among the paths", name, stack)
		}
	}
	p.Stacks.Stacks = append(p.Stacks.Stacks, p.Rendered.Tombstones(p.Stacks)...)
	for _, name := range slices.Concat(q.NewClusters, q.NewStates) {
		if !slices.Contains(p.SelectedNames(), name) {
			return nil, fmt.Errorf("no stack %q here; stacks: %s", name, strings.Join(p.SelectedNames(), ", "))
		}
	}
	return p, nil
}

// decide renders with other decisions for some VMs. macs are the addresses of all
// guests of the cluster.
func (r *Result) decide(ctx context.Context, q Request, macs []string) (err error) {
	unlock, err := project.LockFolder(ctx, q.Paths, "", q.Sources.Progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	p, err := project.Load(q.Paths, "")
	if err != nil {
		return err
	}
	rendering, err := render.New(p, lock.Options{Project: q.ID, Again: q.Again, MACs: macs})
	switch {
	case err != nil:
		return err
	case rendering.Rejected != nil:
		return rendering.Rejected
	case rendering.Blocked():
		return errors.New("a file that stackgen did not write is in the way; `stackgen render --check` names it")
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(q.Again))) {
		stack, key, _ := strings.Cut(name, "/")
		v := p.Lock.Stacks.Get(stack).VMs.Get(key)
		r.Decided = append(r.Decided, Decision{stack, key, v.VMID, v.MACs})
	}
	return rendering.Write()
}

// outdated reports whether a render would change files. What a render refuses is for
// render to say.
func outdated(q Request) (bool, error) {
	p, err := project.Load(q.Paths, "")
	if err != nil {
		return false, err
	}
	r, err := render.New(p, lock.Options{Project: q.ID})
	return err == nil && r.Rejected == nil && len(r.Changes) > 0, err
}
