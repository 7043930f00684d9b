package real

import (
	"slices"

	"stackgen/internal/finding"
)

// A driftReport is what drift says.
type driftReport struct {
	Findings []finding.Finding `json:"verdicts"`
}

// of are the findings about one VM, pool or record.
func (r *driftReport) of(keys ...string) (out []finding.Finding) {
	for _, f := range r.Findings {
		if slices.Contains(keys, f.Key) || f.Type == finding.Unit && slices.Contains(keys, f.Unit) {
			out = append(out, f)
		}
	}
	return out
}
