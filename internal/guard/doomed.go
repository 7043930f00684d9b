package guard

import (
	"fmt"

	"stackgen/schema"
)

// tainted is a VM that the state marks: its creation failed halfway, or somebody
// ran taint. The plan would replace it, which no spec can ask for.
func (s *subject) tainted() bool {
	if len(s.states) != 1 || !s.states[0].Tainted || s.Destroy {
		return false
	}
	r := s.states[0]
	s.is(Unlisted).because("the state marks it as tainted, as after a creation that failed halfway: an apply would destroy it and create it anew").because("%s", describe(s.guest))
	s.next("it is to stay: take the mark off, and the next apply completes it", inUnit(s.Stack, s.Unit, "terragrunt run -- untaint "+schema.Quoted(r.Address))...)
	s.next("it is worth nothing: destroy it by hand and take it out of the state, and the next apply creates it",
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
		s.is(Unlisted).because("its profile %s forbids to destroy it; a destroy of the stack would remove DNS records first, and then stop at it", s.profile.Name)
		s.next("destroy it too: "+retire(s.at.Spec), "retired: ["+s.Key+"]", "stackgen render")
		s.next("or keep the stack, and retire only the VMs that are to go")
		return true
	}
	return s.undestroyable()
}

// undestroyable is a VM that Proxmox VE refuses to destroy.
func (s *subject) undestroyable() bool {
	switch g := s.guest; {
	case on(g.Config, "protection"):
		s.is(Busy).because("its protection is on: Proxmox VE refuses to destroy it, after its DNS records are gone").because("%s", describe(g))
		s.next("if it is to go, as you said", fmt.Sprintf("qm set %d --protection 0", g.VMID))
	case g.HA != "":
		s.is(Busy).because("it is an HA resource (%s): Proxmox VE refuses to destroy it, after its DNS records are gone", g.HA).because("%s", describe(g))
		s.next("if it is to go, as you said", fmt.Sprintf("ha-manager remove vm:%d", g.VMID))
	default:
		return false
	}
	return true
}
