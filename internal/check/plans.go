package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackgen/internal/drift"
	"stackgen/internal/engine"
	"stackgen/internal/files"
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
		plan := &engine.StackPlan{Log: "the stack is not rendered: run `stackgen render`"}
		if _, missing := os.Stat(filepath.Join(dir, "terragrunt.stack.hcl")); !errors.Is(missing, fs.ErrNotExist) {
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
