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

// A Result is what was recorded, and what was not.
type Result struct {
	Project  *project.Project
	Recorded []lock.Recording
	Left     []finding.Finding // about VMs of which nothing was recorded
	Render   bool              // a render would change files now
}

// A Request is what to record.
type Request struct {
	Paths       []string
	NewClusters []string // stacks that are in another cluster than the recorded one
	NewStates   []string // stacks whose states replace the recorded ones
	Sources     session.Sources
}

// Run reads the cluster and the states once, and records what they show.
func Run(ctx context.Context, q Request) (*Result, error) {
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
	p.Stacks.Stacks = append(p.Stacks.Stacks, p.Rendered.Tombstones(p.Stacks)...)
	for _, name := range slices.Concat(q.NewClusters, q.NewStates) {
		if !slices.Contains(p.SelectedNames(), name) {
			return nil, fmt.Errorf("no stack %q here; stacks: %s", name, strings.Join(p.SelectedNames(), ", "))
		}
	}
	r := &Result{Project: p}
	s := session.New(p, q.Sources)
	s.NewClusters, s.NewStates = q.NewClusters, q.NewStates
	seen, left, err := s.Observe(ctx)
	if err != nil {
		return nil, err
	}
	if r.Recorded, err = p.Record(ctx, seen, q.Sources.Progress); err != nil {
		return nil, err
	}
	r.Left = left
	r.Render, err = outdated(q.Paths)
	return r, err
}

// outdated reports whether a render would change files. What a render refuses is for
// render to say.
func outdated(paths []string) (bool, error) {
	p, err := project.Load(paths, "")
	if err != nil {
		return false, err
	}
	r, err := render.New(p, lock.Options{})
	return err == nil && r.Rejected == nil && len(r.Changes) > 0, err
}
