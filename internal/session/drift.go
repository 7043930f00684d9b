package session

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

	"stackgen/internal/cluster"
	"stackgen/internal/disk"
	"stackgen/internal/drift"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/proxmox"
)

// A Drift is every difference between specs, states, plans and cluster, and what was
// looked at.
type Drift struct {
	Findings []finding.Finding
	Scope    finding.Scope
	Notes    []string

	planned []guard.UnitID // the units that were planned
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
	var failed map[guard.UnitID]string
	if !given {
		if failed, err = s.planAll(ctx); err != nil {
			return nil, err
		}
	}
	in := drift.Input{Input: s.input(), Plans: s.plans, Failed: failed, Units: s.Units()}
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
		return fmt.Errorf("%s exists and is not a page of drift; it was not changed", file)
	}
	return disk.WritePrivate(file, page)
}

// who adds to changes by hand who may have made them, by the logs of the nodes, and returns
// what could not be read of these. A snapshot has no logs.
func (s *Session) who(ctx context.Context, found []finding.Finding) (notes []string) {
	var vmids []int
	byHand := func(f *finding.Finding) bool {
		return f.VMID != 0 && f.Change != nil && (f.Change.Cause == finding.ByHand || f.Change.Cause == finding.ByBoth)
	}
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
		for _, a := range acts.Of[f.VMID] {
			if a.MayChange(f.Change.Attribute) {
				f.Change.By = append(f.Change.By, finding.Act(a))
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
	return notes
}

// planAll plans the selected stacks, and returns the units that could not be planned, and
// why. It removes the units that Terragrunt generates, unless they were there before.
func (s *Session) planAll(ctx context.Context) (failed map[guard.UnitID]string, err error) {
	tools, err := s.engine()
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "stackgen-drift-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	failed = map[guard.UnitID]string{}
	for _, stack := range s.Project.SelectedStacks() {
		dir, err := filepath.Abs(s.Project.StackDir(stack.Name))
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(dir, "terragrunt.stack.hcl")); errors.Is(err, fs.ErrNotExist) {
			continue // it was never rendered
		}
		s.sources.say("planning %s", stack.Name)
		generated := filepath.Join(dir, ".terragrunt-stack")
		_, before := os.Stat(generated)
		plan, err := tools.PlanStack(ctx, dir, filepath.Join(work, stack.Name))
		if errors.Is(before, fs.ErrNotExist) {
			err = errors.Join(err, os.RemoveAll(generated), disk.RemoveEmpty(filepath.Join(s.Project.Root, lock.StateDir)))
		}
		if err != nil {
			return nil, err
		}
		for _, u := range s.Units() {
			if u.Stack != stack.Name {
				continue
			}
			body, err := disk.Read(plan.File(u.Unit), maxState)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				if l := s.Project.Lock.Stacks.Get(u.Stack).Units.Get(u.Unit); l.Status == lock.Live || len(s.State[u].Resources) > 0 {
					failed[u] = plan.Problem(u.Unit)
				}
			case err != nil:
				return nil, fmt.Errorf("cannot read the plan of %s: %w", u, err)
			default:
				if err := s.addPlan(u, "the plan of "+u.String(), body); err != nil {
					return nil, err
				}
			}
		}
	}
	return failed, nil
}
