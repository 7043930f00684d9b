package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Group is findings of one stack that are alike: they have the same severity,
// kind, type and reason, and steps for the same purposes.
type Group struct {
	Findings []Finding
	Steps    []Step // of all of them

	has map[string]bool // lines and items in Steps
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
			at[key], out = i, append(out, Group{has: map[string]bool{}})
		}
		out[i].join(&f)
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

// join adds a finding, and the lines of its steps that the group does not have.
func (g *Group) join(f *Finding) {
	first := len(g.Findings) == 0
	g.Findings = append(g.Findings, *f)
	for i, s := range f.Steps {
		if first {
			g.Steps = append(g.Steps, Step{What: s.What})
		}
		for _, l := range s.Lines {
			g.Steps[i].Lines = g.add(i, g.Steps[i].Lines, l)
		}
	}
}

// add adds a line to a step, or its items to the line with the same list.
func (g *Group) add(step int, lines []Line, l Line) []Line {
	key := fmt.Sprint(step, "\x00", l.Text, "\x00", l.Sep)
	at := slices.IndexFunc(lines, func(m Line) bool { return m.Text == l.Text && m.Sep == l.Sep })
	if at < 0 {
		lines = append(lines, Line{Text: l.Text, Sep: l.Sep})
		at = len(lines) - 1
	}
	for _, item := range l.Items {
		if id := key + "\x00" + item; !g.has[id] {
			g.has[id] = true
			lines[at].Items = append(lines[at].Items, item)
		}
	}
	return lines
}
