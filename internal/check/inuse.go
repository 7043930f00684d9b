package check

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stackgen/generator"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// lockProbes bounds the units whose locks are probed. Another run of a stack holds
// one of the first: the units that it has applied have no findings.
const lockProbes = 8

// inUse returns findings about the states that another run holds locked, or nil. What
// was found in the middle of another run means nothing: half of its VMs exist, and are
// in no state. A lock that was taken after the start of this run may be its own.
func (s *Session) inUse(ctx context.Context, found []finding.Finding, started time.Time) ([]finding.Finding, error) {
	if s.sources.Inventory != "" || len(s.sources.States) > 0 {
		return nil, nil // the run would be somewhere else
	}
	root, err := filepath.Abs(s.Project.Root)
	if err != nil {
		return nil, err
	}
	return s.held(ctx, root, s.lockCandidates(root, found), started)
}

// Locked returns findings about the states of a stack that another run holds locked.
func (s *Session) Locked(ctx context.Context, stack string) ([]finding.Finding, error) {
	root, err := filepath.Abs(s.Project.Root)
	if err != nil {
		return nil, err
	}
	units := slices.DeleteFunc(s.Units(), func(u tf.Unit) bool { return u.Stack != stack })
	return s.held(ctx, root, units[:min(len(units), lockProbes)], time.Time{})
}

// held returns findings about the units of a list whose states are locked.
func (s *Session) held(ctx context.Context, root string, units []tf.Unit, started time.Time) ([]finding.Finding, error) {
	var out []finding.Finding
	for _, u := range units {
		tools, err := s.engine()
		if err != nil {
			return nil, err
		}
		l := s.Project.Lock.Stacks.Get(u.Stack)
		held, err := tools.Lock(ctx, generator.Backend(l, u.Unit, filepath.ToSlash(root)))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || held == nil || !started.IsZero() && held.Created.After(started) {
			continue // a state that cannot be read has a finding
		}
		use := guard.Use{Unit: u, Operation: held.Operation, Who: held.Who, ID: held.ID, Released: l.Backend.Type == "local"}
		if !held.Created.IsZero() {
			use.Since = held.Created.UTC().Format("2006-01-02 15:04:05 UTC")
		}
		out = append(out, use.Finding())
	}
	return out, nil
}

// lockCandidates are the units whose states another run may hold: those with findings
// that stop an apply, and those with the mark of a local lock.
func (s *Session) lockCandidates(root string, found []finding.Finding) []tf.Unit {
	var out []tf.Unit
	for _, u := range s.Units() {
		l := s.Project.Lock.Stacks.Get(u.Stack)
		stopped := slices.ContainsFunc(found, func(f finding.Finding) bool {
			return f.Stack == u.Stack && f.Unit == u.Unit && f.Severity != finding.OK
		})
		if l.Backend.Type == "local" {
			_, err := os.Lstat(filepath.Join(root, lock.StateDir, filepath.FromSlash(l.StateKey), u.Unit, "."+localState+".lock.info"))
			stopped = err == nil // without it there is no lock
		}
		if stopped && len(out) < lockProbes {
			out = append(out, u)
		}
	}
	return out
}
