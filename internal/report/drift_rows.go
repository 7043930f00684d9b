package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/finding"
)

// changeRows are the lines of a report of changes, the worst first. Groups that follow each
// other and have the same steps have them once.
func changeRows(fs []finding.Finding, verbose bool) []row {
	groups := finding.Groups(worstFirst(fs))
	parts := make([][]row, len(groups))
	for i, g := range groups {
		parts[i] = groupRows(g, verbose)
	}
	var out []row
	var shared []finding.Finding // of groups whose steps are printed with a later one
	for i, part := range parts {
		last := &part[len(part)-1]
		shared = append(shared, groups[i].Findings...)
		switch {
		case i+1 < len(parts) && sameSteps(last, &parts[i+1][len(parts[i+1])-1]):
			last.steps, last.stepsFor = nil, ""
		case len(shared) > len(groups[i].Findings):
			last.stepsFor, shared = "for "+memberNames(shared), nil
		default:
			shared = nil
		}
		out = append(out, part...)
	}
	for i := range out {
		if out[i].severity == finding.Outdated {
			out[i].word = "safe"
		}
	}
	return out
}

// sameSteps reports whether two rows of one severity have the same steps.
func sameSteps(a, b *row) bool {
	return a.severity == b.severity && len(a.steps) > 0 && slices.EqualFunc(a.steps, b.steps, func(s, t finding.Step) bool {
		return s.What == t.What && slices.Equal(texts(s.Lines), texts(t.Lines))
	})
}

// worstFirst are findings in the order of verdicts, and each verdict's in the order that
// they had.
func worstFirst(fs []finding.Finding) []finding.Finding {
	out := slices.Clone(fs)
	slices.SortStableFunc(out, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(rankOf(a.Kind), rankOf(b.Kind)), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// known says how many changes a baseline knows, and which entries have expired. It is one
// line, or none.
func (r *Drift) known() []string {
	known, expired := 0, []string{}
	for i := range r.Findings.Findings {
		f := &r.Findings.Findings[i]
		switch {
		case isKnown(f):
			known++
		case f.Change != nil && f.Change.Known != nil:
			expired = append(expired, fmt.Sprintf("%s (%s)", strings.TrimSpace(f.String()+" "+changed(f)), f.Change.Known.Expires))
		}
	}
	text := Count(known, "known difference") + " (baseline)"
	switch {
	case len(expired) > 0:
		return []string{line(fmt.Sprintf("%s, %d expired: %s", text, len(expired), firstOf(expired)))}
	case known > 0:
		return []string{text}
	}
	return nil
}

// covered says which guests no spec manages. It is one line, with the steps below it.
func (r *Drift) covered() []string {
	c := &r.Coverage
	if c.Managed+len(c.Unmanaged) == 0 {
		return nil
	}
	text := "coverage: " + r.coverage()
	if len(c.Unmanaged) == 0 {
		return []string{text}
	}
	var names []string
	for _, u := range c.Unmanaged {
		names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", u.VMID, u.Name)))
	}
	out := []string{line(text + "; not in specs: " + firstOf(names))}
	for _, s := range c.Steps {
		out = append(out, line("  > "+s.What+": "+strings.Join(texts(s.Lines), "; ")))
	}
	return out
}

// coverage says how many guests specs manage.
func (r *Drift) coverage() string {
	c := &r.Coverage
	return fmt.Sprintf("specs manage %d of %s of their pools, tags and VMID ranges", c.Managed, Count(c.Managed+len(c.Unmanaged), "guest"))
}

// firstOf names the first of many.
func firstOf(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// changed is what changes of a thing, in the words of the spec if it has some.
func changed(f *finding.Finding) string {
	switch {
	case f.Change == nil:
		return ""
	case f.Change.Property != "":
		return f.Change.Property
	}
	return f.Change.Attribute
}

// properties names what changes in a group, if it is more than one thing.
func properties(fs []finding.Finding) []string {
	var out []string
	for i := range fs {
		if what := changed(&fs[i]); what != "" && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []string{line("changes: " + firstOf(out) + " (--verbose prints the values)")}
}

// changedBy says who may have made a change, where the cluster's log has it and the evidence
// does not.
func changedBy(f *finding.Finding) []string {
	var out []string
	for _, by := range f.Change.By {
		if !slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool {
			return strings.Contains(e.Text, by.User) && strings.Contains(e.Text, by.Time)
		}) {
			out = append(out, line("task log: "+by.String()))
		}
	}
	return out[:min(len(out), few)]
}
