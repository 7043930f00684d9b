package resolve

import (
	"context"
	"errors"

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

// Run reads the cluster and the states once, and records what they show.
func Run(ctx context.Context, paths []string, from session.Sources) (*Result, error) {
	p, err := project.Load(paths, "")
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
	r := &Result{Project: p}
	seen, left, err := session.New(p, from).Observe(ctx)
	if err != nil {
		return nil, err
	}
	if r.Recorded, err = p.Record(ctx, seen, from.Progress); err != nil {
		return nil, err
	}
	r.Left = left
	r.Render, err = outdated(paths)
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
