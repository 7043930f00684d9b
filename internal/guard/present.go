package guard

import (
	"fmt"
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
)

// present judges a VM whose VMID a guest has.
func (s *subject) present() {
	switch {
	case s.incomplete():
	case len(s.states) == 0 && s.byNameOnly() && len(vmsOf(s.match.Others)) > 0:
		s.ambiguous(append([]*cluster.Guest{s.guest}, vmsOf(s.match.Others)...))
	case s.conflict(), s.busy():
	case s.match.Guest == nil:
		s.Is(finding.Unknown, "its name or configuration could not be read yet").Because("%s", Describe(s.guest)).Case = finding.NotRead
		s.Next("wait ten seconds, then run preflight again: the lists of Proxmox VE may be ten seconds old")
	case s.copied(), s.otherLock(), s.tainted(), s.agentBlocks(), s.undecodable(), s.deviceGap(), s.onOtherNode(), s.protected():
	default:
		s.agrees()
		s.settles()
		s.waits()
		s.updates()
		s.held()
		s.cannotUpdate()
		s.oldTemplate()
	}
}

// halfMade reports whether a run from here cloned the VM and did not complete it. The provider
// starts a VM when all else is done.
func (s *subject) halfMade() bool {
	g := s.match.Guest
	return s.match.Why == cluster.HalfMade || len(s.states) == 0 && s.begun(s.Stack, s.Key, g) && g.Status == "stopped"
}

// byNameOnly reports whether nothing but the name says that the guest is the VM.
func (s *subject) byNameOnly() bool {
	return slices.Contains([]cluster.Why{cluster.ByName, cluster.NameAlone, cluster.HalfMade}, s.match.Why)
}

// agrees is a VM that is where and what the spec says.
func (s *subject) agrees() {
	moved := s.guest.Node != s.entry.Node && s.entry.Node != ""
	switch {
	case len(s.states) == 0:
		s.Is(finding.Adopt, "in the cluster, and in no state").Because("%s", s.proof()).Because("%s", Describe(s.guest))
		if s.halfMade() {
			s.Case, s.Reason = finding.HalfMade, "half made: cloned by an apply that was interrupted before it configured the VM"
		}
		s.Import = fmt.Sprintf("%s/%d", s.guest.Node, s.guest.VMID)
	case s.Kind == finding.Migrate:
		return
	case moved:
		s.Is(finding.Moved, "on another node than the spec says; its profile ignores that")
		if s.Destroy {
			s.Reason = "on another node than the spec says; it is destroyed there"
		}
	default:
		s.Is(finding.Managed, "state and cluster agree").Because("%s", s.proof())
	}
	if moved {
		s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	}
}
