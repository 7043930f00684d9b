package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/disk"
	"stackgen/internal/drift"
	"stackgen/internal/engine"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/proxmox"
	"stackgen/internal/tf"
)

// A Drift is every difference between specs, states, plans and cluster, and what was
// looked at.
type Drift struct {
	Findings []finding.Finding
	Scope    finding.Scope
	Notes    []string

	planned []tf.Unit // the units that were planned
}

// Drift reads the cluster, the states and the plans, and explains every difference. Without
// plans of the sources, it plans the selected stacks. It writes no state and takes no lock.
func (s *Session) Drift(ctx context.Context) (*Drift, error) {
	if err := s.readPlans(); err != nil {
		return nil, err
	}
	given := len(s.plans) > 0
	if err := s.Look(ctx); err != nil {
		return nil, err
	}
	if err := s.readImports(); err != nil {
		return nil, err
	}
	unrendered, err := s.unrendered(finding.Blocked)
	if err != nil || len(unrendered) > 0 {
		return &Drift{Findings: unrendered}, err // the plans would not be those of the specs
	}
	in := drift.Input{Input: s.input(), Plans: s.plans, Units: s.Units(), Failed: map[tf.Unit]string{}}
	without := guard.Judge(in.Input) // plans
	if given {
		in.Without = without
		s.notGiven(in.Failed)
	} else {
		in.NoDNSKey = s.noDNSKey()
		if used, err := s.inUse(ctx, without, time.Time{}); err != nil || used != nil {
			return &Drift{Findings: used}, err // its plan would be in the way of that run
		}
		if err := s.planAll(ctx, in.Failed); err != nil {
			return nil, err
		}
	}
	if in.Found, in.Updates, err = s.judgePlans(in.Input); err != nil {
		return nil, err
	}
	d := &Drift{Findings: drift.Explain(in), Scope: drift.ScopeOf(in)}
	for u := range s.plans {
		d.planned = append(d.planned, u)
	}
	d.Notes = append(s.Notes(in.Found), s.who(ctx, d.Findings)...)
	return d, nil
}

// pageStart begins every page of drift.
const pageStart = "<!doctype html>"

// WritePage writes a page for its owner only. It replaces a file only if that is empty or a
// page.
func WritePage(file string, page func(io.Writer) error) error {
	old, err := disk.Read(file, maxInventory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	if len(old) > 0 && !bytes.HasPrefix(old, []byte(pageStart)) {
		return fmt.Errorf("%s exists and is not a page of stackgen; it was not changed", file)
	}
	return disk.WritePrivate(file, page)
}

// who adds to changes by hand who may have made them, by the logs of the nodes, and returns
// what could not be read of these. A snapshot has no logs.
func (s *Session) who(ctx context.Context, found []finding.Finding) (notes []string) {
	var vmids []int
	for i := range found {
		if byHand(&found[i]) {
			vmids = append(vmids, found[i].VMID)
		}
	}
	config, err := ClusterConfig(s.Project)
	if len(vmids) == 0 || s.sources.Inventory != "" || err != nil {
		return nil
	}
	var nodes []string
	for _, n := range s.Inventory.Nodes {
		if n.Online {
			nodes = append(nodes, n.Name)
		}
	}
	s.sources.say("reading who changed %s", cluster.Count(len(slices.Compact(slices.Sorted(slices.Values(vmids)))), "VM"))
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	acts := proxmox.ReadActs(ctx, config, nodes, vmids)
	for i := range found {
		f := &found[i]
		if !byHand(f) {
			continue
		}
		applied, _ := s.lastApplied(tf.Unit{Stack: f.Stack, Unit: f.Unit}, &acts)
		for _, a := range acts.Of[f.VMID] {
			if drift.MayBeBy(f, a, applied) {
				f.Change.By = append(f.Change.By, finding.Act{Time: a.Time, User: a.User, Task: a.Task, Node: a.Node})
			}
		}
	}
	for _, gap := range acts.Gaps {
		text := gap.Path + ": " + gap.Reason
		if gap.Fix != "" {
			text += "; grant it: " + gap.Fix
		}
		notes = append(notes, text)
	}
	return append(notes, s.unproven(found, &acts)...)
}

// byHand reports whether a finding is a change of a VM by hand, or may be one.
func byHand(f *finding.Finding) bool {
	if f.VMID == 0 || f.Change == nil {
		return false
	}
	unsaid := f.Kind == finding.Noise && f.Severity == finding.Outdated
	return f.Change.Cause == finding.ByHand || f.Change.Cause == finding.ByBoth || f.Change.Cause == finding.NotKnown && unsaid
}

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

// planAll plans the selected stacks, and adds the units that could not be planned, and why.
// It leaves the units that Terragrunt generates, as every plan does: another run may use
// them.
func (s *Session) planAll(ctx context.Context, failed map[tf.Unit]string) (err error) {
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
		body, err := disk.Read(plan.File(u.Unit), maxState)
		switch {
		case errors.Is(err, fs.ErrNotExist) && s.needsPlan(u):
			failed[u] = plan.Problem(u.Unit)
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("cannot read the plan of %s: %w", u, err)
		default:
			if err := s.addPlan(u, "the plan of "+u.String(), body); err != nil {
				return err
			}
		}
	}
	return nil
}
