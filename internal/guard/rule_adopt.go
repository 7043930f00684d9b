package guard

import (
	"fmt"

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

// halfMade reports whether a run from here cloned the VM and did not complete it. The provider
// starts a VM when all else is done.
func (s *subject) halfMade() bool {
	g := s.match.Guest
	if s.isReplica() || s.entry.IsContainer() {
		return false // a template is complete
	}
	return s.match.Why == cluster.HalfMade || len(s.states) == 0 && s.begun(s.Stack, s.Key, g) && g.Status == "stopped"
}
