package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"stackgen/internal/drift"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
)

// A Config says what a command reads, what it judges, and what of that concerns it. The zero
// value judges specs, lock, states and cluster, for commands after which nothing is applied.
type Config struct {
	Plans   Plans
	Imports bool // judge the import files; otherwise they only prove what was imported from here
	Applies bool // an apply or destroy would run from here: it needs the secret that signs updates of records

	// Of guard.Input.
	Destroy, Running, Partial bool
	Planned                   map[tf.Unit]bool
	Grant                     *guard.Grant

	Unrendered finding.Severity // of stacks that are not rendered as their specs say; OK for commands that do not ask
	Rendered   bool             // such a stack ends the check: the plans would not be those of the specs
	Locks      bool             // a state that another run holds locked ends the check
}

// Plans say which plans are judged.
type Plans int

// The plans that are judged.
const (
	NoPlans     Plans = iota
	AddedPlans        // those that the command has made and added
	GivenPlans        // those of the sources, which may be older than specs and cluster
	MadePlans         // those of the sources; without any, all units are planned, once nothing is in the way
	ChangePlans       // the units that nothing blocks and that may change something that exists are planned
)

// A Result is what was read and judged.
type Result struct {
	drift.Input                   // Found has the findings
	Unrendered  []finding.Finding // about stacks that are not rendered as their specs say
	InUse       bool              // Found has only the locks of other runs
	Unplanned   []tf.Unit         // whose changes are not known, because the command makes no plan of them
	Blocked     []tf.Unit         // whose changes are not known, because something is in the way of their plan
}

// findings are all findings in the order in which they are shown.
func (r *Result) findings() []finding.Finding {
	if r.InUse {
		return r.Found
	}
	return append(r.Unrendered, r.Found...)
}

// Run reads what a configuration needs, each thing once, joins it, and judges it.
func (s *Session) Run(ctx context.Context, c Config) (*Result, error) {
	if err := s.read(ctx, c); err != nil {
		return nil, err
	}
	r, err := s.facts(c)
	if err != nil || c.Rendered && len(r.Unrendered) > 0 {
		return r, err
	}
	if err := s.rules(ctx, r); err != nil {
		return nil, err
	}
	if len(r.Plans) > 0 && !c.Destroy {
		if r.Older, err = s.older(); err != nil {
			return nil, err
		}
		if c.Plans == GivenPlans {
			r.Found = guard.Merge(r.Found, drift.Older(r.Input))
		}
	}
	if c.Locks {
		used, err := s.inUse(ctx, r.Found, time.Time{})
		if err != nil {
			return nil, err
		}
		if used != nil {
			r.Found, r.InUse = used, true
			if c.Plans == ChangePlans {
				_, r.Blocked = r.changing()
			}
			return r, nil
		}
	}
	return r, s.plan(ctx, c, r)
}

// plan makes the plans that a configuration asks for, now that nothing is in the way, and judges
// again.
func (s *Session) plan(ctx context.Context, c Config, r *Result) error {
	switch {
	case c.Plans == MadePlans && len(r.Plans) == 0:
		if err := s.makePlans(ctx, r.Failed); err != nil {
			return err
		}
		return s.rules(ctx, r)
	case c.Plans == ChangePlans:
		return s.planChanges(ctx, r)
	case !c.Destroy:
		r.Unplanned, _ = r.changing()
	}
	return nil
}

// judge is Run for what was read already.
func (s *Session) judge(ctx context.Context, c Config) (*Result, error) {
	r, err := s.facts(c)
	if err == nil {
		err = s.rules(ctx, r)
	}
	return r, err
}

// read reads the plans of the sources, the cluster and the states.
func (s *Session) read(ctx context.Context, c Config) (err error) {
	if c.Plans == GivenPlans || c.Plans == MadePlans {
		if err := s.readPlans(); err != nil {
			return err
		}
	}
	from := s.sources
	from.Destroys = from.Destroys || c.Destroy
	if s.Inventory, err = ReadCluster(ctx, s.Project, from); err != nil {
		return err
	}
	return s.readStates(ctx)
}

// facts joins what was read with the files of the project as they are now: import files,
// rendered files, and the records of what runs have begun.
func (s *Session) facts(c Config) (*Result, error) {
	imported, err := s.importFiles(c.Imports)
	if err != nil {
		return nil, err
	}
	in := s.input()
	in.Imported, in.LostLocks, in.Rendered = imported, s.lostLocks(), s.renderedProject()
	in.Destroy, in.Running, in.Partial, in.Planned = c.Destroy, c.Running, c.Partial, c.Planned
	in.Grant = c.Grant
	in.NoDNSKey = c.Applies && s.noDNSKey()
	if c.Imports {
		in.Imports = imported
	}
	if c.Applies && (c.Destroy || c.Unrendered == finding.OK) { // otherwise unrendered says it
		if in.Elsewhere, err = s.elsewhere(); err != nil {
			return nil, err
		}
	}
	s.judged = in
	if c.Plans == ChangePlans { // its plan decides about the disks of a unit
		in.Planned = map[tf.Unit]bool{}
		for _, u := range s.Units() {
			in.Planned[u] = true
		}
	}
	r := &Result{Input: drift.Input{Input: in, Units: s.Units(), Failed: map[tf.Unit]string{}}}
	if c.Plans != NoPlans {
		r.Plans = s.plans
	}
	if c.Unrendered != finding.OK {
		if r.Unrendered, err = s.unrendered(c.Unrendered, slices.Concat(in.LostLocks, in.Elsewhere)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// input is what was read, and what runs from here have begun.
func (s *Session) input() guard.Input {
	p := s.Project
	return guard.Input{
		Project: p.Stacks, Lock: p.Lock, Selected: p.Selected, State: s.State, Inventory: s.Inventory, Begun: s.begun(),
		NewClusters: s.NewClusters, NewStates: s.NewStates, Splits: s.Splits, TemplatesLast: s.TemplatesLast,
	}
}

// rules judges the facts, and the plans with them.
func (r *Result) rules() error {
	in := r.Input.Input
	in.Planned = map[tf.Unit]bool{}
	maps.Copy(in.Planned, r.Planned)
	for u := range r.Plans {
		in.Planned[u] = true
	}
	verdicts := guard.Judge(in)
	r.Updates = map[tf.Unit]map[string][]effect.Update{}
	var plans []finding.Finding
	for _, u := range r.Units {
		if plan := r.Plans[u]; plan != nil {
			found, updates, err := guard.JudgePlan(in, verdicts, u, plan)
			if err != nil {
				return fmt.Errorf("cannot judge the plan: %w", err)
			}
			plans, r.Updates[u] = append(plans, found...), updates
		}
	}
	r.Found = guard.Merge(verdicts, plans)
	return nil
}

// A Preflight is what an apply would meet, or a destroy of whole stacks.
type Preflight struct {
	Findings  []finding.Finding
	Unplanned []tf.Unit // whose changes are not known, because no plan of them was made or given
	Blocked   []tf.Unit // whose changes are not known, because something is in the way of their plan
}

// Preflight reads everything and judges what an apply would meet, or a destroy of whole
// stacks. It makes plans if plan is true and the sources are the cluster and the backends, and
// none of the plans is given.
func (s *Session) Preflight(ctx context.Context, destroy, plan bool) (*Preflight, error) {
	c := Config{Plans: ChangePlans, Imports: true, Applies: true, Destroy: destroy, Unrendered: finding.Outdated, Locks: true}
	if from := s.sources; !plan || destroy || from.Inventory != "" || len(from.States)+len(from.Plans) > 0 {
		c.Plans = GivenPlans
	}
	r, err := s.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Preflight{Findings: r.findings(), Unplanned: r.Unplanned, Blocked: r.Blocked}, nil
}

// Rejudge judges again what was read, with the import files as they are now and with the
// plans that were added, for an apply or a destroy of whole stacks.
func (s *Session) Rejudge(ctx context.Context, destroy bool) ([]finding.Finding, error) {
	r, err := s.judge(ctx, Config{Plans: AddedPlans, Imports: true, Applies: true, Destroy: destroy})
	if err != nil {
		return nil, err
	}
	return r.Found, nil
}
