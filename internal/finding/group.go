package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Group is findings of one stack that are alike: they have the same severity,
// kind, type and reason, also in words, and steps for the same purposes.
type Group struct {
	Findings []Finding
	Steps    []GroupStep
}

// A GroupStep is a step of all findings of a group. Findings whose lines differ
// only in items share a block of lines. Every other finding has a block of its own:
// a block has all lines for each finding that it names, but those to run once that an
// earlier block has.
type GroupStep struct {
	What   string
	Blocks [][]Line

	at     map[string]int  // blocks by the texts of their lines
	has    map[string]bool // items in blocks
	phases [][]Line        // of steps with several
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
		out[i].join(&f)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Compare(b.Findings[0].Severity.rank(), a.Findings[0].Severity.rank())
	})
	return out
}

// likeness is the same for findings that belong into one group.
func (f *Finding) likeness() string {
	parts := []string{f.Severity.String(), f.Stack, string(f.Kind), string(f.Type), f.Reason.String(), f.Says}
	for _, s := range f.Steps {
		parts = append(parts, s.What)
	}
	return strings.Join(parts, "\x00")
}

// join adds a finding and its steps.
func (g *Group) join(f *Finding) {
	first := len(g.Findings) == 0
	g.Findings = append(g.Findings, *f)
	for i, s := range f.Steps {
		if first {
			g.Steps = append(g.Steps, GroupStep{What: s.What, at: map[string]int{}, has: map[string]bool{}})
		}
		g.Steps[i].join(s.Lines)
	}
}

// join adds lines as a block, or their items to the block with the same texts.
func (s *GroupStep) join(lines []Line) {
	switch {
	case len(lines) == 0:
		return
	case slices.ContainsFunc(lines, func(l Line) bool { return l.Ends }):
		s.joinPhases(lines)
		return
	}
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.Text, l.Sep)
	}
	key := strings.Join(texts, "\x00")
	at, ok := s.at[key]
	if !ok {
		at = len(s.Blocks)
		s.at[key] = at
		if block := s.lacking(lines); len(block) > 0 {
			s.Blocks = append(s.Blocks, block)
		}
	}
	next := 0 // of the lines of the block
	for _, l := range lines {
		line := s.once(l, at)
		if line == nil {
			line = &s.Blocks[at][next]
			next++
		}
		for _, item := range l.Items {
			if id := fmt.Sprintf("%p %s", line, item); !s.has[id] {
				s.has[id] = true
				line.Items = append(line.Items, item)
			}
		}
	}
}

// joinPhases adds each phase of lines to the same phase of the block. What several findings
// have in a phase comes once, after all that it depends on.
func (s *GroupStep) joinPhases(lines []Line) {
	for phase := 0; len(lines) > 0; phase++ {
		end := slices.IndexFunc(lines, func(l Line) bool { return l.Ends }) + 1
		if end == 0 {
			end = len(lines)
		}
		if phase == len(s.phases) {
			s.phases = append(s.phases, nil)
		}
		next := texts(lines[:end])
		s.phases[phase] = slices.DeleteFunc(s.phases[phase], func(l Line) bool { return slices.Contains(next, l.Text) })
		s.phases[phase] = append(s.phases[phase], lines[:end]...)
		lines = lines[end:]
	}
	s.Blocks = [][]Line{slices.Concat(s.phases...)}
}

// lacking are the lines of a new block without their items, and without those to run once that an earlier block has.
func (s *GroupStep) lacking(lines []Line) []Line {
	var out []Line
	for _, l := range lines {
		if s.once(l, len(s.Blocks)) == nil {
			l.Items = nil
			out = append(out, l)
		}
	}
	return out
}

// once is the line to run once that is the same in the blocks before one, or nil.
func (s *GroupStep) once(l Line, before int) *Line {
	if !l.Once {
		return nil
	}
	for _, block := range s.Blocks[:before] {
		if i := slices.Index(texts(block), l.Text); i >= 0 {
			return &block[i]
		}
	}
	return nil
}

func texts(lines []Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}
