package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
)

// present judges a VM on whose VMID there is something.
func (s *subject) present() {
	switch {
	case s.busy():
	case s.stranger():
	case s.match.Guest == nil && !s.knownByState():
		s.Is(finding.Unknown).Because("whether it is the VM cannot be told yet: its name or fingerprint could not be read").Because("%s", describe(s.guest))
		s.Next("wait ten seconds, then look again: lists of Proxmox VE lag that much")
	case len(s.states) == 0 && s.match.Why == cluster.ByName && len(vmsOf(s.match.Others)) > 0:
		s.ambiguous(append([]*cluster.Guest{s.guest}, vmsOf(s.match.Others)...))
		s.Evidence[0] = fmt.Sprintf("%d VMs carry the name %s. One of them has VMID %d, but no fingerprint says that it is the one", len(vmsOf(s.match.Others))+1, s.Name, s.VMID)
	case s.tainted(), s.agentBlocks(), s.holes(), s.elsewhere(), s.doomed():
	default:
		s.agrees()
	}
}

// agrees is a VM that is where and what it should be.
func (s *subject) agrees() {
	word := finding.Managed
	if len(s.states) == 0 {
		word = finding.Adopt
	} else if s.guest.Node != s.entry.Node && s.entry.Node != "" {
		word = finding.Moved
	}
	s.Is(word)
	if s.guest.Node != s.entry.Node && s.entry.Node != "" {
		s.Because("it is on %s, the spec says %s; its profile leaves that alone", s.guest.Node, s.entry.Node)
	}
	switch {
	case word == finding.Adopt:
		s.Import = fmt.Sprintf("%s/%d", s.guest.Node, s.guest.VMID)
		s.Because("%s", s.proof()).Because("%s", describe(s.guest))
		s.compareHardware()
	case word == finding.Managed:
		s.Because("%s", s.proof())
	}
	if len(s.match.Differ) > 0 && s.match.Why == cluster.ByAdopt {
		s.Because("adopt names it, although %s", strings.Join(s.match.Differ, " and "))
	}
}

// proof says by what evidence the guest is the VM.
func (s *subject) proof() string {
	switch s.match.Why {
	case cluster.ByAdopt:
		return "the spec adopts it"
	case cluster.ByFingerprint:
		return "its recorded fingerprint agrees"
	case cluster.ByName:
		return "no fingerprint is recorded, and its name agrees"
	}
	return "the state knows it by name or MAC"
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

// stranger is a VMID that belongs to something else.
func (s *subject) stranger() bool {
	m := s.match
	switch {
	case m.Why == cluster.ByName && len(s.states) == 1 && s.guest.Config != nil && len(s.states[0].MACs) > 0 && !s.commonMAC():
		s.Is(finding.Conflict)
		s.otherMACs()
	case !m.Conflict() || s.knownByState():
		return false
	case m.Why == cluster.IsTemplate || m.Why == cluster.IsContainer:
		s.Is(finding.Conflict).Because("VMID %d belongs to a %s", s.VMID, m.Why)
	case m.Why == cluster.OtherFingerprint:
		s.Is(finding.Conflict).Because("VMID %d is not the VM that was recorded: %s", s.VMID, strings.Join(m.Differ, "; "))
	default:
		s.Is(finding.Conflict).Because("VMID %d belongs to another VM: its name is %s, the spec says %s, and no fingerprint is recorded", s.VMID, s.guest.Name, s.Name)
	}
	s.Because("%s", describe(s.guest))
	s.Next("look at it; an apply would write to it, or destroy it", inspect(s.guest))
	if m.Why == cluster.ByName && len(s.guest.Config.MACs) == 0 {
		s.Next("only its NICs were taken away: give one back, then look again", fmt.Sprintf("qm set %d --net0 virtio=%s,bridge=BRIDGE", s.VMID, s.states[0].MACs[0]))
	}
	if m.Why != cluster.IsTemplate && m.Why != cluster.IsContainer && m.VM != nil {
		s.Next("it is the VM that is meant: say so in "+s.where(), fmt.Sprintf("adopt: {vmid: %d}", s.VMID))
	}
	if len(s.states) == 1 {
		s.Next("it is none of ours: take it out of the state, and give the VM another VMID", s.rm(s.states[0].Address)...)
	} else if m.VM != nil {
		s.Next("it is none of ours: give the VM a new key in "+s.at.Spec+", so that it gets another VMID, and let go of the old one", "forgotten: ["+s.Key+"]", "stackgen render")
	}
	return true
}

// busy is a guest that a task or a lock is on.
func (s *subject) busy() bool {
	g := s.guest
	if g.Kind != cluster.KindVM || g.Template {
		return false
	}
	tasks := tasksOn(s.Inventory, g)
	if g.Lock == "" && len(tasks) == 0 {
		return false
	}
	s.Is(finding.Busy)
	if g.Lock != "" {
		s.Because("it is locked (%s)", g.Lock)
	}
	for _, t := range tasks {
		what := ""
		if t.VMID != g.VMID {
			what = fmt.Sprintf(", from VMID %d: it may be what holds the lock", t.VMID)
		}
		s.Because("task %s of %s is in flight on %s%s", t.Type, t.User, t.Node, what)
		s.Next("wait until it has ended, then look again", "pvesh get "+shell.Word("/nodes/"+t.Node+"/tasks/"+t.UPID+"/status"))
	}
	s.Because("%s", describe(g))
	if g.Lock != "" && len(tasks) == 0 {
		what := "no task that can be seen holds the lock: a killed worker may have left it. If none is running, as root on " + g.Node
		s.Next(what, fmt.Sprintf("pvesh get /nodes/%s/tasks --vmid %d --source active", g.Node, g.VMID), fmt.Sprintf("qm unlock %d", g.VMID))
		if g.Lock == "clone" || g.Lock == "create" {
			s.Next("a clone that was cut off is no whole VM: destroy it, then look again", fmt.Sprintf("qm destroy %d", g.VMID))
		}
	}
	return true
}

// agentBlocks is a running VM whose agent is switched on and silent: the provider
// would wait for it, on import always, later as long as the state says.
func (s *subject) agentBlocks() bool {
	c := s.guest.Config
	if s.guest.Status != "running" || c == nil {
		return false
	}
	wait := defaultWait
	if len(s.states) == 1 {
		wait = s.states[0].Wait
	}
	if wait == "" || short(wait) {
		return false
	}
	if c.Agent == "" {
		return s.agentGap(wait)
	}
	if c.Agent != cluster.AgentSilent {
		return false
	}
	s.Is(finding.Unknown).Because("it is running, and its QEMU guest agent is switched on but silent: every plan would wait %s for it", wait).Because("%s", describe(s.guest))
	s.Next("in the guest: install and start the agent", "systemctl enable --now qemu-guest-agent")
	s.Next("or switch it off until the guest has one", fmt.Sprintf("qm set %d --agent 0", s.guest.VMID))
	if len(s.states) == 1 {
		s.Next("or shorten the wait: write into "+s.where()+", then apply once without refreshing", "agent: {timeout: 3s}", "stackgen render", "(cd stacks/"+s.Stack+" && terragrunt stack run apply -- -refresh=false)")
	}
	return true
}

// agentGap is a running VM whose agent may not be asked.
func (s *subject) agentGap(wait string) bool {
	agent := s.guest.Config.Raw["agent"]
	if !strings.HasPrefix(agent, "1") && !strings.Contains(agent, "enabled=1") {
		return false
	}
	found := false
	for _, g := range s.Inventory.GapsForAgent(s.VMID) {
		if !found {
			s.Is(finding.Unknown).Because("it is running with its agent switched on, and whether that answers cannot be seen: if not, every plan waits %s", wait)
		}
		found = true
		s.Because("%s: %s", g.Path, g.Reason)
		if g.Fix != "" {
			s.Next("let the look see it, then look again", g.Fix)
		}
	}
	return found
}

// short reports whether a wait is one of seconds only.
func short(wait string) bool {
	seconds, ok := strings.CutSuffix(wait, "s")
	return ok && len(seconds) <= 2 && !strings.ContainsAny(seconds, "mh")
}

// holes are gaps in a guest's device numbers, which HCL cannot say: the plan of
// an adoption looks harmless, and the apply adds a NIC.
func (s *subject) holes() bool {
	if len(s.states) > 0 {
		return false
	}
	if s.guest.Config == nil {
		s.Is(finding.Unknown).Because("its configuration was not read, so nothing can be said of its adoption").Because("%s", describe(s.guest))
		s.Next("look again", "stackgen snapshot")
		return true
	}
	if s.profile != nil && s.profile.IgnoreAll {
		return false
	}
	for _, device := range []string{"net", "serial"} {
		if missing := hole(s.guest.Config.Raw, device); missing != "" {
			s.Is(finding.Unknown).Because("it has no %s, but later ones: OpenTofu cannot say that, and an apply after its adoption would change its devices", missing).Because("%s", describe(s.guest))
			s.Next("adopt it without its hardware: in "+s.where(), "profile: adopted")
			s.Next("or close the gap: move its later devices down, then look again", inspect(s.guest))
			return true
		}
	}
	return false
}

// elsewhere is a VM on another node than the spec says, where the profile does
// not leave that alone.
func (s *subject) elsewhere() bool {
	if s.guest.Node == s.entry.Node || s.entry.Node == "" || s.profile == nil || s.profile.Ignores("node_name") {
		return false
	}
	s.Is(finding.Moved).Because("it is on %s, the spec says %s, and profile %s does not leave that alone: an apply would destroy it and create it there", s.guest.Node, s.entry.Node, s.profile.Name)
	s.Severity = finding.Blocked
	s.Next("leave it where it is: in "+s.where(), "node: "+s.guest.Node)
	s.Next("or bring it back first", fmt.Sprintf("qm migrate %d %s", s.guest.VMID, s.entry.Node))
	s.Next("or let the profile ignore node_name, as the built-in ones do: in "+s.at.Spec, "profiles: {"+s.profile.Name+": {ignore_changes: [node_name, ...]}}")
	return true
}

// retired is a VM that is to be destroyed, or has been.
func (s *subject) retired() {
	if s.guest == nil && gaps(s.Finding, s.Inventory.GapsForVM(s.VMID)) {
		return
	}
	inState := len(s.states) == 1
	switch {
	case inState && s.states[0].VMID != s.VMID:
		s.otherVMID()
	case s.guest == nil:
		s.Is(finding.Retiring).Because("it is gone from the cluster")
		if !inState {
			s.Next("free its VMID and forget it: remove it from `retired` in "+s.at.Spec, "stackgen render")
		}
	case inState && (s.busy() || s.stranger()):
	case s.match.Guest == nil && !s.knownByState() && inState:
		s.Is(finding.Unknown).Because("it is to be destroyed, and nothing proves that VMID %d is still it", s.VMID).Because("%s", describe(s.guest))
		s.Next("look at it. If it is the one, destroy it by hand and take it out of the state", append([]string{inspect(s.guest)}, s.rm(s.Resource)...)...)
	case inState && s.undestroyable():
	case inState:
		s.Is(finding.Retiring).Because("the next apply destroys it, its records first").Because("%s", describe(s.guest))
	default:
		s.Is(finding.Retiring).Because("it is in no state, so no apply destroys it; its VMID has %s", describe(s.guest))
		s.Next("if it is to go, by hand", inspect(s.guest), fmt.Sprintf("qm destroy %d", s.guest.VMID))
	}
	if s.Kind == finding.Retiring && s.at.lock.Status == lock.Retired {
		s.Because("its whole stack is retired")
	}
}
