package guard

import (
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
)

// bootTime is for how many seconds after its start a VM without an answer of its agent
// is probably booting.
const bootTime = 180

// agentBlocks is a running VM with an enabled agent that does not answer: the
// provider would wait for it, at an import always, later as long as the state says.
func (s *subject) agentBlocks() bool {
	c := s.guest.Config
	if s.guest.Status != "running" || c == nil {
		return false
	}
	wait := tf.DefaultWait
	if len(s.states) == 1 {
		wait = s.states[0].Wait
	}
	if wait == "" || short(wait) {
		return false
	}
	if c.Agent == "" {
		return s.entry.Status == lock.Live && s.agentGap(wait)
	}
	if c.Agent != cluster.AgentSilent {
		return false
	}
	s.Is(finding.Unknown, "its QEMU guest agent is enabled and does not answer: every plan would wait "+wait+" for it")
	s.Because("%s", Describe(s.guest))
	if s.Destroy || s.entry.Status == lock.Retired {
		s.Next("disable it: the VM is destroyed anyway", s.removeAgent())
		return true
	}
	if s.guest.Uptime > 0 && s.guest.Uptime < bootTime {
		s.Next("it was started less than 3 minutes ago: wait until it has booted, then run preflight again")
	}
	s.Next("install and start the agent in the guest", "systemctl enable --now qemu-guest-agent")
	s.withoutAgent()
	return true
}

// removeAgent is the line that removes the agent from the VM's configuration.
func (s *subject) removeAgent() string { return set(s.guest, "--delete agent") }

// withoutAgent says how a VM does without an agent. The option is 0 then, as the spec
// says, so that the apply does not change the VM.
func (s *subject) withoutAgent() {
	const what = "or, if the guest has no agent, disable it"
	switch vm := s.match.VM; {
	case s.profile != nil && s.profile.IgnoreAll:
		s.Next(what, s.removeAgent())
	case vm == nil:
	case len(vm.Records) > 0 && !vm.Address.IsValid():
		s.Because("its DNS record needs the agent, which reports its address from DHCP")
	default:
		s.Next(what+": write into "+s.at.Spec+", render, then disable it in Proxmox VE",
			s.line("agent: false"), "stackgen render", set(s.guest, "--agent 0"))
	}
}

// agentGap is a running VM whose agent the token may not query.
func (s *subject) agentGap(wait string) bool {
	if !pve.AgentEnabled(s.guest.Config.Raw["agent"]) {
		return false
	}
	found := false
	for _, g := range s.Inventory.GapsForAgent(s.VMID) {
		if !found {
			s.Is(finding.Unknown, "whether its QEMU guest agent answers is not visible: if it does not, every plan waits "+wait)
		}
		found = true
		s.Because("%s: %s", g.Path, g.Reason)
		if g.Fix != "" {
			s.Next(grant, g.Fix)
		}
	}
	return found
}

// short reports whether a wait is one of seconds only.
func short(wait string) bool {
	seconds, ok := strings.CutSuffix(wait, "s")
	return ok && len(seconds) <= 2 && !strings.ContainsAny(seconds, "mh")
}

// undecodable is a VM with an entry that the provider cannot read, so that every plan of
// its unit fails, also if its profile ignores all changes.
func (s *subject) undecodable() bool {
	if s.guest.Config == nil {
		return false
	}
	u := hardware.FindUnreadable(s.guest.Config.Raw)
	if u == nil {
		return false
	}
	s.Is(finding.Unknown, u.Has+": the provider cannot read "+u.Them+", and every plan of the stack fails")
	s.Because("%s: %s", u.Key, s.guest.Config.Raw[u.Key])
	s.Next(u.Step+", then run preflight again", set(s.guest, u.Options))
	return true
}

// deviceGap is a VM with a gap in its device numbers, which HCL cannot express:
// the plan of an adoption looks harmless, and the apply adds a NIC.
func (s *subject) deviceGap() bool {
	if len(s.states) > 0 {
		return false
	}
	if s.guest.Config == nil {
		s.Is(finding.Unknown, "its configuration was not read").Because("%s", Describe(s.guest))
		s.Next("read the cluster again", "stackgen snapshot")
		return true
	}
	if s.profile != nil && s.profile.IgnoreAll {
		return false
	}
	for _, device := range []string{"net", "serial"} {
		if missing := missingDevice(s.guest.Config.Raw, device); missing != "" {
			s.Is(finding.Unknown,
				"no "+missing+", but later ones: OpenTofu cannot express that, and an apply after its adoption would change its devices")
			s.Because("%s", Describe(s.guest))
			s.Next("adopt it without its hardware: write into "+s.at.Spec, s.line("profile: adopted"))
			s.Next("or renumber its devices without a gap, then run preflight again", inspect(s.guest))
			return true
		}
	}
	return false
}
