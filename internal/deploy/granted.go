package deploy

import (
	"fmt"
	"os"
	"path/filepath"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
)

// planGranted plans what a grant permits in a unit of a stack, whose units are generated, and
// completes the grant. refused are the findings about a plan that would do anything else.
func (r *run) planGranted(st *stack, g guard.Grant) (one planned, refused []finding.Finding, err error) {
	files := r.files(st)
	args := []string{"run", "--all", "--out-dir", files, "--json-out-dir", files, "--", "plan", "-input=false"}
	if g.Kind == guard.GrantDestroy {
		args = append(args, "-destroy")
	}
	for _, part := range g.Parts {
		args = append(args, "-target="+part.Address)
		if g.Kind == guard.GrantReplace {
			args = append(args, "-replace="+part.Address)
		}
	}
	if err := r.unit(st, g.Unit.Unit, args...); err != nil {
		if r.ctx.Err() != nil {
			err = errInterrupted
		}
		return one, nil, fmt.Errorf("%s cannot be planned: %w", g.Unit, err)
	}
	shown := filepath.Join(files, "tfplan.json")
	one = planned{unit: g.Unit, file: filepath.Join(files, "tfplan.tfplan"), grant: &g}
	if one.plan, err = check.ReadPlan(g.Unit, shown); err != nil {
		return one, nil, err
	}
	if one.sum, err = check.SumPlan(one.file); err != nil {
		return one, nil, err
	}
	if err := os.MkdirAll(r.shown(), 0o700); err != nil {
		return one, nil, err
	}
	g.Plan = one.sum.Hex()
	return one, g.Refuses(g.Unit, g.Plan, one.plan), os.Rename(shown, one.sum.Shown(r.shown()))
}

// applyGranted applies the plan of a unit, which its grant permits once.
func (r *run) applyGranted(p *plans, u planned) (*toolRun, error) {
	variable, err := check.WriteGrant(r.work, u.grant)
	if err != nil {
		return nil, err
	}
	files := r.files(p.stack)
	events := filepath.Join(files, "events")
	if err := os.MkdirAll(events, 0o700); err != nil {
		return nil, err
	}
	defer r.watch(&plans{stack: p.stack, units: []planned{u}}, events)()
	env := []string{variable}
	if r.events {
		env = append(env, guard.EventsVariable+"="+events)
	}
	return r.terragrunt(p.stack, filepath.Join(p.stack.dir, generated, u.unit.Unit), files, env,
		"run", "--", "apply", "-input=false", "-no-color", u.file)
}
