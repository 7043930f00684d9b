package deploy

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// A planned unit is one with a plan in a file.
type planned struct {
	unit tf.Unit
	plan *tf.Plan
	file string
	sum  check.PlanSum

	grant *guard.Grant // of the destroy of a part; nil for a plan of all of the unit
}

// A plans is what a run of Terragrunt planned in a stack.
type plans struct {
	stack   *stack
	dir     string // of the plan files, for --out-dir
	only    []string
	without []string  // units that are applied later
	units   []planned // in the order of the lock
	was     *cluster.Inventory
	hidden  []tf.Summary // of VMs that get NUMA nodes again, which these plans do not show
	gone    []tf.Summary // what the plans of a destroy did not find any more: OpenTofu removes it from the states
	env     []string     // of the run that applies them
}

// plan plans units of a stack: those of only, or all except for those of without. Units
// of records wait whose addresses the plan of the VMs changes.
func (r *run) plan(s *check.Session, st *stack, found []finding.Finding, only, without []string) (*plans, error) {
	how := planning{only: only, without: without, later: s.Later(st.name)}
	switch {
	case r.command == "destroy":
		how.args = []string{"-destroy"}
	case r.command == "rebuild" && len(only) == 0 && r.p.Lock.Stacks.Get(st.name).Units.Get(lock.UnitContainer) != nil: // it is about VMs
		how.without = append(slices.Clone(without), lock.UnitContainer)
	}
	p, err := r.planUnits(s, st, how)
	if err == nil && r.tool() == "apply" {
		p.postpone(s, found, r.mocks(st.name))
		p.hide(s)
	}
	return p, err
}

// asSpecified is what is said of a stack of which the plans are empty.
func (p *plans) asSpecified() string {
	if slices.Contains(p.without, lock.UnitContainer) {
		return "the VMs of " + p.stack.name + " are as its spec says"
	}
	return asSpecified([]string{p.stack.name})
}

// A planning says which units of a stack are planned, and how.
type planning struct {
	only, without []string
	later         map[string][]string // disks that a second apply adds, by the keys of their VMs
	args          []string            // of OpenTofu
	env           []string
}

// planUnits plans units of a stack.
func (r *run) planUnits(s *check.Session, st *stack, how planning) (*plans, error) {
	if err := r.p.RemoveStale(st.name); err != nil {
		return nil, err
	}
	files := r.files(st)
	p := &plans{stack: st, dir: filepath.Join(files, "plans"), only: how.only, without: how.without, was: s.Inventory}
	json := filepath.Join(files, "json")
	args := append([]string{"stack", "run", "plan", "--out-dir", p.dir, "--json-out-dir", json,
		"--report-file", filepath.Join(files, "report.json"), "--report-format", "json"}, filters(how.only, how.without)...)
	if len(how.args) > 0 {
		args = append(append(args, "--"), how.args...)
	}
	env, err := r.removesOnly(st, files, how.later)
	if err != nil {
		return nil, err
	}
	env = append(env, how.env...)
	result, err := r.terragrunt(st, st.dir, files, env, args...)
	for range 2 { // the first runs of many units may break in the cache of providers
		if err == nil && r.ctx.Err() == nil && result.failed() && strings.Contains(result.log, "panic: ") {
			result, err = r.terragrunt(st, st.dir, files, env, args...)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case r.ctx.Err() != nil:
		return nil, errInterrupted
	case result.failed():
		return nil, r.unplanned(s, st, result)
	}
	return p, r.readPlans(s, p, result, json)
}

// readPlans reads what was planned.
func (r *run) readPlans(s *check.Session, p *plans, result *toolRun, json string) error {
	if err := os.MkdirAll(r.shown(), 0o700); err != nil {
		return err
	}
	for _, u := range s.Units() {
		switch {
		case u.Stack != p.stack.name:
			continue
		case result.result(u.Unit) != "succeeded":
			if p.plans(u.Unit) {
				return fmt.Errorf("%s was left out by Terragrunt, so what would be done there is unknown: "+
					"move .terragrunt-filters away, then run the same command again", u)
			}
			continue
		}
		one, err := r.readPlan(s, u, filepath.Join(p.dir, generated, u.Unit, "tfplan.tfplan"),
			filepath.Join(json, generated, u.Unit, "tfplan.json"))
		if err != nil {
			return err
		}
		p.units = append(p.units, one)
	}
	return nil
}

// readPlan reads the plan of a unit as JSON, and keeps that for the guard of the unit, which
// reads the same plan file.
func (r *run) readPlan(s *check.Session, u tf.Unit, file, shown string) (one planned, err error) {
	one = planned{unit: u, file: file}
	if one.sum, err = check.SumPlan(file); err != nil {
		return one, err
	}
	if one.plan, err = s.AddPlan(u, shown); err != nil {
		return one, err
	}
	if err := os.Rename(shown, one.sum.Shown(r.shown())); err != nil {
		return one, err
	}
	return one, s.CheckPlanned(u, r.tool() == "apply")
}

// unplanned ends the command because a stack cannot be planned: it says who holds the lock
// of a state, or what the tools said.
func (r *run) unplanned(s *check.Session, st *stack, result *toolRun) error {
	if strings.Contains(result.log, "acquiring the state lock") {
		if held, err := s.Locked(r.ctx, st.name); err == nil && len(held) > 0 {
			return r.refuse(s, held)
		}
	}
	then := "so nothing was applied"
	if r.applied {
		then = "so what is left to do there is not known; what was applied stays"
	}
	why := cmp.Or(problems(result.log), "Terragrunt wrote no message; see whether the disk with the temporary files is full")
	return fmt.Errorf("%s cannot be planned, %s:\n%s", st.name, then, why)
}

// plans reports whether the run plans a unit of the stack, which is one of the stack file.
func (p *plans) plans(unit string) bool {
	return (len(p.only) == 0 || slices.Contains(p.only, unit)) && !slices.Contains(p.without, unit)
}

// postpone leaves out the units of records whose address the plan of the VMs changes:
// their plan has the address of before.
func (p *plans) postpone(s *check.Session, found []finding.Finding, mocks map[string]string) {
	var changes []func(string) bool
	for _, u := range p.units {
		if u.unit.HasGuests() {
			changes = append(changes, tf.NewAddress(u.plan, mocks))
		}
	}
	changed := func(f *finding.Finding) bool {
		return slices.ContainsFunc(changes, func(changes func(string) bool) bool { return changes(f.Owner) })
	}
	for _, name := range owned(found, p.stack.name, changed) {
		p.units = slices.DeleteFunc(p.units, func(u planned) bool {
			if u.unit.Unit != name {
				return false
			}
			s.DropPlan(u.unit)
			p.without = append(p.without, name)
			return true
		})
	}
}

// owned are the units of a stack that have a record of which a function is true.
func owned(found []finding.Finding, stack string, is func(*finding.Finding) bool) []string {
	var out []string
	for i := range found {
		f := &found[i]
		if f.Stack == stack && f.Type == finding.Record && f.Owner != "" && !slices.Contains(out, f.Unit) && is(f) {
			out = append(out, f.Unit)
		}
	}
	return out
}

// waiting are the units of a stack with records whose VM is in no state yet: a plan would
// be made with a mock. A record whose VM is in the state and reports no address is left
// out of the plan by its unit.
func (r *run) waiting(s *check.Session, found []finding.Finding, stack string) []string {
	known := map[string]bool{}
	for key := range r.mocks(stack) {
		known[key] = true // the mock is that address
	}
	for _, resource := range s.State.Guests(stack) {
		known[resource.Key] = true
	}
	return owned(found, stack, func(f *finding.Finding) bool { return !known[f.Owner] })
}

// mocks are the addresses in the specs of the VMs of a stack. Until the VM exists, the
// plan of its records is made with it.
func (r *run) mocks(stack string) map[string]string {
	out := map[string]string{}
	for _, s := range r.p.SelectedStacks() {
		for _, v := range s.VMs {
			if s.Name == stack && v.Address.IsValid() {
				out[v.Key] = v.Address.Addr().String()
			}
		}
	}
	return out
}

// changes are what the plans do.
func (p *plans) changes() []tf.Summary {
	var out []tf.Summary
	for _, u := range p.units {
		out = append(out, tf.Summaries(u.unit, u.plan)...)
	}
	return out
}

// outputs are the units that change nothing but their outputs.
func (p *plans) outputs() []string {
	var out []string
	for _, u := range p.units {
		if len(u.plan.ChangedOutputs()) > 0 && len(tf.Summaries(u.unit, u.plan)) == 0 {
			out = append(out, u.unit.Unit)
		}
	}
	return out
}

// empty reports whether the plans change nothing, and hide nothing.
func (p *plans) empty() bool { return len(p.changes())+len(p.outputs())+len(p.hidden) == 0 }

// unchanged fails if a plan file is not the one that was judged and confirmed.
func (p *plans) unchanged() error {
	for _, u := range p.units {
		sum, err := check.SumPlan(u.file)
		if err != nil {
			return err
		}
		if sum != u.sum {
			return fmt.Errorf("the plan of %s was changed after it was confirmed; nothing was applied", u.unit)
		}
	}
	return nil
}

// apply applies the plans through Terragrunt, whose hooks judge them again.
func (r *run) applyPlans(p *plans) (*toolRun, error) {
	if err := p.unchanged(); err != nil {
		return nil, err
	}
	if err := r.stops(p); err != nil {
		return nil, err
	}
	files := r.files(p.stack)
	events := filepath.Join(files, "events")
	if err := os.MkdirAll(events, 0o700); err != nil {
		return nil, err
	}
	defer r.watch(p, events)()
	env := slices.Clone(p.env)
	if r.events {
		env = append(env, guard.EventsVariable+"="+events)
	}
	if len(p.without) > 0 { // the guard would take the run for one of a part of the stack
		env = append(env, guard.LaterVariable+"="+strings.Join(p.without, ","))
	}
	args := []string{"stack", "run", r.tool(), "--report-file", filepath.Join(files, "report.json"), "--report-format", "json"}
	if r.tool() == "apply" { // a destroy of saved plans would not be in the reverse order
		args = append(args, "--out-dir", p.dir)
	}
	args = append(args, filters(p.only, p.without)...)
	return r.terragrunt(p.stack, p.stack.dir, files, env, args...)
}
