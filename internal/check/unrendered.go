package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stackgen/generator"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// maxRendered bounds a rendered file: ten thousand VMs take a tenth of it.
const maxRendered = 256 << 20

// unrendered are the findings for stacks whose specs were changed after the last
// render, and for those with files that stackgen did not write: an apply would do what the
// files say. known are stacks of which the rules say it.
func (s *Session) unrendered(severity finding.Severity, known []string) ([]finding.Finding, error) {
	added, err := s.added()
	if err != nil {
		return nil, err
	}
	stacks := slices.DeleteFunc(s.Project.SelectedStacks(), func(stack *schema.Stack) bool { return slices.Contains(known, stack.Name) })
	undecided, err := s.Project.Unrendered()
	if err != nil {
		return nil, err
	}
	if !undecided {
		shared, err := generator.Shared(s.Project.Stacks, s.Project.Lock)
		if err != nil {
			return nil, fmt.Errorf("a defect of stackgen, please report it: %w", err)
		}
		var changed []*schema.Stack
		for _, stack := range stacks {
			same, err := s.sameOnDisk(stack, shared)
			if err != nil {
				return nil, err
			}
			if !same {
				changed = append(changed, stack)
			}
		}
		stacks = changed
	}
	return append(added, guard.Unrendered(stacks, severity)...), nil
}

// elsewhere are the selected stacks that were rendered for another state, cluster or DNS server
// than their specs say: OpenTofu goes where the last render leads it.
func (s *Session) elsewhere() ([]string, error) {
	var out []string
	for _, stack := range s.Project.SelectedStacks() {
		l := s.Project.Lock.Stacks.Get(stack.Name)
		if l == nil {
			continue
		}
		f, err := generator.Settings(stack, l)
		if err != nil {
			return nil, fmt.Errorf("a defect of stackgen, please report it: %w", err)
		}
		switch body, err := s.readRendered(f.Path); {
		case errors.Is(err, fs.ErrNotExist): // nothing can be destroyed here
		case err != nil:
			return nil, fmt.Errorf("cannot read %s: %w", f.Path, err)
		case !generator.SamePlaces(f.Body, body):
			out = append(out, stack.Name)
		}
	}
	return out, nil
}

// lostLocks are the selected stacks that were rendered, and that the lock on disk does
// not have.
func (s *Session) lostLocks() []string {
	var out []string
	for _, stack := range s.Project.SelectedStacks() {
		if s.rendered(stack) && s.Project.Rendered.Stacks.Get(stack.Name) == nil {
			out = append(out, stack.Name)
		}
	}
	return out
}

// rendered reports whether a stack was rendered here.
func (s *Session) rendered(stack *schema.Stack) bool {
	_, err := os.Stat(filepath.Join(s.Project.StackDir(stack.Name), generator.StackFile))
	return err == nil
}

// renderedProject is the id of the project in the root.hcl on disk; empty where it or the lock on
// disk has none, or where no selected stack was rendered.
func (s *Session) renderedProject() string {
	body, err := s.readRendered("root.hcl")
	if err != nil || s.Project.Rendered.Project == "" || !slices.ContainsFunc(s.Project.SelectedStacks(), s.rendered) {
		return ""
	}
	return generator.ProjectOf(body)
}

// sameOnDisk reports whether the files of a stack say what its spec says, and the
// shared ones what the settings say. Layout does not count, because another version
// of stackgen may have written them. A stack that was never rendered here cannot be
// applied here either.
func (s *Session) sameOnDisk(stack *schema.Stack, shared []generator.File) (bool, error) {
	l := s.Project.Lock.Stacks.Get(stack.Name)
	if l == nil {
		return true, nil
	}
	if _, err := s.readRendered("stacks/" + stack.Name + "/" + generator.StackFile); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	own, err := generator.Stack(stack, l)
	if err != nil {
		return false, fmt.Errorf("a defect of stackgen, please report it: %w", err)
	}
	for i, f := range slices.Concat(own, shared) {
		body, err := s.readRendered(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && i < len(own):
			return false, nil
		case errors.Is(err, fs.ErrNotExist): // only another stack needs it
		case err != nil:
			return false, fmt.Errorf("cannot read %s: %w", f.Path, err)
		case i < len(own) && !generator.SameMeaning(f.Body, body), i >= len(own) && !generator.SameSettings(f.Path, f.Body, body):
			return false, nil
		}
	}
	return s.movesNothing(stack, own)
}

// movesNothing reports whether no file of an earlier render moves a VM of the state to another
// address, where OpenTofu destroys what the spec does not have. After a move was applied, its
// file stays until the next render, and moves nothing.
func (s *Session) movesNothing(stack *schema.Stack, own []generator.File) (bool, error) {
	for _, unit := range tf.GuestUnits(stack.Name) {
		path := generator.MovedFile(unit.Stack, unit.Unit)
		if slices.ContainsFunc(own, func(f generator.File) bool { return f.Path == path }) {
			continue
		}
		body, err := s.readRendered(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("cannot read %s: %w", path, err)
		}
		if !generator.MovesOnlyOf(body, func(address string) bool {
			return !slices.ContainsFunc(s.State[unit].Resources, func(r tf.Resource) bool { return r.Address == address })
		}) {
			return false, nil
		}
	}
	return true, nil
}

func (s *Session) readRendered(path string) ([]byte, error) {
	return files.Read(filepath.Join(s.Project.Root, filepath.FromSlash(path)), maxRendered)
}
