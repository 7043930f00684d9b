package drift

import "stackgen/internal/finding"

// FailOn are the values of --fail-on, the default first: which findings an exit code tells.
var FailOn = []string{"any", "blocked", "none"}

// Exit is the exit code of findings: of all, of those that block, or of none. What could
// not be done always counts.
func Exit(found []finding.Finding, failOn string) finding.Severity {
	var count []finding.Finding
	for _, f := range found {
		if failOn == FailOn[0] || f.Severity == finding.Failed || failOn == "blocked" && f.Severity == finding.Blocked {
			count = append(count, f)
		}
	}
	return finding.Exit(count)
}
