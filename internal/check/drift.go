package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"stackgen/guest"
	"stackgen/internal/drift"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/proxmox"
	"stackgen/internal/tf"
	"stackgen/schema"
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
	given := len(s.sources.Plans) > 0 // then what keeps units from being planned here does not matter
	r, err := s.Run(ctx, Config{
		Plans: MadePlans, Imports: true, Applies: !given, Unrendered: finding.Blocked, Rendered: true, Locks: !given,
	})
	switch {
	case err != nil:
		return nil, err
	case len(r.Unrendered) > 0 || r.InUse:
		return &Drift{Findings: r.findings()}, nil
	case given:
		s.notGiven(r.Failed)
	}
	d := &Drift{Findings: drift.Explain(r.Input), Scope: drift.ScopeOf(r.Input)}
	for u := range s.plans {
		d.planned = append(d.planned, u)
	}
	d.Notes = append(s.Notes(r.Found), s.changedBy(ctx, d.Findings)...)
	return d, nil
}

// pageStart begins every page of drift.
const pageStart = "<!doctype html>"

// WritePage writes a page for its owner only. It replaces a file only if that is empty or a
// page.
func WritePage(file string, page func(io.Writer) error) error {
	old, err := files.Read(file, maxInventory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	if len(old) > 0 && !bytes.HasPrefix(old, []byte(pageStart)) {
		return fmt.Errorf("%s exists and is not a page of stackgen; it was not changed", file)
	}
	return files.WritePrivate(file, page)
}

// changedBy adds to changes by hand who may have made them, by the logs of the nodes, and returns
// what could not be read of these. A snapshot has no logs.
func (s *Session) changedBy(ctx context.Context, found []finding.Finding) (notes []string) {
	var vmids []int
	kinds := map[int]guest.Kind{}
	for i := range found {
		if f := &found[i]; byHand(f) {
			vmids, kinds[f.VMID] = append(vmids, f.VMID), guest.KindOfUnit(f.Unit)
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
	s.sources.say("reading who changed %s", guest.Count(slices.Collect(maps.Values(kinds)), func(k guest.Kind) guest.Kind { return k }))
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
	unsaid := f.Kind == finding.Noise && (f.Severity == finding.Outdated || f.Change.Effect == string(schema.Detach))
	return f.Change.Cause == finding.ByHand || f.Change.Cause == finding.ByBoth || f.Change.Cause == finding.NotKnown && unsaid
}
