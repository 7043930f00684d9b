package guard

import (
	"stackgen/internal/finding"
	"stackgen/schema"
)

// Unrendered are the findings for stacks whose specs were changed after the last
// render.
func Unrendered(stacks []*schema.Stack, severity finding.Severity) []finding.Finding {
	var out []finding.Finding
	for _, s := range stacks {
		f := finding.Finding{Address: finding.Address{Stack: s.Name, Type: finding.Stack}, Kind: finding.Unrendered, Severity: severity,
			Reason: finding.Why("unrendered")}
		out = append(out, *f.Next("render first", "stackgen render"))
	}
	return out
}
