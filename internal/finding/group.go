package finding

import (
	"cmp"
	"slices"
	"strings"
)

// A Group is findings of one stack that are alike: they have the same severity,
// kind, type and reason, and the same things are to do about them.
type Group struct {
	Findings []Finding
	Steps    []Step // of all of them
}

// Groups puts sorted findings into groups, the worst first.
func Groups(fs []Finding) []Group {
	var out []Group
	at := map[string]int{}
	for _, f := range fs {
		key := f.likeness()
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, Group{})
		}
		out[i].Findings = append(out[i].Findings, f)
		out[i].join(f.Steps)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Compare(b.Findings[0].Severity.rank(), a.Findings[0].Severity.rank())
	})
	return out
}

// likeness is the same for findings that belong into one group.
func (f *Finding) likeness() string {
	parts := []string{f.Severity.String(), f.Stack, string(f.Kind), string(f.Type), f.Reason}
	for _, s := range f.Steps {
		parts = append(parts, s.What)
	}
	return strings.Join(parts, "\x00")
}

// join adds the lines of one more finding to the steps of a group.
func (g *Group) join(steps []Step) {
	if g.Steps == nil {
		for _, s := range steps {
			g.Steps = append(g.Steps, Step{What: s.What, Lines: slices.Clone(s.Lines)})
		}
		return
	}
	for i := range steps {
		for _, l := range steps[i].Lines {
			g.Steps[i].Lines = add(g.Steps[i].Lines, l)
		}
	}
}

// add adds a line, or its items to the line with the same list.
func add(lines []Line, l Line) []Line {
	for i := range lines {
		m := &lines[i]
		if m.Text != l.Text || m.Sep != l.Sep {
			continue
		}
		m.Items = slices.Clone(m.Items)
		for _, item := range l.Items {
			if !slices.Contains(m.Items, item) {
				m.Items = append(m.Items, item)
			}
		}
		return lines
	}
	return append(lines, l)
}
