package deploy

import (
	"os"
	"path/filepath"
	"slices"

	"stackgen/generator"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/session"
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
	if err := os.MkdirAll(files, 0o700); err != nil {
		return nil, err
	}
	override := filepath.Join(files, "removing.tf")
	return []string{guard.StartingVariable + "=" + override}, os.WriteFile(override, generator.Removing(later), 0o600)
}

// recordDetached records the volumes of the disks that an apply removes before it removes
// them: nothing says later which disk an unused volume was.
func (r *run) recordDetached(s *session.Session) error {
	var seen []lock.Observed
	for _, o := range s.Observation(nil).Seen {
		only := lock.Observed{Stack: o.Stack}
		for _, v := range o.VMs {
			only.VMs = append(only.VMs, lock.ObservedVM{Key: v.Key, VMID: v.VMID, Detached: v.Detached})
		}
		seen = append(seen, only)
	}
	return r.recordSeen(s, seen)
}

// follows reports whether plans do nothing but set what an import cannot read, and add the
// disks that the summary had for a second apply.
func (st *stack) follows(p *plans, found []finding.Finding) bool {
	for _, u := range p.units {
		changes := guard.Settling(u.unit, found)
		if u.unit.Unit == lock.UnitVM {
			for key := range st.second {
				changes[key] = append(slices.Clone(changes[key]), schema.VMField("disks").HCL)
			}
		}
		if x := guard.ReadImportPlan(u.unit, u.plan, 0, changes); !x.Exact() {
			return false
		}
	}
	return true
}
