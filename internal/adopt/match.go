package adopt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"stackgen/internal/check"
	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// match writes the hardware of VMs into the specs. A VM that is refused does not
// stop the others.
func (p *planner) match(ctx context.Context) error {
	after, err := p.reload(p.edited)
	if err != nil {
		return err
	}
	if err := p.findTargets(after); err != nil {
		return err
	}
	for _, t := range p.targets {
		if err := p.recordedCluster(t.VM); err != nil {
			return err
		}
	}
	after.Lock, _ = after.Lock.Observe(p.seen) // what a person says now is right
	s := check.New(after, p.Sources)
	if err := s.ReadStates(ctx, p.units()); err != nil {
		return err
	}
	s.Inventory = p.inventory
	p.findGuests(s)
	for _, t := range p.targets {
		t.compare(s.State[t.unit()])
	}
	p.tryAll()
	for _, t := range p.targets {
		if t.refusal != nil {
			p.Unmatched = append(p.Unmatched, *t.refusal)
			continue
		}
		p.Matches = append(p.Matches, Match{Adoption{t.VM, t.guest.VMID, t.guest.Kind}, t.vm.Profile == "adopted"})
	}
	return nil
}

// findTargets finds the VMs to match.
func (p *planner) findTargets(after *project.Project) error {
	wanted := slices.Collect(maps.Keys(p.vmids))
	var errs []error
	for _, name := range p.Keys {
		stack, key, qualified := splitName(name)
		var found []VM
		for _, s := range after.Stacks.Stacks {
			has := slices.ContainsFunc(s.VMs, func(v *schema.VM) bool { return v.Key == key })
			if has && (qualified && s.Name == stack || !qualified && after.Selected(s.Name)) {
				found = append(found, VM{s.Name, key})
			}
		}
		switch len(found) {
		case 0:
			errs = append(errs, fmt.Errorf("%s: no spec here has a VM or container %q, and there is no such file", name, name))
		case 1:
			wanted = append(wanted, found[0])
		default:
			errs = append(errs, fmt.Errorf("%s: several stacks have such a key: write %s or %s", name, found[0], found[1]))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, stack := range after.Stacks.Stacks {
		for _, v := range stack.VMs {
			if vm := (VM{stack.Name, v.Key}); slices.Contains(wanted, vm) {
				p.targets = append(p.targets, &target{VM: vm, vm: v})
			}
		}
	}
	slices.SortFunc(p.targets, func(a, b *target) int { return compareVMs(a.VM, b.VM) })
	return nil
}

// findGuests finds the guest that each target certainly is.
func (p *planner) findGuests(s *check.Session) {
	for _, m := range s.Matches() {
		for _, t := range p.targets {
			if t.VM == (VM{m.Stack, m.Key}) {
				t.guest = m.Guest
			}
		}
	}
}

// units are the units that the VMs to match are in.
func (p *planner) units() []tf.Unit {
	var out []tf.Unit
	for _, t := range p.targets {
		if !slices.Contains(out, t.unit()) {
			out = append(out, t.unit())
		}
	}
	return out
}

func (t *target) unit() tf.Unit { return tf.Unit{Stack: t.Stack, Unit: lock.UnitOf(t.vm.Kind)} }

// tryAll writes the hardware of all VMs, or of each for which that is possible.
func (p *planner) tryAll() {
	if was := p.share(); len(was) > 0 {
		if p.try(p.targets...) == nil {
			return
		}
		unshare(was)
	}
	if p.try(p.targets...) == nil {
		return
	}
	for _, t := range p.targets { // one of them is the cause: try each on its own
		if len(t.lines) == 0 {
			continue
		}
		if err := p.try(t); err != nil {
			t.refuse(finding.Do(err.Error()))
		}
	}
}

// try writes the hardware of some VMs, and checks that then nothing is left to
// write. Only then it keeps the specs.
func (p *planner) try(targets ...*target) error {
	for range 3 { // a property may change the default of another
		next, err := p.set(targets)
		if err != nil {
			return err
		}
		whole := next
		if p.ByName {
			whole = p.complete(next)
		}
		after, err := project.LoadEdited(p.Paths, "", whole)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(after.Problems, func(p schema.Problem) bool { return p.Severity == schema.SeverityError }); i >= 0 {
			return errors.New("the spec would not be valid: " + after.Problems[i].Message)
		}
		more := false
		for _, t := range targets {
			found, err := t.addMissing(after)
			if err != nil {
				return err
			}
			more = more || found
		}
		if err := p.unchanged(after.Stacks); err != nil {
			return err
		}
		if !more {
			p.edited = next
			return nil
		}
	}
	return errors.New("the VM's own entry cannot undo what it inherits: change that first")
}

// set returns the specs with the lines of some VMs.
func (p *planner) set(targets []*target) (map[string][]byte, error) {
	next := maps.Clone(p.edited)
	if err := p.setShared(targets, next); err != nil {
		return nil, err
	}
	for _, t := range targets {
		if len(t.lines) == 0 {
			continue
		}
		body, err := edit.Set(source(p.project, next, t.vm.File), t.vm.OwnEntry(), t.lines)
		if err != nil {
			return nil, err
		}
		next[t.vm.File] = body
	}
	return next, nil
}
