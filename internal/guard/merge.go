package guard

import (
	"slices"

	"stackgen/internal/finding"
)

// Merge lays what was found in plans over what was found without them, so that
// there is one verdict about each thing: the plan's where it is worse, with the
// evidence of both.
func Merge(verdicts, plans []finding.Finding) []finding.Finding {
	out := slices.Clone(verdicts)
	for _, p := range plans {
		i := slices.IndexFunc(out, func(v finding.Finding) bool {
			return v.Stack == p.Stack && v.Unit == p.Unit && v.Type == p.Type && v.Key == p.Key
		})
		if i < 0 {
			out = append(out, p)
			continue
		}
		v := &out[i]
		first, second := v, &p
		if !v.Stops() {
			first, second = &p, v
		}
		word, exit := first.Kind, first.Severity
		evidence := slices.Concat(first.Evidence, slices.DeleteFunc(slices.Clone(second.Evidence), func(e string) bool { return slices.Contains(first.Evidence, e) }))
		next := first.Steps
		v.Kind, v.Severity, v.Import, v.Evidence, v.Steps = word, exit, "", evidence, slices.Clone(next)
	}
	finding.Sort(out)
	return out
}
