package guard

import (
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
)

// A VM is `managed` if state and cluster agree, and it is where the spec says.

// managed is a VM that is where and what the spec says.
func (s *subject) managed() {
	s.Is(finding.Managed, finding.Why("agrees")).Because("%s", s.proof())
}

// proof says by what evidence the guest is the VM.
func (s *subject) proof() string {
	switch s.match.Why {
	case cluster.ByIdentity:
		return strings.Join(s.match.Agrees, ", ")
	case cluster.ByAdopt:
		return "the spec adopts it, and no fingerprint is recorded"
	case cluster.HalfMade:
		return "it has the name, a run from here began to create it, and it is stopped"
	case cluster.ByStateName:
		return "it has the name from the state, and no fingerprint is recorded"
	}
	return "it has the name, and no fingerprint is recorded"
}
