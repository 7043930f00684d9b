package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"stackgen/generator"
	"stackgen/internal/engine"
	"stackgen/internal/files"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

const (
	stateReaders = 4       // units that are read at once
	maxState     = 1 << 30 // of a state or plan
	localState   = lock.StateFile
	planJSON     = "tfplan.json" // in a folder of --json-out-dir
)

// readStates reads the state of all units: from the files of the sources, else
// from the plans that were read, else from the backends.
func (s *Session) readStates(ctx context.Context) error {
	units := append(s.Units(), s.otherUnits()...)
	if err := s.readStateFiles(units); err != nil {
		return err
	}
	var rest []tf.Unit
	for _, u := range units {
		if _, known := s.State[u]; !known {
			rest = append(rest, u)
		}
	}
	if err := s.readBackends(ctx, rest); err != nil {
		return err
	}
	return s.readRecordUnits(ctx, units)
}

// readRecordUnits reads the states that decide about records of the selected stacks and are those of other stacks. Most
// runs need none.
func (s *Session) readRecordUnits(ctx context.Context, known []tf.Unit) error {
	more := guard.RecordUnits(s.input())
	if len(more) > 0 && len(s.sources.States) > 0 {
		if err := s.readStateFiles(append(known, more...)); err != nil {
			return err
		}
	}
	return s.readBackends(ctx, slices.DeleteFunc(more, func(u tf.Unit) bool {
		_, read := s.State[u]
		return read
	}))
}

// readStateFiles reads the states that the sources have files of.
func (s *Session) readStateFiles(units []tf.Unit) error {
	given, err := s.unitFiles("state", s.sources.States, units, planJSON, localState)
	if err != nil {
		return err
	}
	for u, file := range given {
		body, err := files.ReadGiven(file, maxState)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", file, err)
		}
		state, err := tf.ParseState(body)
		if err != nil {
			state.Unreadable = file + ": " + err.Error()
		}
		s.State[u] = state
	}
	return nil
}

// ReadStates reads the state of some units: from the files of the sources where it
// has any, else from the backends.
func (s *Session) ReadStates(ctx context.Context, units []tf.Unit) error {
	if len(s.sources.States) > 0 {
		return s.readStates(ctx)
	}
	return s.readBackends(ctx, units)
}

// readBackends reads the state of units from their backends. A state that cannot
// be read is marked as unreadable. It never counts as empty.
func (s *Session) readBackends(ctx context.Context, units []tf.Unit) error {
	if len(units) == 0 {
		return nil
	}
	tools, err := s.engine()
	if err != nil {
		return err
	}
	root, err := filepath.Abs(s.Project.Root)
	if err != nil {
		return err
	}
	states := make([]tf.State, len(units))
	var workers sync.WaitGroup
	queue := make(chan int)
	for range min(stateReaders, len(units)) {
		workers.Go(func() {
			for i := range queue {
				var err error
				if states[i], err = s.backendState(ctx, tools, root, units[i]); err != nil {
					states[i].Unreadable = err.Error()
				}
			}
		})
	}
	for i := range units {
		queue <- i
	}
	close(queue)
	workers.Wait()
	for i, u := range units {
		s.State[u] = states[i]
	}
	return ctx.Err()
}

// backendState reads the state of one unit. It reads the file of a local backend
// itself if that is not encrypted; the engine reads all others.
func (s *Session) backendState(ctx context.Context, tools *engine.Tools, root string, u tf.Unit) (tf.State, error) {
	l := s.Project.Lock.Stacks.Get(u.Stack)
	if l.Backend.Type == "local" {
		file := path.Join(lock.StateDir, l.StateKey, u.Unit, localState)
		body, err := files.Read(filepath.Join(root, filepath.FromSlash(file)), maxState)
		if errors.Is(err, fs.ErrNotExist) {
			return tf.ParseState(nil)
		}
		if state, parsed := tf.ParseState(body); err == nil && parsed == nil {
			return state, nil
		}
		if err == nil && tf.EndsEarly(body) {
			return tf.State{CutOff: file}, fmt.Errorf("%s ends early, after %d bytes", file, len(body))
		}
	}
	body, err := tools.State(ctx, generator.Backend(l, u.Unit, filepath.ToSlash(root)))
	if err != nil {
		return tf.State{}, err
	}
	return tf.ParseState(body)
}

// ReadOutputs reads the states of the guests of some stacks, which has their outputs:
// from the files of the sources, else from the backends, and never twice. For live
// outputs it also reads the cluster.
func (s *Session) ReadOutputs(ctx context.Context, stacks []string, live bool) (err error) {
	if live {
		if s.Inventory, err = ReadCluster(ctx, s.Project, s.sources); err != nil {
			return err
		}
	}
	if err := s.readStateFiles(append(s.Units(), s.otherUnits()...)); err != nil {
		return err
	}
	var rest []tf.Unit
	for _, stack := range stacks {
		for _, u := range tf.GuestUnits(stack) {
			if _, known := s.State[u]; !known && slices.Contains(s.Units(), u) {
				rest = append(rest, u)
			}
		}
	}
	return s.readBackends(ctx, rest)
}
