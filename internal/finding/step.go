package finding

import (
	"slices"
	"strings"

	"stackgen/schema"
)

// A Step is one thing to do: what it achieves, and the lines to write or run.
type Step struct {
	What  string  `json:"what"`
	Lines []Line  `json:"lines,omitempty"`
	Why   *Reason `json:"-"` // with which What ends, once package report has put it in words
}

// Do is a step of lines that name one thing each.
func Do(what string, lines ...string) Step { return Step{What: what, Lines: Lines(lines...)} }

// DoPhases is a step of several phases, such as an edit and an apply of it each. Several
// findings that have it go through each phase together: an apply is of all VMs.
func DoPhases(what string, phases ...[]string) Step {
	s := Step{What: what}
	for i, lines := range phases {
		s.Lines = append(s.Lines, Lines(lines...)...)
		if n := len(s.Lines); i+1 < len(phases) && n > 0 {
			s.Lines[n-1].Ends = true
		}
	}
	return s
}

// DoAll is a step whose first line is a list.
func DoAll(what string, list Line, lines ...string) Step {
	return Step{What: what, Lines: append([]Line{list}, Lines(lines...)...)}
}

// A Line is a line to write or run. Items are what it names in a list, which
// replaces {} in Text: the lines of several findings become one line with all of
// their items.
type Line struct {
	Text  string
	Items []string
	Sep   string
	Once  bool // it does for all findings that have it, in any order with their other lines; with items, one line has those of all
	Ends  bool // without items; the lines before it are for all findings first
}

// DoOnce is a step of lines that several findings may have, and that run once.
func DoOnce(what string, lines ...string) Step {
	s := Do(what, lines...)
	for i := range s.Lines {
		s.Lines[i].Once = true
	}
	return s
}

// Lines are lines without a list.
func Lines(lines ...string) []Line {
	var out []Line
	for _, l := range lines {
		out = append(out, Line{Text: l})
	}
	return out
}

// Entries is a line of a spec with a list of keys, such as retired: [web01].
func Entries(list string, keys ...string) Line {
	line := Line{Text: list + ": [{}]", Sep: ", "}
	for _, k := range keys {
		line.Items = append(line.Items, Key(k))
	}
	return line
}

// Key is a key as a spec has it: in quotes if YAML reads a number or a truth value, such as
// "101" and "true".
func Key(key string) string { return schema.Scalar(schema.Pos{}, schema.ShapeString, key).Flow() }

func (l Line) String() string {
	if l.Items == nil {
		return l.Text
	}
	return strings.Replace(l.Text, "{}", strings.Join(l.Items, l.Sep), 1)
}

// MarshalText makes a line text in JSON.
func (l Line) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText wrote; which items it had is not known.
func (l *Line) UnmarshalText(text []byte) error {
	*l = Line{Text: string(text)}
	return nil
}

// Alternatives are steps of which the first is no alternative to another one: it does not
// begin with "or".
func Alternatives(steps []Step) []Step {
	if len(steps) > 0 {
		steps[0].What = strings.TrimPrefix(strings.TrimPrefix(steps[0].What, "or, "), "or ")
	}
	return steps
}

// Next adds a step of lines that name one thing each.
func (f *Finding) Next(what string, lines ...string) *Finding { return f.Add(Do(what, lines...)) }

// Add adds a step, or to the step for the same purpose the lines that it lacks.
func (f *Finding) Add(s Step) *Finding {
	i := slices.IndexFunc(f.Steps, func(t Step) bool { return t.What == s.What })
	if i < 0 {
		f.Steps = append(f.Steps, s)
		return f
	}
	t := &f.Steps[i]
	for _, l := range s.Lines {
		if !slices.ContainsFunc(t.Lines, func(m Line) bool { return m.String() == l.String() }) {
			t.Lines = append(t.Lines, l)
		}
	}
	return f
}
