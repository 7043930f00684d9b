package project

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A Project is the folder of a command, the documents in it, and which stacks the
// command was given.
type Project struct {
	Root     string                  // relative to the working directory if it is below it
	Stacks   *schema.Project         // nil if the specs have errors
	Joined   *schema.Project         // the same, even with errors: what specs in the making inherit
	Rendered *lock.Lock              // the lock on disk
	Lock     *lock.Lock              // the same, after Decide with the new decisions
	Specs    map[string]string       // stack -> path of its spec, relative to Root
	Selected func(stack string) bool // whether a command works on a stack
	Sources  map[string][]byte       // every file that was read, by its path as shown
	Problems []schema.Problem
	Refusals []finding.Finding // of Decide
	Notes    []string          // of Decide
}

// New reports whether the folder has no file of a project.
func (p *Project) New() bool {
	for _, body := range p.Sources {
		if len(body) > 0 {
			return false
		}
	}
	return true
}

// Load finds the project of the paths and reads all of it. With out, that folder is
// the project, and the paths name its specs. Problems in the files are part of
// the project, not an error.
func Load(paths []string, out string) (*Project, error) {
	return LoadEdited(paths, out, nil)
}

// LoadEdited is Load with other contents for some files, and with specs that do not exist
// yet.
func LoadEdited(paths []string, out string, edited map[string][]byte) (*Project, error) {
	l := &loader{
		edited: edited, sources: map[string][]byte{}, named: map[string]bool{},
		read: map[string]*schema.Spec{}, homes: map[string]string{},
	}
	if err := l.find(paths, out); err != nil {
		return nil, err
	}
	if err := l.documents(); err != nil {
		return nil, err
	}
	return l.join()
}

// Open is Load and Decide, for commands that need a project without errors. If it
// has errors or refusals, or no spec, the error says so.
func Open(paths []string) (*Project, error) {
	p, err := Load(paths, "")
	if err != nil {
		return nil, err
	}
	if err := p.Decide(lock.Options{}); err != nil {
		return nil, err
	}
	if len(p.Stacks.Stacks) == 0 {
		return nil, p.NoSpecs()
	}
	return p, nil
}

// NewID reads a random id for a project that has none.
func NewID(random io.Reader) (string, error) {
	id := make([]byte, 8)
	if _, err := io.ReadFull(random, id); err != nil {
		return "", fmt.Errorf("cannot read random bytes for the id of the project: %w", err)
	}
	return hex.EncodeToString(id), nil
}

// Decide makes the decisions that the lock does not hold yet. options has what the
// command line adds. The error is a [BlockedError].
func (p *Project) Decide(options lock.Options) error {
	if p.Stacks == nil {
		return &BlockedError{Project: p}
	}
	options.Specs, options.Selected, options.Stored = p.Specs, p.Selected, p.stored
	result := lock.Decide(p.Stacks, p.Rendered, options)
	p.Problems = schema.SortProblems(append(p.Problems, result.Problems...))
	p.Refusals, p.Notes = result.Refusals, result.Notes
	if schema.HasErrors(p.Problems) || len(p.Refusals) > 0 {
		return &BlockedError{Project: p}
	}
	p.Stacks.Stacks, p.Lock = result.Stacks, result.Lock
	return nil
}

// stored reports whether the local backend has a state of a unit.
func (p *Project) stored(stateKey, unit string) bool {
	_, err := os.Stat(filepath.Join(p.Root, lock.StateDir, filepath.FromSlash(stateKey), unit, lock.StateFile))
	return err == nil
}

// A BlockedError says that a command cannot work on a project: its files have
// errors, or the lock refuses a change.
type BlockedError struct {
	Project *Project
	Then    string // what follows from it for the command, or empty
}

// Error is the summary. Problems and refusals are printed from the project.
func (e *BlockedError) Error() string {
	if e.Then != "" {
		return e.Then
	}
	if e.Invalid() {
		return "the specs have errors"
	}
	return "the lock refuses a change"
}

// Invalid reports whether the files have errors.
func (e *BlockedError) Invalid() bool {
	return e.Project.Stacks == nil || schema.HasErrors(e.Project.Problems)
}

// Empty reports whether the project has no spec and no stack in the lock.
func (p *Project) Empty() bool {
	return p.Stacks != nil && len(p.Specs) == 0 && len(p.Rendered.Stacks) == 0
}

// NoSpecs is the error of a command that needs a spec.
func (p *Project) NoSpecs() error {
	unread := ""
	for _, problem := range p.Problems {
		if problem.Code == schema.CodeUnread {
			unread += fmt.Sprintf("; %s is not read: %s", problem.File, problem.Fix)
		}
	}
	if unread == "" && p.New() {
		return fmt.Errorf("there is no spec in %s, and no project here: change to the folder of yours, or start one with `stackgen init`",
			filepath.Join(p.Root, "specs"))
	}
	return fmt.Errorf("there is no spec in %s%s; `stackgen init` writes one", filepath.Join(p.Root, "specs"), unread)
}

// Limit selects exactly the stacks with these names, which are those of the specs. It does nothing
// without names.
func (p *Project) Limit(stacks []string) {
	if len(stacks) > 0 {
		p.Selected = func(stack string) bool { return slices.Contains(stacks, p.Stacks.NewName(stack)) }
	}
}

// SelectedStacks are the stacks that the command works on.
func (p *Project) SelectedStacks() []*schema.Stack {
	var out []*schema.Stack
	for _, s := range p.Stacks.Stacks {
		if p.Selected(s.Name) {
			out = append(out, s)
		}
	}
	return out
}

// InOrder returns the project with the selected Templates that are applied first, with the other
// selected stacks, which are made from them, and with the Templates that leave after these. Each is nil
// if it has no stack.
func (p *Project) InOrder() (templates, rest, last *Project) {
	isTemplate := func(stack string) bool {
		return slices.ContainsFunc(p.Stacks.Stacks, func(s *schema.Stack) bool { return s.Name == stack && s.IsTemplate() })
	}
	of := func(in func(stack string) bool) *Project {
		out := *p
		out.Selected = func(stack string) bool { return p.Selected(stack) && in(stack) }
		if len(out.SelectedStacks()) == 0 {
			return nil
		}
		return &out
	}
	leaves := func(stack string) bool { return p.Lock.LeavesLast(stack, p.Selected) }
	return of(func(stack string) bool { return isTemplate(stack) && !leaves(stack) }),
		of(func(stack string) bool { return !isTemplate(stack) }),
		of(func(stack string) bool { return isTemplate(stack) && leaves(stack) })
}

// SelectedNames are the names of the stacks that the command works on.
func (p *Project) SelectedNames() []string {
	var out []string
	for _, s := range p.SelectedStacks() {
		out = append(out, s.Name)
	}
	return out
}

// StackDir is the folder in which a stack is run.
func (p *Project) StackDir(stack string) string {
	return filepath.Join(p.Root, "stacks", stack)
}

// Unrendered reports whether the specs of the selected stacks need decisions that
// the lock on disk does not hold: an apply would not know them.
func (p *Project) Unrendered() (bool, error) {
	rendered, err := p.decisions(p.Rendered)
	if err != nil {
		return false, err
	}
	decided, err := p.decisions(p.Lock)
	return !bytes.Equal(rendered, decided), err
}

// decisions are what a lock holds for the selected stacks.
func (p *Project) decisions(l *lock.Lock) ([]byte, error) {
	own := lock.Lock{Version: l.Version}
	for _, s := range l.Stacks {
		if p.Selected(s.Key) {
			own.Stacks = append(own.Stacks, s)
		}
	}
	return own.Encode()
}
