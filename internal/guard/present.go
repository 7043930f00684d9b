package guard

import (
	"fmt"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/shell"
)

// present judges a VM whose VMID a guest has.
func (s *subject) present() {
	switch {
	case s.incomplete(), s.conflict(), s.busy():
	case s.match.Guest == nil:
		s.Is(finding.Unknown, "its name or configuration could not be read yet").Because("%s", describe(s.guest))
		s.Next("wait ten seconds, then run preflight again: the lists of Proxmox VE are that late")
	case len(s.states) == 0 && s.byNameOnly() && len(vmsOf(s.match.Others)) > 0:
		s.ambiguous(append([]*cluster.Guest{s.guest}, vmsOf(s.match.Others)...))
	case s.copied(), s.otherLock(), s.tainted(), s.agentBlocks(), s.vlanRange(), s.deviceGap(), s.onOtherNode(), s.protected():
	default:
		s.agrees()
		s.held()
	}
}

// byNameOnly reports whether nothing but the name says that the guest is the VM.
func (s *subject) byNameOnly() bool {
	return s.match.Why == cluster.ByName || s.match.Why == cluster.HalfMade
}

// agrees is a VM that is where and what the spec says.
func (s *subject) agrees() {
	moved := s.guest.Node != s.entry.Node && s.entry.Node != ""
	switch {
	case len(s.states) == 0:
		s.Is(finding.Adopt, "in the cluster, and in no state").Because("%s", s.proof()).Because("%s", describe(s.guest))
		if s.match.Why == cluster.HalfMade {
			s.Reason = "half made: cloned by an apply that was interrupted before it configured the VM"
		}
		s.Import = fmt.Sprintf("%s/%d", s.guest.Node, s.guest.VMID)
		s.compareHardware()
	case moved:
		s.Is(finding.Moved, "on another node than the spec says; its profile ignores that")
	default:
		s.Is(finding.Managed, "state and cluster agree").Because("%s", s.proof())
	}
	if moved {
		s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	}
}

// online is the option that migrates a running VM.
func online(g *cluster.Guest) string {
	if g.Status == "running" {
		return " --online 1"
	}
	return ""
}

// onOtherNode is a VM on another node than the spec says, where the profile does
// not ignore that.
func (s *subject) onOtherNode() bool {
	if s.guest.Node == s.entry.Node || s.entry.Node == "" || s.profile == nil || s.profile.Ignores("node_name") {
		return false
	}
	s.Is(finding.Moved, "on another node than the spec says, and profile "+s.profile.Name+" does not ignore that: an apply would destroy it and create it there")
	s.Severity = finding.Blocked
	s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	s.Next("to leave it there, write into "+s.at.Spec, s.line("node: "+s.guest.Node))
	s.Next("or migrate it back first", "pvesh create "+shell.Word(fmt.Sprintf("/nodes/%s/qemu/%d/migrate", s.guest.Node, s.guest.VMID))+" --target "+shell.Word(s.entry.Node)+online(s.guest))
	s.Next("or let the profile ignore node_name, as the built-in ones do: in "+s.at.Spec, "profiles: {"+s.profile.Name+": {ignore_changes: [node_name, ...]}}")
	return true
}
