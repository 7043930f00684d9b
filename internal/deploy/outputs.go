package deploy

import (
	"errors"
	"maps"
	"slices"

	"stackgen/internal/files"
	"stackgen/internal/natural"
	"stackgen/internal/register"
	"stackgen/internal/render"
	"stackgen/internal/report"
)

// outputs writes the registrations that specs name, as the command outputs does.
func (r *run) outputs() error {
	p, err := r.open()
	if err != nil {
		return err
	}
	stacks := register.Wanted(p)
	if len(stacks) == 0 {
		return nil
	}
	return r.writeOutputs(register.Request{Project: p, Stacks: stacks})
}

// partialOutputs writes the registrations after a failure, each on its own: with the VMs
// that are complete. It says which it cannot write.
func (r *run) partialOutputs() error {
	p, err := r.open()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range register.Wanted(p) {
		i := slices.IndexFunc(r.stacks, func(st *stack) bool { return st.name == name })
		if i < 0 {
			continue
		}
		without := slices.SortedFunc(maps.Keys(r.stacks[i].unfinished), natural.Compare)
		err := r.writeOutputs(register.Request{Project: p, Stacks: []string{name}, Partial: map[string][]string{name: without}})
		if err != nil {
			errs = append(errs, report.Printf(r.ErrOut, "the registration of %s was not written: %s\n", name, err))
		}
	}
	return errors.Join(errs...)
}

// removeOutputs removes the files of a stack that was destroyed, and names those that are
// not only stackgen's.
func (r *run) removeOutputs(name string) error {
	for _, s := range r.p.SelectedStacks() {
		if s.Name != name {
			continue
		}
		removed, kept, err := register.Remove(r.background(), r.p, s, func(text string) { r.say("%s", text) })
		for _, path := range kept {
			r.say("%s stays: stackgen did not write it, or it was changed since", path)
		}
		return errors.Join(err, report.Changes(r.Out, r.p.Root, render.Changes(removed, false, false)))
	}
	return nil
}

// writeOutputs writes the registrations of some stacks.
func (r *run) writeOutputs(of register.Request) error {
	o, err := register.Read(r.background(), of)
	if err != nil {
		return err
	}
	changes, err := o.Write(r.background(), func(text string) { r.say("%s", text) })
	if refused := (*files.RefusedError)(nil); errors.As(err, &refused) { // as the command outputs ends
		r.blocked = true
		return report.Error(r.ErrOut, err)
	}
	if err != nil {
		return err
	}
	if err := report.Warnings(r.ErrOut, o.Warnings); err != nil {
		return err
	}
	return report.Changes(r.Out, of.Project.Root, render.Changes(changes, false, false))
}
