package deploy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/project"
	"stackgen/internal/selection"
	"stackgen/schema"
)

// Choose limits a request to what a command line names beside paths: stacks, and of stacks
// STACK/KEY, STACK/GROUP, members of rosters, or all students. Without words, members and
// students, the paths decide. A stack that only the lock has belongs to no path: it is chosen by
// its name, or without paths.
func (q *Request) Choose(p *project.Project, words, members []string, students bool) error {
	words, err := selection.Qualify(p.Stacks.Stacks, words)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		q.Stacks = selection.Stacks(words)
		q.limit(p)
	}
	part := func(w string) bool { return strings.Contains(w, "/") }
	if len(members) > 0 || students || slices.ContainsFunc(words, part) {
		return q.choosePart(p, words, members, students)
	}
	return nil
}

// choosePart chooses VMs.
func (q *Request) choosePart(p *project.Project, words, members []string, students bool) error {
	whole := selection.WholeOf(words, members)
	parts := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "/") })
	switch {
	case students && (parts || len(members) > 0):
		return errors.New("--students is for all students of a class: name the class, and no VM or member")
	case !students && whole != "":
		return fmt.Errorf("%s is a stack, and another argument is a part of one: destroy whole stacks by a command of their own", whole)
	}
	chosen, err := selection.Select(selection.Of(p.Stacks.Stacks, p.Lock, nil, p.Selected), words, members)
	if err != nil {
		return err
	}
	among := p.SelectedNames()
	q.Part, q.Stacks = map[string][]string{}, nil
	for i := range chosen {
		vm := &chosen[i]
		if list, _, _ := strings.Cut(vm.Spec.Path, "."); students && list != "students" {
			continue
		}
		if q.Part[vm.Stack] == nil {
			q.Stacks = append(q.Stacks, vm.Stack)
		}
		q.Part[vm.Stack] = append(q.Part[vm.Stack], vm.Key)
	}
	if len(q.Part) == 0 {
		return fmt.Errorf("no class is selected that has students: %s", strings.Join(among, ", "))
	}
	q.limit(p)
	if len(members) > 0 {
		q.Leave, err = selection.Single(chosen, nil, members, false)
	}
	return err
}

// Whole refuses a request for a part of a stack, for a command that works on whole stacks.
func (q *Request) Whole(command string) error {
	if q.Part == nil {
		return nil
	}
	return fmt.Errorf("%s works on whole stacks: `stackgen %s %s`", command, command, strings.Join(q.Stacks, " "))
}

// limit selects exactly the stacks of the request in a project, if it names any.
func (q *Request) limit(p *project.Project) {
	if q.Stacks == nil {
		return
	}
	p.Selected = func(stack string) bool { return slices.Contains(q.Stacks, p.Stacks.NewName(stack)) }
}

// onlySpecs limits a destroy to the stacks of the paths that it was given: a stack that only the
// lock has is selected with every path.
func (q *Request) onlySpecs(p *project.Project) {
	if q.Stacks != nil || len(q.Paths) == 0 {
		return
	}
	q.Stacks = []string{}
	for _, s := range p.SelectedStacks() {
		if p.Specs[s.Name] != "" {
			q.Stacks = append(q.Stacks, s.Name)
		}
	}
	q.limit(p)
}

// open reads the project of the request.
func (q *Request) open() (*project.Project, error) {
	p, err := project.Open(q.Paths)
	if err == nil {
		q.limit(p)
	}
	return p, err
}

// specOf is a VM of a stack in the specs, or nil.
func specOf(p *project.Project, stack, key string) *schema.VM {
	all := vmsOf(p, stack)
	if i := slices.IndexFunc(all, func(v *schema.VM) bool { return v.Key == key }); i >= 0 {
		return all[i]
	}
	return nil
}

// retiredIn is what the spec of a stack has in `retired`.
func retiredIn(p *project.Project, stack string) []schema.ListItem {
	for _, s := range p.Stacks.Stacks {
		if s.Name == stack {
			return s.Retired
		}
	}
	return nil
}

// vmsOf are the VMs in the spec of a stack.
func vmsOf(p *project.Project, stack string) []*schema.VM {
	for _, s := range p.Stacks.Stacks {
		if s.Name == stack {
			return s.VMs
		}
	}
	return nil
}
