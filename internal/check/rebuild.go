package check

import (
	"stackgen/internal/finding"
	"stackgen/internal/guard"
)

// Rebuild says what a rebuild of VMs of a stack, by their keys, does, by what was read and found.
// named are those that were named one by one, again those that are replaced once more.
func (s *Session) Rebuild(found []finding.Finding, stack string, keys, named, again []string) guard.Rebuild {
	return guard.JudgeRebuild(s.judged, found, stack, keys, named, again)
}
