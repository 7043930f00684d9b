package deploy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/report"
)

// look reads the cluster and the states once, writes the import files as import-blocks
// does, and judges with them. What stops the run is printed as preflight prints it.
func (r *run) look() (*check.Session, []finding.Finding, error) {
	from := r.sources()
	for said := false; ; from.Progress = nil { // the progress of the first one is enough
		s := check.New(r.p, from)
		s.Splits = r.tool() == "apply"
		imports, err := s.Imports(r.ctx)
		if err != nil {
			return nil, nil, err
		}
		again, err := r.corrected(s, imports)
		if err != nil {
			return nil, nil, err
		}
		if again {
			continue
		}
		waiting := r.waitsFor(s, imports.Findings)
		switch {
		case waiting == "" && !said:
			found, err := r.ready(s, imports)
			return s, found, err
		case waiting == "": // what was read may be from before the end
			said = false
			continue
		case !said:
			r.say("%s; waiting until it has ended", waiting)
		}
		said = true
		for range 4 {
			if err := r.pause(); err != nil {
				return nil, nil, err
			}
		}
	}
}

// corrected brings lock and states up to what runs before this one have left, and to where containers are
// now. It reports whether one of them is another one now.
func (r *run) corrected(s *check.Session, imports *check.Imports) (again bool, err error) {
	for _, correct := range []func(*check.Session, []finding.Finding) (bool, error){r.resumed, r.keepBegun} {
		if again, err = correct(s, imports.Findings); err != nil || again {
			return again, err
		}
	}
	if len(imports.Unrendered) > 0 {
		return false, nil
	}
	if r.completeClones(s, imports.Findings) {
		return true, nil
	}
	return r.heal(imports.Findings)
}

// resumed records the state into which a run that was killed has imported VMs. It reports
// whether the lock is another one now.
func (r *run) resumed(s *check.Session, found []finding.Finding) (bool, error) {
	if r.DryRun {
		return false, nil
	}
	again, err := r.newState(s, found)
	if err != nil || !again {
		return false, err
	}
	selected := r.p.Selected
	if r.p, err = r.open(); err == nil {
		r.p.Selected = selected
	}
	return true, err
}

// ready writes the import files, judges with them, and ends the command if anything
// stops it.
func (r *run) ready(s *check.Session, imports *check.Imports) ([]finding.Finding, error) {
	if found := slices.Concat(imports.Unrendered, imports.Findings); len(imports.Unrendered) > 0 || anyStops(found) {
		return nil, r.refuse(s, found)
	}
	if err := s.WriteImports(imports.Changes); err != nil {
		return nil, err
	}
	r.undo = func() error { return files.Apply(r.p.Root, reverse(imports.Changes)) }
	found, err := s.Rejudge(r.ctx, false)
	if err != nil {
		return nil, err
	}
	if finding.Exit(found) != finding.OK {
		return nil, r.refuse(s, found)
	}
	return found, nil
}

func anyStops(found []finding.Finding) bool {
	return slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Stops() })
}

// reverse are the changes that undo changes.
func reverse(changes []files.Change) []files.Change {
	var out []files.Change
	for _, c := range changes {
		c.Old, c.New = c.New, c.Old
		switch c.Kind {
		case files.Created:
			c.Kind = files.Removed
		case files.Removed:
			c.Kind = files.Created
		case files.Refused:
			continue
		}
		out = append(out, c)
	}
	return out
}

// refuse prints the findings that stop the run, as preflight does, and ends the command.
func (r *run) refuse(s *check.Session, found []finding.Finding) error {
	for i := range found {
		r.leftLock(&found[i])
	}
	out := report.NewFindings(found, s.Notes(found))
	out.Endpoint, out.Action = s.Endpoint(), r.command
	if err := errors.Join(out.Print(r.Out, r.Options), r.revert()); err != nil {
		return err
	}
	if out.Exit == finding.Failed {
		return ended{finding.Failed}
	}
	return ended{finding.Blocked}
}

// revert undoes what the command has written before anything was applied.
func (r *run) revert() error {
	if r.undo == nil {
		return nil
	}
	undo := r.undo
	r.undo = nil
	return undo()
}

// waitsFor says what of a killed run still goes on, if that is all that stops this one:
// the clones that it began, and OpenTofu, which has the lock of the state.
func (r *run) waitsFor(s *check.Session, found []finding.Finding) string {
	var names, booting []string
	for i := range found {
		f := &found[i]
		switch busy := f.Kind == finding.Busy; {
		case f.Type == finding.VM && (busy && s.Cloning(f.VMID) || (busy || !f.Stops()) && r.begun(f) && s.Working(f.VMID)):
			names = append(names, f.String()) // this run completes the VM, so it would meet the task
		case !f.Stops():
		case busy && f.Type == finding.Unit:
			return r.usedBy(f)
		case busy && f.Type == finding.Image && r.begunImage(f):
			names = append(names, f.String())
		case r.isBooting(s, f):
			booting = append(booting, f.String())
		default:
			return ""
		}
	}
	switch {
	case len(names) > 0:
		return "a task that an interrupted run began is not complete: " + some(names)
	case len(booting) > 0:
		return "a VM is booting, and its agent reports no address yet: " + some(booting)
	}
	return ""
}

// begunImage reports whether a finding is about the image of a template that an apply began to make.
func (r *run) begunImage(f *finding.Finding) bool {
	l := r.p.Lock.Stacks.Get(f.Stack)
	if l == nil || l.VMs.Get(f.Key) == nil {
		return false
	}
	vmid := l.VMs.Get(f.Key).VMID
	return slices.ContainsFunc(r.stacks, func(st *stack) bool { return st.name == f.Stack && st.unfinished[f.Key].VMID == vmid })
}

// some are a few names.
func some(names []string) string {
	if n := len(names); n > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), n-3)
	}
	return strings.Join(names, ", ")
}
