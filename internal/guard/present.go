package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
)

// present judges a VM whose VMID a guest has.
func (s *subject) present() {
	switch {
	case s.busy(), s.conflict():
	case s.match.Guest == nil && !s.knownByState():
		s.Is(finding.Unknown, "its name or fingerprint could not be read yet").Because("%s", describe(s.guest))
		s.Next("wait ten seconds, then run preflight again: the lists of Proxmox VE are that late")
	case len(s.states) == 0 && s.match.Why == cluster.ByName && len(vmsOf(s.match.Others)) > 0:
		s.ambiguous(append([]*cluster.Guest{s.guest}, vmsOf(s.match.Others)...))
	case s.tainted(), s.agentBlocks(), s.deviceGap(), s.onOtherNode(), s.protected():
	default:
		s.agrees()
		s.held()
	}
}

// agrees is a VM that is where and what the spec says.
func (s *subject) agrees() {
	moved := s.guest.Node != s.entry.Node && s.entry.Node != ""
	switch {
	case len(s.states) == 0:
		s.Is(finding.Adopt, "in the cluster, and in no state").Because("%s", s.proof()).Because("%s", describe(s.guest))
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
	if len(s.match.Differ) > 0 && s.match.Why == cluster.ByAdopt {
		s.Because("the spec adopts it, although %s", strings.Join(s.match.Differ, " and "))
	}
}

// proof says by what evidence the guest is the VM.
func (s *subject) proof() string {
	switch s.match.Why {
	case cluster.ByAdopt:
		return "the spec adopts it"
	case cluster.ByFingerprint:
		return "it has the recorded fingerprint"
	case cluster.ByName:
		return "it has the name, and no fingerprint is recorded"
	}
	return "it has the name or a MAC from the state"
}

// knownByState reports whether the state says that the guest is the VM, where
// specs and lock do not: its name is about to change, or its spec is gone.
func (s *subject) knownByState() bool {
	if len(s.states) != 1 || s.match.Why != cluster.OtherName && s.match.Why != cluster.NoName {
		return false
	}
	r := s.states[0]
	if s.guest.Config != nil && len(r.MACs) > 0 {
		return s.commonMAC()
	}
	return r.Name != "" && r.Name == s.guest.Name
}

func (s *subject) commonMAC() bool {
	return slices.ContainsFunc(s.guest.Config.MACs, func(mac string) bool { return slices.Contains(s.states[0].MACs, strings.ToUpper(mac)) })
}

// conflict is a VMID that belongs to something else.
func (s *subject) conflict() bool {
	m := s.match
	recreated := m.Why == cluster.ByName && len(s.states) == 1 && s.guest.Config != nil && len(s.states[0].MACs) > 0 && !s.commonMAC()
	switch {
	case recreated && len(s.guest.Config.MACs) == 0: // a VM that lost its NICs looks the same: nothing proves which it is
		s.Is(finding.Conflict, "its VMID has a VM of its name without NICs: it was created again by hand, or its NICs were removed").Because("the state records its MAC: %s", strings.Join(s.states[0].MACs, " "))
	case recreated:
		s.Is(finding.Conflict, "its VMID has a VM of its name with another MAC: it was created again by hand").Because("the state records its MAC: %s", strings.Join(s.states[0].MACs, " "))
	case !m.Conflict() || s.knownByState():
		return false
	case m.Why == cluster.IsTemplate || m.Why == cluster.IsContainer:
		s.Is(finding.Conflict, fmt.Sprintf("its VMID belongs to a %s", m.Why))
	case m.Why == cluster.OtherFingerprint:
		s.Is(finding.Conflict, "its VMID belongs to another VM than the recorded one").Because("%s", strings.Join(m.Differ, "; "))
	default:
		s.Is(finding.Conflict, "its VMID belongs to a VM with another name, and no fingerprint is recorded").Because("its name is %s, and the spec says %s", s.guest.Name, s.Name)
	}
	s.Because("%s", describe(s.guest))
	s.Next("inspect it: an apply would change or destroy it", inspect(s.guest))
	if recreated && len(s.guest.Config.MACs) == 0 {
		s.Next("if only its NICs were removed, add one with its MAC, then run preflight again", fmt.Sprintf("qm set %d --net0 virtio=%s,bridge=BRIDGE", s.VMID, s.states[0].MACs[0]))
	}
	if m.Why != cluster.IsTemplate && m.Why != cluster.IsContainer && m.VM != nil {
		s.Next("if it is the right VM, write into "+s.at.Spec, s.line(fmt.Sprintf("adopt: {vmid: %d}", s.VMID)))
	}
	if len(s.states) == 1 {
		s.Add(finding.Step{What: "if it is another VM, remove it from the state, and give yours another VMID", Lines: []finding.Line{s.stateRemove(s.states[0].Address)}})
	} else if m.VM != nil {
		s.Add(finding.DoAll("if it is another VM, give yours a new key in "+s.at.Spec+", for another VMID, and forget the old key", finding.Entries("forgotten", s.Key), "stackgen render"))
	}
	return true
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
	s.Next("or migrate it back first", fmt.Sprintf("qm migrate %d %s", s.guest.VMID, s.entry.Node))
	s.Next("or let the profile ignore node_name, as the built-in ones do: in "+s.at.Spec, "profiles: {"+s.profile.Name+": {ignore_changes: [node_name, ...]}}")
	return true
}
