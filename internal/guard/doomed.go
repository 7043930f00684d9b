package guard

import (
	"fmt"

	"stackgen/internal/finding"
	"stackgen/internal/shell"
)

// tainted is a VM that the state marks: its creation failed halfway, or somebody
// ran taint. The plan would replace it, which no spec can ask for.
func (s *subject) tainted() bool {
	if len(s.states) != 1 || !s.states[0].Tainted || s.Destroy {
		return false
	}
	r := s.states[0]
	s.Is(finding.WouldDestroy).Because("the state marks it as tainted, as after a creation that failed halfway: an apply would destroy it and create it anew").Because("%s", describe(s.guest))
	s.Next("it is to stay: take the mark off, and the next apply completes it", inUnit(s.Stack, s.Unit, "terragrunt run -- untaint "+shell.Quote(r.Address))...)
	s.Next("it is worth nothing: destroy it by hand and take it out of the state, and the next apply creates it",
		append([]string{inspect(s.guest), fmt.Sprintf("qm destroy %d", s.guest.VMID)}, s.rm(r.Address)...)...)
	return true
}

// doomed is a VM that is about to be destroyed with its whole stack, and is
// protected: its records would go first, then the destroy would stop.
func (s *subject) doomed() bool {
	if !s.Destroy || len(s.states) == 0 {
		return false
	}
	switch {
	case s.profile != nil && s.profile.PreventDestroy:
		s.Is(finding.WouldDestroy).Because("its profile %s forbids to destroy it; a destroy of the stack would remove DNS records first, and then stop at it", s.profile.Name)
		s.Next("destroy it too: "+retire(s.at.Spec), "retired: ["+s.Key+"]", "stackgen render")
		s.Next("or keep the stack, and retire only the VMs that are to go")
		return true
	}
	return s.undestroyable()
}

// undestroyable is a VM that Proxmox VE refuses to destroy.
func (s *subject) undestroyable() bool {
	switch g := s.guest; {
	case on(g.Config, "protection"):
		s.Is(finding.Busy).Because("its protection is on: Proxmox VE refuses to destroy it, after its DNS records are gone").Because("%s", describe(g))
		s.Next("if it is to go, as you said", fmt.Sprintf("qm set %d --protection 0", g.VMID))
	case g.HA != "":
		s.Is(finding.Busy).Because("it is an HA resource (%s): Proxmox VE refuses to destroy it, after its DNS records are gone", g.HA).Because("%s", describe(g))
		s.Next("if it is to go, as you said", fmt.Sprintf("ha-manager remove vm:%d", g.VMID))
	default:
		return false
	}
	return true
}
