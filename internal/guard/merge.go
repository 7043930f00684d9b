package guard

import (
	"slices"

	"stackgen/internal/finding"
)

// Merge joins the findings without plans and those of plans, so that there is one
// about each thing: the worse one, with the evidence of both.
func Merge(found, plans []finding.Finding) []finding.Finding {
	out := slices.Clone(found)
	for _, p := range plans {
		i := slices.IndexFunc(out, func(v finding.Finding) bool {
			return v.Stack == p.Stack && v.Unit == p.Unit && v.Type == p.Type && v.Key == p.Key
		})
		if i < 0 {
			out = append(out, p)
			continue
		}
		first, second := out[i], p
		if !first.Stops() {
			first, second = p, out[i]
		}
		merged := &out[i]
		merged.Kind, merged.Severity, merged.Case, merged.Reason = first.Kind, first.Severity, first.Case, first.Reason
		merged.Updates = append(slices.Clone(out[i].Updates), p.Updates...)
		merged.Differs = append(slices.Clone(out[i].Differs), p.Differs...)
		if first.Severity != finding.OK {
			merged.Import = ""
		}
		merged.Evidence, merged.Steps = slices.Clone(first.Evidence), slices.Clone(first.Steps)
		more := second.Evidence
		if len(p.Updates) > 0 && !second.Stops() { // what an apply changes follows what says that it is the VM
			merged.Evidence, more = slices.Clone(second.Evidence), first.Evidence
		}
		if second.Severity != finding.OK && second.Reason.String() != first.Reason.String() {
			more = append([]finding.Evidence{{Reason: &second.Reason}}, more...)
		}
		for _, e := range more {
			if !slices.ContainsFunc(merged.Evidence, e.Same) {
				merged.Evidence = append(merged.Evidence, e)
			}
		}
	}
	finding.Sort(out)
	return out
}
