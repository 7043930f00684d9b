package register

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/generator"
	"stackgen/internal/check"
	"stackgen/internal/files"
	"stackgen/internal/lock"
	"stackgen/internal/outputs"
	"stackgen/internal/project"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A Request says of which stacks the outputs are read, and where.
type Request struct {
	Project *project.Project
	Stacks  []string // selected ones; see Wanted and Selected
	Live    bool     // nodes and addresses are those of the cluster, or of the snapshot
	Sources check.Sources
	Partial map[string][]string // by stack whose apply has failed: the VMs that it has not completed, which are left out
}

// Outputs are the outputs of some stacks, as files that are not written yet.
type Outputs struct {
	Stacks     []string
	VMs        int
	Containers int
	Files      []generator.File
	Warnings   []string

	project *project.Project
	first   *outputs.Registration
}

// Wanted are the selected stacks whose specs say where the outputs are written.
func Wanted(p *project.Project) []string {
	return stacks(p, func(s *schema.Stack) bool { return s.Registration != "" })
}

// Selected are all selected stacks.
func Selected(p *project.Project) []string {
	return stacks(p, func(*schema.Stack) bool { return true })
}

// stacks are the selected stacks that have a spec and fit.
func stacks(p *project.Project, fit func(*schema.Stack) bool) []string {
	var out []string
	for _, s := range p.SelectedStacks() {
		if l := p.Lock.Stacks.Get(s.Name); l != nil && l.Status == lock.Live && p.Specs[s.Name] != "" && !s.IsTemplate() && fit(s) {
			out = append(out, s.Name)
		}
	}
	return out
}

// Read reads the outputs of stacks and renders their files. Without stacks it reads
// nothing.
func Read(ctx context.Context, r Request) (*Outputs, error) {
	out := &Outputs{Stacks: r.Stacks, project: r.Project}
	if len(r.Stacks) == 0 {
		return out, nil
	}
	s := check.New(r.Project, r.Sources)
	if err := s.ReadOutputs(ctx, r.Stacks, r.Live); err != nil {
		return nil, err
	}
	var live map[string]map[string]outputs.Live
	if r.Live {
		live = liveOf(s)
	}
	var all []*outputs.Registration
	var errs []error
	for _, stack := range r.Project.SelectedStacks() {
		if !slices.Contains(r.Stacks, stack.Name) {
			continue
		}
		one, err := registration(s, stack, live[stack.Name], r)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, one)
		containers := one.Containers()
		out.VMs, out.Containers = out.VMs+len(one.VMs)-containers, out.Containers+containers
		out.Warnings = append(out.Warnings, one.Warnings...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var err error
	out.first = all[0]
	out.Files, err = outputs.Files(all)
	return out, err
}

// registration is that of one stack.
func registration(s *check.Session, stack *schema.Stack, live map[string]outputs.Live, r Request) (*outputs.Registration, error) {
	source := outputs.Source{
		Stack: stack, Lock: s.Project.Lock.Stacks.Get(stack.Name),
		Command: func(name string) string { return s.Project.Command(name, stack.Name) },
	}
	for _, unit := range tf.GuestUnits(stack.Name) {
		state := s.State[unit]
		if state.Unreadable != "" {
			return nil, fmt.Errorf("cannot read the state of %s: %s", unit, state.Unreadable)
		}
		source.Applied = source.Applied || len(state.Resources) > 0
		if unit == tf.VMUnit(stack.Name) {
			source.Values = state.Outputs
		} else {
			source.Containers = state.Outputs
		}
	}
	source.Without, source.Partial = r.Partial[stack.Name]
	if r.Live {
		source.Live = live
		if live == nil {
			source.Live = map[string]outputs.Live{}
		}
	}
	return source.Read()
}

// liveOf is what the cluster has of each VM, by stack and key.
func liveOf(s *check.Session) map[string]map[string]outputs.Live {
	out := map[string]map[string]outputs.Live{}
	for _, m := range s.Matches() {
		if m.Guest == nil {
			continue
		}
		live := outputs.Live{Node: m.Guest.Node}
		if m.Guest.Config != nil {
			live.Addresses = m.Guest.Config.Address
		}
		if out[m.Stack] == nil {
			out[m.Stack] = map[string]outputs.Live{}
		}
		out[m.Stack][m.Key] = live
	}
	return out
}

// Body is one format of the first stack.
func (o *Outputs) Body(f outputs.Format) []byte {
	path := o.first.Path(f)
	return o.Files[slices.IndexFunc(o.Files, func(f generator.File) bool { return f.Path == path })].Body
}

// Write writes the files, and returns the changes that it made. A file that stackgen
// did not write, or that was changed since, is a [files.RefusedError], and then nothing
// is written. It waits until no other command writes the project.
func (o *Outputs) Write(ctx context.Context, waiting func(text string)) (changes []files.Change, err error) {
	unlock, err := project.LockFolder(ctx, nil, o.project.Root, waiting)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	want := make([]files.File, len(o.Files))
	at := map[string]int{}
	for i, f := range o.Files {
		want[i], at[f.Path] = files.File{Path: f.Path, Body: f.Body}, i
	}
	foreign := map[string]bool{}
	changes, err = files.Compare(o.project.Root, want, files.Options{
		Marker: func([]byte) bool { return true }, // the owner looks at the whole file
		Owner:  o.owner(foreign),
	})
	if err != nil {
		return nil, err
	}
	for i, c := range changes {
		if foreign[c.Path] {
			changes[i].Reason = "is not the CSV that stackgen wrote: the JSON file beside it would name its digest; " +
				"move it away, then run the same command again"
		}
	}
	// In this order, so that after a run that was killed no CSV lacks its digest.
	slices.SortStableFunc(changes, func(a, b files.Change) int { return at[a.Path] - at[b.Path] })
	if err := files.Apply(o.project.Root, changes); err != nil {
		return nil, err
	}
	return changes, nil
}

// maxRegistration bounds a registration: ten thousand VMs take a tenth of it.
const maxRegistration = 256 << 20

// owner says whose a file is. It adds to foreign the CSVs that stackgen did not write.
func (o *Outputs) owner(foreign map[string]bool) func(path string, body []byte) files.Owner {
	byHeader := o.project.Owner(func(string) bool { return true })
	return func(path string, body []byte) files.Owner {
		base, isCSV := strings.CutSuffix(path, string(outputs.CSV))
		if !isCSV {
			return byHeader(path, body)
		}
		file := filepath.Join(o.project.Root, filepath.FromSlash(base+string(outputs.JSON)))
		registration, err := files.Read(file, maxRegistration)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return files.Theirs // it cannot be written either, and the comparison says why
		}
		switch known, same := outputs.WroteCSV(registration, path, body); {
		case same:
			return files.Ours
		case known:
			return files.Altered
		}
		foreign[path] = true
		return files.Theirs
	}
}
