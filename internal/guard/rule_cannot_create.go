package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A VM is `cannot-create` if its creation, its next update or its destroy would fail, because something that it
// needs is missing. A unit has a warning where VMs together need more than is free.

// creationFails reports whether something is missing that the creation of the VM needs.
func (s *subject) creationFails() bool {
	if !s.absent() {
		return false
	}
	return len(s.lacks()) > 0
}

func (s *subject) cannotCreate() { s.obstacles(s.lacks()) }

// lacks is what makes the creation of the VM fail, or a template one too many.
func (s *subject) lacks() []feasible.Obstacle {
	obstacles, _ := s.creation(s.match.VM, s.entry)
	return append(obstacles, s.needless()...)
}

// creation is what makes the creation of a guest fail, and what is not known about it. Where a guest
// of the project is named as the template, its conversion is no way out.
func (in *Input) creation(v *schema.VM, e *lock.VM) ([]feasible.Obstacle, []feasible.Unknown) {
	obstacles, unknown := feasible.Creation(in.Inventory, v, e)
	for i := range obstacles {
		o := &obstacles[i]
		o.Remedies = slices.DeleteFunc(o.Remedies, func(r feasible.Remedy) bool {
			name := in.named(r.Converts)
			if name != "" {
				o.Evidence = append(o.Evidence, fmt.Sprintf("VMID %d is of %s", r.Converts, name))
			}
			return name != ""
		})
	}
	return obstacles, unknown
}

// named is the guest of the project that has a VMID in the lock or in a spec, or "".
func (in *Input) named(vmid int) string {
	if vmid == 0 {
		return ""
	}
	for _, s := range in.Lock.Stacks {
		if i := slices.IndexFunc(s.Value.VMs, func(e lock.Entry[lock.VM]) bool { return e.Value.VMID == vmid }); i >= 0 {
			return s.Key + "/" + s.Value.VMs[i].Key
		}
	}
	for _, s := range in.Project.Stacks {
		if i := slices.IndexFunc(s.VMs, func(v *schema.VM) bool { return v.VMID == vmid }); i >= 0 {
			return s.Name + "/" + s.VMs[i].Key
		}
	}
	return ""
}

// mayNotDestroy reports whether the token may not destroy the guest.
func (s *subject) mayNotDestroy() bool { return len(feasible.Destroy(s.Inventory, s.guest)) > 0 }

func (s *subject) destroyForbidden() bool { return s.Destroy && !s.notInState() && s.mayNotDestroy() }

func (s *subject) cannotDestroy() {
	s.obstacles(feasible.Destroy(s.Inventory, s.guest))
	s.Reason = finding.Why("destroy-fails").Of(s.Reason)
}

// cannotUpdate is a VM that exists, and an update of it would fail.
func (s *subject) cannotUpdate() {
	if s.Destroy || s.Stops() || len(s.states) == 0 {
		return
	}
	obstacles := slices.Concat(feasible.Update(s.Inventory, s.match.VM, s.entry, s.guest, s.profile),
		feasible.UpdateRights(s.Inventory, s.match.VM, s.guest, s.sent()))
	if len(obstacles) > 0 {
		s.Evidence, s.Steps = nil, nil
		s.obstacles(obstacles)
		s.Reason = finding.Why("update-fails").Of(s.Reason)
	}
}

// sent are the updates of what settles, which the next apply sends. A plan has the others.
func (s *subject) sent() []effect.Update {
	var out []effect.Update
	for _, block := range s.Settles {
		out = append(out, effect.Update{Change: tf.Change{Path: block}})
	}
	return out
}

// obstacles makes a finding of what makes a creation or update fail.
func (s *subject) obstacles(list []feasible.Obstacle) {
	addObstacles(s.Finding, list, s.at.Spec, s.line)
}

// addObstacles makes a finding of what makes a creation or update fail. line is a line for
// the VM in its spec.
func addObstacles(f *finding.Finding, list []feasible.Obstacle, spec string, line func(string) string) {
	var reason finding.Reason
	for _, o := range list {
		reason = reason.And(finding.Why("obstacle", o.Reason))
	}
	f.Is(finding.CannotCreate, reason)
	several := len(list) > 2
	if several {
		f.Reason = finding.Why("several-obstacles", len(list))
	}
	for _, o := range list {
		if several {
			f.Because("%s: %s", o.Reason, strings.Join(o.Evidence, "; "))
			o.Evidence = nil
		}
		for _, e := range o.Evidence {
			f.Because("%s", e)
		}
		for _, r := range o.Remedies {
			addRemedy(f, r, spec, line)
		}
	}
}

// addRemedy adds a remedy as a step.
func addRemedy(f *finding.Finding, r feasible.Remedy, spec string, line func(string) string) {
	what, lines := strings.ReplaceAll(r.What, "SPEC", spec), r.Commands
	switch {
	case r.Value != nil:
		lines = []string{line(hardware.Assignment(f.GuestKind(), r.Field, r.Value))}
	case r.Text != "":
		lines = []string{line(r.Text)}
	}
	if r.Once {
		f.Add(finding.DoOnce(what, lines...))
		return
	}
	f.Next(what, lines...)
}

// likely warns of what probably fails because VMs are created or migrated.
func (j *judge) likely(at *place) {
	if j.Destroy {
		return
	}
	var created, migrated []feasible.Created
	for i := range j.all {
		m := &j.all[i]
		if m.Stack != at.Name || m.Entry == nil || m.VM == nil {
			continue
		}
		switch x := (feasible.Created{VM: m.VM, Entry: m.Entry}); j.kinds[m.Stack+"/"+m.Key] {
		case finding.Create:
			created = append(created, x)
		case finding.Migrate:
			if m.Guest != nil && m.Guest.Status == "running" && !j.stops(m) {
				migrated = append(migrated, x)
			}
		}
	}
	if len(created)+len(migrated) == 0 {
		return
	}
	unit := lock.UnitContainer // if all of them are containers
	if slices.ContainsFunc(slices.Concat(created, migrated), func(x feasible.Created) bool { return !x.VM.IsContainer() }) {
		unit = lock.UnitVM
	}
	for _, d := range feasible.Likely(j.Inventory, created, migrated) {
		j.out = append(j.out, mayFail(at.Name, unit, d))
	}
}

// mayFail is the warning of what probably fails.
func mayFail(stack, unit string, d feasible.Demand) finding.Finding {
	f := finding.Finding{Address: finding.Address{Stack: stack, Unit: unit, Type: finding.Unit}}
	f.Is(finding.CannotCreate, finding.Why("apply-may-fail", d.Reason))
	f.Severity = finding.OK
	for _, e := range d.Evidence {
		f.Because("%s", e)
	}
	return f
}

// stops reports whether the finding of a VM that was judged stops an apply.
func (j *judge) stops(m *cluster.Match) bool {
	return slices.ContainsFunc(j.out, func(f finding.Finding) bool {
		return f.Type == finding.VM && f.Stack == m.Stack && f.Key == m.Key && f.Stops()
	})
}
