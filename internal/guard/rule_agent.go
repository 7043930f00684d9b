package guard

import (
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
)

// bootTime is for how many seconds after its start a VM without an answer of its agent
// is probably booting.
const bootTime = 180

// agentWait is for how long the provider waits for the agent of a running VM: at an import
// always, later as long as the state says. It is "" if that does not matter.
func (s *subject) agentWait() string {
	if s.guest.Status != "running" || s.guest.Config == nil {
		return ""
	}
	wait := tf.DefaultWait
	if len(s.states) == 1 {
		wait = s.states[0].Wait
	}
	if short(wait) {
		return ""
	}
	return wait
}

// agentSilent reports whether an enabled agent does not answer, and the provider would wait for it.
func (s *subject) agentSilent() bool {
	return s.agentWait() != "" && s.guest.Config.Agent == cluster.AgentSilent
}

func (s *subject) unknownAgent() {
	s.Is(finding.Unknown, finding.Why("agent-silent", s.agentWait()))
	s.Case = finding.SilentAgent
	if s.awaitAgent() {
		s.Next("install and start the agent in the guest", "systemctl enable --now qemu-guest-agent")
		s.withoutAgent("or, if the guest has no agent, disable it")
	}
}

// agentRefuses reports whether the agent may not report addresses, and the provider would wait for
// one: it treats the refusal as an address that is not there yet.
func (s *subject) agentRefuses() bool {
	return s.agentWait() != "" && s.guest.Config.Agent == cluster.AgentRefuses
}

func (s *subject) unknownRefusal() {
	s.Is(finding.Unknown, finding.Why("agent-refuses", s.agentWait()))
	s.Case = finding.SilentAgent
	s.Because("the agent says: %s", s.guest.Config.Refusal)
	if s.awaitAgent() {
		s.Next("permit guest-network-get-interfaces in the configuration of the agent in the guest, and restart it; "+
			"its files say which commands it permits",
			"grep -ri rpc /etc/qemu /etc/sysconfig/qemu-ga")
		s.withoutAgent("or, if the guest needs no address, disable its agent")
	}
}

// agentNoAddress reports whether the agent answers without an address, and the provider would
// wait for one.
func (s *subject) agentNoAddress() bool {
	return s.agentWait() != "" && s.guest.Config.Agent == cluster.AgentNoAddress
}

func (s *subject) unknownAddress() {
	s.Is(finding.Unknown, finding.Why("agent-no-address", s.agentWait()))
	s.Case = finding.SilentAgent
	if !s.awaitAgent() {
		return
	}
	for _, key := range []string{"net0", "ipconfig0"} {
		if value := s.guest.Config.Raw[key]; value != "" {
			s.Because("%s: %s", key, value)
		}
	}
	what := "find out why the guest gets no address: a DHCP server must answer on the bridge and VLAN of its NIC"
	if vm := s.match.VM; vm != nil && vm.Address.IsValid() {
		what = "find out why the guest does not have " + vm.Address.String() +
			": cloud-init must run in it, and sets a new address when the VM restarts"
	}
	s.Next(what+"; see what the agent reports", pve.Pvesh("get", s.guest.Path("agent", "network-get-interfaces")))
	s.withoutAgent("or, if the guest needs no address, disable its agent")
}

// awaitAgent adds what a VM needs whose agent would be waited for, whatever the agent lacks. It
// reports whether the agent is needed later: a VM that is destroyed does without.
func (s *subject) awaitAgent() bool {
	s.Because("%s", Describe(s.guest))
	if s.Destroy || s.retired() {
		s.Next("disable it: the VM is destroyed anyway", s.removeAgent())
		return false
	}
	if s.guest.Uptime > 0 && s.guest.Uptime < bootTime {
		s.Next("it was started less than 3 minutes ago: wait until it has booted, then run preflight again")
	}
	return true
}

// removeAgent is the line that removes the agent from the VM's configuration.
func (s *subject) removeAgent() string { return set(s.guest, "--delete agent") }

// withoutAgent says how a VM does without an agent. The option is 0 then, as the spec
// says, so that the apply does not change the VM.
func (s *subject) withoutAgent(what string) {
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

// agentHidden reports whether the token may not query the agent of the running VM.
func (s *subject) agentHidden() bool {
	return s.agentWait() != "" && s.guest.Config.Agent == "" && pve.AgentEnabled(s.guest.Config.Raw["agent"]) &&
		len(s.Inventory.GapsForAgent(s.VMID)) > 0
}

func (s *subject) unknownHiddenAgent() {
	s.Is(finding.Unknown, finding.Why("agent-hidden", s.agentWait()))
	for _, g := range s.Inventory.GapsForAgent(s.VMID) {
		s.Because("%s: %s", g.Path, g.Reason)
		if g.Fix != "" {
			s.Next(grant, g.Fix)
		}
	}
}

// short reports whether a wait is one of seconds only.
func short(wait string) bool {
	seconds, ok := strings.CutSuffix(wait, "s")
	return ok && len(seconds) <= 2 && !strings.ContainsAny(seconds, "mh")
}
