package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"stackgen/generator"
	"stackgen/internal/drift"
	"stackgen/internal/engine"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// readPlans reads the plans of the sources.
func (s *Session) readPlans() error {
	units := s.Units()
	given, err := s.unitFiles("plan", s.sources.Plans, units, planJSON)
	if err != nil {
		return err
	}
	var errs []error
	for _, u := range units {
		file, ok := given[u]
		if !ok {
			continue
		}
		body, err := files.ReadGiven(file, maxState)
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot read %s: %w", file, err))
			continue
		}
		plan, err := parsePlan(file, body)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.plans[u], s.State[u] = plan, plan.Before
	}
	return errors.Join(errs...)
}

// ReadPlan reads the plan of a unit from a file.
func ReadPlan(u tf.Unit, file string) (*tf.Plan, error) {
	body, err := files.Read(file, maxState)
	if err != nil {
		return nil, fmt.Errorf("cannot read the plan of %s: %w", u, err)
	}
	return parsePlan("the plan of "+u.String(), body)
}

// AddPlan reads the plan of a unit from a file and returns it. What is judged afterwards
// is judged with it.
func (s *Session) AddPlan(u tf.Unit, file string) (*tf.Plan, error) {
	p, err := ReadPlan(u, file)
	if err == nil {
		s.addPlan(u, p)
	}
	return p, err
}

// addPlan adds the plan of a unit, and the state that is in it: the plan was made
// from that one.
func (s *Session) addPlan(u tf.Unit, p *tf.Plan) {
	p.Before.Lineage, p.Before.Serial = s.State[u].Lineage, s.State[u].Serial // no plan says them
	s.plans[u], s.State[u] = p, p.Before
}

func parsePlan(name string, body []byte) (*tf.Plan, error) {
	if bytes.HasPrefix(body, []byte("PK")) {
		return nil, fmt.Errorf("%s is a plan file: give the output of `tofu show -json %s`", name, filepath.Base(name))
	}
	p, err := tf.ParsePlan(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// DropPlan removes the plan of a unit: it is not what will be applied.
func (s *Session) DropPlan(u tf.Unit) { delete(s.plans, u) }

// notGiven adds the units that should have a plan, and of which none was given.
func (s *Session) notGiven(failed map[tf.Unit]string) {
	for _, u := range s.Units() {
		if s.plans[u] == nil && s.needsPlan(u) {
			failed[u] = drift.NotGiven
		}
	}
}

// notRendered is why a stack without rendered files has no plan.
const notRendered = "the stack is not rendered: run `stackgen render`"

// needsPlan reports whether something may differ in a unit.
func (s *Session) needsPlan(u tf.Unit) bool {
	return s.Project.Lock.Stacks.Get(u.Stack).Units.Get(u.Unit).Status == lock.Live || len(s.State[u].Resources) > 0
}

// makePlans plans the selected stacks, and adds the units that could not be planned, and why.
// It leaves the units that Terragrunt generates, as every plan does: another run may use
// them.
func (s *Session) makePlans(ctx context.Context, failed map[tf.Unit]string) (err error) {
	tools, err := s.planner("drift")
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "stackgen-drift-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	for _, stack := range s.Project.SelectedStacks() {
		dir, err := filepath.Abs(s.Project.StackDir(stack.Name))
		if err != nil {
			return err
		}
		plan := &engine.StackPlan{Log: notRendered}
		if _, missing := os.Stat(filepath.Join(dir, generator.StackFile)); !errors.Is(missing, fs.ErrNotExist) {
			if err := s.Project.RemoveStale(stack.Name); err != nil {
				return err
			}
			s.sources.say("planning %s", stack.Name)
			if plan, err = tools.PlanStack(ctx, dir, filepath.Join(work, stack.Name)); err != nil {
				return err
			}
		}
		if err := s.addPlans(stack.Name, plan, failed); err != nil {
			return err
		}
	}
	return nil
}

// addPlans adds the plans of a stack.
func (s *Session) addPlans(stack string, plan *engine.StackPlan, failed map[tf.Unit]string) error {
	for _, u := range s.Units() {
		if u.Stack != stack {
			continue
		}
		if plan.Folder == "" {
			failed[u] = plan.Log
			continue
		}
		switch _, err := s.AddPlan(u, plan.File(u.Unit)); {
		case errors.Is(err, fs.ErrNotExist) && s.needsPlan(u):
			failed[u] = plan.Problem(u.Unit)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

const (
	// planTime bounds the plan of a unit: one of 500 VMs takes a tenth of it. A VM whose agent
	// does not answer makes a plan wait longer, and has a finding before that.
	planTime = 5 * time.Minute

	planners = 4 // units that are planned at once
)

// changing are the units of VMs and pools in which an apply may change something that exists,
// as only their plan tells: they have a state, or an import file that is right. blocked are those
// in which something is in the way of a plan; of a VM that only an import would add, too. What an
// apply does to records, DNS tells.
func (r *Result) changing() (units, blocked []tf.Unit) {
	found := r.findings()
	for _, u := range r.Units {
		of := func(f finding.Finding) bool {
			return f.Stack == u.Stack && (f.Unit == u.Unit || f.Type == finding.Stack)
		}
		stops := r.InUse || slices.ContainsFunc(found, func(f finding.Finding) bool { return of(f) && f.Severity != finding.OK })
		adopts := slices.ContainsFunc(found, func(f finding.Finding) bool { return of(f) && f.Kind == finding.Adopt })
		switch exists := len(r.State[u].Resources)+len(r.Imports[u]) > 0; {
		case u.HasRecords() || r.Plans[u] != nil:
		case stops && (exists || adopts):
			blocked = append(blocked, u)
		case exists:
			units = append(units, u)
		}
	}
	return units, blocked
}

// planChanges plans the units of which only a plan tells what an apply changes, without a
// lock, several at once, and judges again. A unit that could not be planned is a finding.
func (s *Session) planChanges(ctx context.Context, r *Result) (err error) {
	units, blocked := r.changing()
	r.Blocked = blocked
	if len(units) == 0 {
		return nil
	}
	tools, err := s.planner("preflight")
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "stackgen-preflight-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	var failed []finding.Finding
	for i, result := range s.planUnits(ctx, tools, units, work) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case result.err != nil:
			failed = append(failed, drift.Unplannable(units[i], result.err.Error()))
		default:
			s.addPlan(units[i], result.plan)
		}
	}
	r.Plans = s.plans
	if err := s.rules(ctx, r); err != nil {
		return err
	}
	r.Found = guard.Merge(r.Found, failed)
	return nil
}

// A madePlan is the plan of a unit, or why there is none.
type madePlan struct {
	plan *tf.Plan
	err  error
}

// planUnits plans units. work is a folder for files, which have secrets.
func (s *Session) planUnits(ctx context.Context, tools *engine.Tools, units []tf.Unit, work string) []madePlan {
	out := make([]madePlan, len(units))
	generated := map[string]error{}
	for _, u := range units {
		if _, done := generated[u.Stack]; !done {
			s.sources.say("planning %s", u.Stack)
			generated[u.Stack] = s.generate(ctx, tools, u.Stack)
		}
	}
	var workers sync.WaitGroup
	room := make(chan struct{}, planners)
	for i, u := range units {
		if out[i].err = generated[u.Stack]; out[i].err != nil {
			continue
		}
		workers.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			out[i].plan, out[i].err = s.planUnit(ctx, tools, u, filepath.Join(work, fmt.Sprint(i)))
		})
	}
	workers.Wait()
	return out
}

// generate has Terragrunt generate the units of a stack.
func (s *Session) generate(ctx context.Context, tools *engine.Tools, stack string) error {
	dir := s.Project.StackDir(stack)
	if _, missing := os.Stat(filepath.Join(dir, generator.StackFile)); missing != nil {
		return errors.New(notRendered)
	}
	if err := s.Project.RemoveStale(stack); err != nil {
		return err
	}
	return tools.Generate(ctx, dir)
}

// planUnit plans one unit. A plan of which OpenTofu says that it failed may leave out anything.
func (s *Session) planUnit(ctx context.Context, tools *engine.Tools, u tf.Unit, folder string) (*tf.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, s.planTime)
	defer cancel()
	body, err := tools.Plan(ctx, s.Project.StackDir(u.Stack), u.Unit, folder)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("its plan has not ended within %v", s.planTime)
	case body == nil:
		return nil, err
	}
	return parsePlan("the plan of "+u.String(), body)
}
