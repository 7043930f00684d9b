package deploy

import (
	"path/filepath"
	"slices"
	"strings"

	"stackgen/generator"
	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/report"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// removesOnly prepares a plan that removes disks and leaves out those that it would add to
// the same VMs: a second apply adds them. After a kill between the two, nothing is left to
// remove, and the next apply adds them.
func (r *run) removesOnly(st *stack, files string, later map[string][]string) ([]string, error) {
	if len(later) == 0 {
		return nil, nil
	}
	st.second = later
	return override(files, lock.UnitVM, generator.Removing(later))
}

// recordDetached records the volumes of the disks that an apply removes before it removes
// them: nothing says later which disk an unused volume was.
func (r *run) recordDetached(s *check.Session) error {
	o, err := s.Observation(nil)
	if err != nil {
		return err
	}
	var seen []lock.Observed
	for _, o := range o.Seen {
		only := lock.Observed{Stack: o.Stack}
		for _, v := range o.VMs {
			only.VMs = append(only.VMs, lock.ObservedVM{Key: v.Key, VMID: v.VMID, Detached: v.Detached})
		}
		seen = append(seen, only)
	}
	return r.recordSeen(s, seen)
}

// hide keeps the VMs whose NUMA nodes the plans do not show.
func (p *plans) hide(s *check.Session) {
	for _, u := range p.units {
		if u.unit.Unit == lock.UnitVM {
			p.hidden = s.HiddenNodes(u.unit, u.plan)
		}
	}
	for _, c := range p.hidden {
		if p.stack.hidden == nil {
			p.stack.hidden = map[string]bool{}
		}
		p.stack.hidden[c.Key] = true
	}
}

// withHidden are what the plans do, and what a second apply does after them.
func (p *plans) withHidden() []tf.Summary {
	out := p.changes()
	for _, h := range p.hidden {
		if !slices.ContainsFunc(out, func(c tf.Summary) bool { return c.Address == h.Address }) {
			out = append(out, h)
		}
	}
	return out
}

// readHidden reads the VMs that lack NUMA nodes into the state, so that the next plan shows
// that. An apply that changes something has done it already.
func (r *run) readHidden(p *plans) error {
	at := slices.IndexFunc(p.units, func(u planned) bool { return u.unit.Unit == lock.UnitVM })
	if len(p.hidden) == 0 || len(tf.Summaries(p.units[at].unit, p.units[at].plan)) > 0 || len(p.units[at].plan.ChangedOutputs()) > 0 {
		return nil
	}
	var addresses []string
	for _, c := range p.hidden {
		addresses = append(addresses, c.Address)
	}
	return r.readAgain(p.stack, p.units[at].unit, addresses)
}

// readAgain reads guests into the state of their unit as they are now, and nothing else.
func (r *run) readAgain(st *stack, unit tf.Unit, addresses []string) error {
	files := r.files(st)
	args := []string{"run", "--all", "--out-dir", files, "--json-out-dir", files, "--", "plan", "-refresh-only", "-input=false"}
	for _, address := range addresses {
		args = append(args, "-target="+address)
	}
	if err := r.unit(st, unit.Unit, args...); err != nil {
		return err
	}
	plan, err := check.ReadPlan(unit, filepath.Join(files, "tfplan.json"))
	if err != nil {
		return err
	}
	for _, d := range plan.Drift {
		if d.Action != tf.Update || !slices.Contains(addresses, d.Address) {
			return toolError{"a plan that only reads " + strings.Join(addresses, ", ") + " would change " + d.Address + " in the state"}
		}
	}
	return r.unit(st, unit.Unit, "run", "--", "apply", "-input=false", "-no-color", filepath.Join(files, "tfplan.tfplan"))
}

// saySecond says what a second apply does.
func (r *run) saySecond(st *stack, p *plans) {
	var rest []tf.Summary
	for _, c := range p.changes() {
		if _, disks := st.second[c.Key]; c.Unit.Unit != lock.UnitVM || !disks && !st.hidden[c.Key] {
			rest = append(rest, c)
		}
	}
	if n := len(st.second); n > 0 {
		r.say("adding disks to %s of %s, after others were removed", report.Count(n, "VM"), st.name)
	}
	if n := len(st.hidden); n > 0 {
		r.say("giving NUMA nodes that were removed by hand to %s of %s again", report.Count(n, "VM"), st.name)
	}
	if len(rest) > 0 {
		imported := guest.Count(rest, func(c tf.Summary) guest.Kind { return c.Unit.Kind() })
		r.say("setting what only the provider knows on %s of %s", imported.Of("imported "), st.name)
	}
}

// follows reports whether plans do nothing but set what an import cannot read, and what the
// summary had for a second apply: disks, and NUMA nodes that the first plan did not show.
func (st *stack) follows(p *plans, found []finding.Finding) bool {
	for _, u := range p.units {
		changes := guard.Settling(u.unit, found)
		if u.unit.Unit == lock.UnitVM {
			for key := range st.second {
				changes[key] = append(slices.Clone(changes[key]), schema.VMField(guest.Disks).HCL)
			}
			for key := range st.hidden {
				changes[key] = append(slices.Clone(changes[key]), schema.VMField(guest.NUMANodes).HCL)
			}
		}
		if x := guard.ReadImportPlan(u.unit, u.plan, 0, changes); !x.Exact() {
			return false
		}
	}
	return true
}
