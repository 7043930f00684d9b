package guard

import (
	"slices"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
)

// notMoved is a VM whose state has another address than the plan expects, with no
// moved block between them: the state is older than the lock remembers.
func (s *subject) notMoved() bool {
	if len(s.states) != 1 || s.states[0].VMID != s.VMID || s.Destroy {
		return false
	}
	at, want := s.states[0].Address, s.entry.Address(s.Key)
	if at == want.Resource() || slices.ContainsFunc(s.entry.Former, func(a lock.Address) bool { return a.Resource() == at }) {
		return false
	}
	s.Is(finding.WouldDestroy, "in state at an address that no moved block leads from: an apply would destroy it")
	s.Because("state has %s, and the specs %s", at, want.Resource())
	move := "terragrunt state mv " + shell.Quote(at) + " " + shell.Quote(want.Resource())
	s.Next("move it in the state, then run preflight again", lock.InUnit(s.Stack, s.Unit, move))
	return true
}
