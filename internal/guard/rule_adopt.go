package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
)

// A VM is `adopt` if its guest exists, is certainly the VM, and is in no state.

// adopt is a VM that exists, is ours, and is in no state: an apply imports it.
func (s *subject) adopt() {
	s.Is(finding.Adopt, finding.Why("in-no-state")).Because("%s", s.proof()).Because("%s", Describe(s.guest))
	if s.halfMade() {
		s.Case, s.Reason = finding.HalfMade, finding.Why("half-made").And(finding.Why("first-plan-configures"))
	}
	s.Import = fmt.Sprintf("%s/%d", s.guest.Node, s.guest.VMID)
	if s.elsewhere() {
		s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	}
}

// lackedDisks are the disks that a half-made VM lacks of its template: its clone was interrupted while it copied them. The
// provider would add empty ones. One that the spec does not have may be removed already.
func (s *subject) lackedDisks() (lacked []string) {
	t := s.entry.Template
	if !s.notInState() || s.match.Guest == nil || s.match.Guest.Config == nil || !s.halfMade() || t == nil {
		return nil
	}
	template := s.Inventory.Guest(t.VMID)
	if template == nil {
		return nil
	}
	has, wants := configuredDisks(s.match.Guest), []string(nil)
	if s.match.VM != nil {
		wants = s.match.VM.Interfaces()
	}
	for _, at := range configuredDisks(template) {
		if !slices.Contains(has, at) && (len(wants) == 0 || slices.Contains(wants, at)) {
			lacked = append(lacked, at)
		}
	}
	return lacked
}

func (s *subject) clonedInPart() bool { return len(s.lackedDisks()) > 0 }

func (s *subject) harmPartOfClone() {
	s.Is(finding.WouldHarm, finding.Why("part-of-clone", strings.Join(s.lackedDisks(), ", "))).Because("%s", Describe(s.guest))
	s.hold().destroy(s.Finding, "destroy what exists of it, %s, then run preflight again: an apply clones it again")
}

// halfMade reports whether a run from here cloned the VM and did not complete it. The provider
// starts a VM when all else is done.
func (s *subject) halfMade() bool {
	g := s.match.Guest
	if s.isReplica() || s.entry.IsContainer() {
		return false // a template is complete
	}
	return s.match.Why == cluster.HalfMade || len(s.states) == 0 && s.begun(s.Stack, s.Key, g) && g.Status == "stopped"
}
