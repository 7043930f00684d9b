package guard

import (
	"slices"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
)

// tainted is a VM that the state marks as tainted: its creation failed halfway, or
// somebody ran taint. The plan would replace it, which no spec can ask for.
func (s *subject) tainted() bool {
	if len(s.states) != 1 || !s.states[0].Tainted || s.Destroy {
		return false
	}
	address := s.states[0].Address
	s.Is(finding.WouldDestroy, "tainted in state, as after a creation that failed halfway: an apply would destroy it and create it again")
	s.Because("%s", Describe(s.guest))
	s.Next("to keep it, untaint it: the next apply completes it",
		lock.InUnit(s.Stack, s.Unit, "terragrunt run -- untaint "+shell.Quote(address)))
	s.Add(finding.Step{What: "or, to create it again, destroy it by hand and remove it from the state",
		Lines: slices.Concat(finding.Lines(inspect(s.guest)), finding.Lines(destroyByHand(s.guest)...), []finding.Line{s.stateRemove(address)})})
	return true
}

// protected is a VM that cannot be destroyed with its whole stack: the destroy
// would remove its records and then stop.
func (s *subject) protected() bool {
	if !s.Destroy || len(s.states) == 0 {
		return false
	}
	if s.profile != nil && s.profile.PreventDestroy {
		s.Is(finding.WouldDestroy, "profile "+s.profile.Name+" prevents its destroy: a destroy of the stack would remove DNS records, then stop")
		s.Add(s.retire("to destroy it too, "))
		s.Next("or keep the stack, and retire only the VMs that you want to destroy")
		return true
	}
	return s.undestroyable()
}

// undestroyable is a VM that Proxmox VE refuses to destroy. An HA resource is not one:
// the provider destroys a VM together with it.
func (s *subject) undestroyable() bool {
	if !on(s.guest.Config, "protection") {
		return false
	}
	s.Is(finding.Busy, "its protection is on: Proxmox VE would refuse to destroy it, after its DNS records are removed")
	s.Because("%s", Describe(s.guest))
	s.Next("to destroy it, remove the protection", set(s.guest, "--protection 0"))
	return true
}

// destroys says in which order an apply destroys a VM and its records.
func (s *subject) destroys() string {
	switch {
	case s.at.lock.Units.Get(s.entry.Unit) != nil && s.entry.Unit != "":
		return "the next apply destroys its records, then the VM"
	case s.at.lock.Units.Get(lock.UnitDNS) != nil:
		return "the next apply destroys the VM, then its records"
	}
	return "the next apply destroys it"
}

// retired is a VM to destroy, or one that was destroyed.
func (s *subject) retired() {
	if s.guest == nil && gaps(s.Finding, s.Inventory.GapsForVM(s.VMID)) {
		return
	}
	inState := len(s.states) == 1
	switch {
	case inState && s.states[0].VMID != s.VMID:
		s.otherVMID()
	case s.guest == nil:
		s.Is(finding.Retiring, "retired, and not in the cluster any more")
		switch {
		case inState:
		case s.entry.Gone:
			s.Next("to free its VMID, remove it from `retired` in "+s.at.Spec, "stackgen render")
		default:
			s.Next("to free its VMID, record that it does not exist any more; then remove it from `retired` in "+s.at.Spec+", and render",
				"stackgen resolve")
		}
	case inState && (s.incomplete() || s.conflict() || s.busy()):
	case s.match.Guest == nil && inState:
		s.Is(finding.Unknown, "retired, and nothing proves that its VMID is still this VM").Because("%s", Describe(s.guest))
		s.Add(finding.Step{What: "inspect it; if it is this VM, destroy it by hand and remove it from the state",
			Lines: append(finding.Lines(inspect(s.guest)), s.stateRemove(s.Resource))})
	case inState && (s.undestroyable() || s.agentBlocks()):
	case inState:
		s.Is(finding.Retiring, "retired: "+s.destroys()).Because("%s", Describe(s.guest))
	default:
		s.Is(finding.Retiring, "retired and in no state: no apply destroys it").Because("%s", Describe(s.guest))
		if s.match.Guest == nil { // a line that destroys it would be wrong for another guest
			s.Because("nothing proves that it is this VM")
			s.Next("inspect it; if it is this VM, destroy it by hand", inspect(s.guest))
			break
		}
		s.Next("to destroy it, do it by hand", append([]string{inspect(s.guest)}, destroyByHand(s.guest)...)...)
	}
	if s.Kind == finding.Retiring && s.at.lock.Status == lock.Retired {
		s.Because("its stack is retired")
	}
}
