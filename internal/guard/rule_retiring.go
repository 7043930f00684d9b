package guard

import (
	"stackgen/internal/finding"
	"stackgen/internal/lock"
)

// A VM is `retiring` if it is retired and the next apply destroys it, or it was destroyed, or is
// in no state, so that no apply destroys it.

// retiring is a VM that the next apply destroys.
func (s *subject) retiring() {
	s.Is(finding.Retiring, finding.Why(s.destroys())).Because("%s", Describe(s.guest))
	s.retiredStack()
}

// destroys is the code of which order an apply destroys a VM and its records.
func (s *subject) destroys() finding.Code {
	switch {
	case s.at.lock.Units.Get(s.entry.Unit) != nil && s.entry.Unit != "":
		return "retired-records-first"
	case s.at.lock.Units.Get(lock.UnitDNS) != nil:
		return "retired-vm-first"
	}
	return "retired"
}

// retiringAbsent is a VM that was destroyed, or has another VMID now.
func (s *subject) retiringAbsent() {
	s.Is(finding.Retiring, finding.Why("retired-gone"))
	if s.otherVMID() {
		s.Reason = finding.Why("retired-other-vmid")
	}
	switch {
	case !s.notInState():
	case s.entry.Gone:
		s.Next("to free its VMID, remove it from `retired` in "+s.at.Spec, "stackgen render")
	default:
		s.Next("to free its VMID, record that it does not exist any more; then remove it from `retired` in "+s.at.Spec+", and render",
			"stackgen resolve")
	}
	s.retiredStack()
}

// retiringByHand is a VM that exists, and that no apply destroys.
func (s *subject) retiringByHand() {
	s.Is(finding.Retiring, finding.Why("retired-by-hand")).Because("%s", Describe(s.guest))
	if s.notProven() { // a line that destroys it would be wrong for another guest
		s.Because("nothing proves that it is this %s", s.Word())
		s.Next("inspect it; if it is this "+s.Word()+", destroy it by hand", inspect(s.guest))
	} else {
		s.Next("inspect it", inspect(s.guest))
		s.hold().destroy(s.Finding, "to destroy it, do it by hand, %s")
	}
	s.retiredStack()
}

// retiringElsewhere is a VM whose own state does not have it, and that is in another one: somebody has moved or renamed it,
// on another branch for example, or its VMID has another guest by now. No line destroys it.
func (s *subject) retiringElsewhere() {
	other := s.otherState()
	s.Is(finding.Retiring, finding.Why("retired-elsewhere", other.stack)).Because("%s", Describe(s.guest))
	s.Because("the state of %s has VMID %d as %s", other.stack, s.VMID, other.address)
	if other.stack == s.Stack {
		s.Next(updateCheckout, "git pull")
	} else {
		s.keepElsewhere("", "")
	}
	s.retiredStack()
}

// keepElsewhere is the step that forgets a retired VM which another stack manages. That of a stack which is retired as a
// whole has no spec for it.
func (s *subject) keepElsewhere(before, after string, lines ...finding.Line) {
	if s.at.lock.Status != lock.Retired {
		s.Add(finding.Step{What: before + "write it into `forgotten` in " + s.at.Spec + ", and not into `retired`" + after,
			Lines: append(s.forget(), lines...)})
	}
}

// retiredStack says that the VM is retired with its stack.
func (s *subject) retiredStack() {
	if s.at.lock.Status == lock.Retired {
		s.Because("its stack is retired")
	}
}

// destroyedAlready reports whether a destroy of the stack finds the VM in the state only.
func (s *subject) destroyedAlready() bool { return s.Destroy && s.absent() }

func (s *subject) retiringDestroyed() {
	s.Is(finding.Retiring, finding.Why("destroyed-already"))
	if s.otherVMID() {
		s.Reason = finding.Why("destroyed-other-vmid")
	}
}

// otherVMID reports whether another VMID has the VM, which no destroy reaches, and shows it.
func (s *subject) otherVMID() bool {
	copies := s.seenCopies()
	if s.entry.IsContainer() {
		copies = s.containerCopies()
	}
	for _, c := range copies {
		s.Case = finding.OtherVMID
		s.listed[c.VMID] = true
		s.Candidates = append(s.Candidates, c.VMID)
		s.Because("%s: %s", sharing(c), Describe(c.Guest))
		s.Next("inspect it; if it is this "+s.Word()+", destroy it by hand", inspect(c.Guest))
	}
	return len(copies) > 0
}
