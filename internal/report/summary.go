package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"stackgen/internal/finding"
)

// An Action is what a run does with one thing. Actions with the same Word, Stack, What
// and Detail are one row of a summary, unless each is named.
type Action struct {
	Word   string // create, change, destroy
	Stack  string
	What   string // VM, pool, record
	Name   string
	Detail string
	Named  bool // on a row of its own, whatever the others are
}

// A Summary is what a run is about to do, for a person who confirms it.
type Summary struct {
	Command  string // apply or destroy
	Stacks   []string
	Actions  []Action
	Findings []finding.Finding // what should be read before the answer
	Notes    []string
}

// Print writes the summary: what is done in one line, then a row for all that is alike.
func (s *Summary) Print(w io.Writer, o Options) error {
	safe := clean(*s)
	var out bytes.Buffer
	fmt.Fprintln(&out, safe.answer())
	writeActions(&out, safe.Actions, o)
	shown := NewFindings(safe.Findings, nil)
	writeRows(&out, rows(shown.Findings, o.Verbose), o)
	for _, n := range safe.Notes {
		fmt.Fprintf(&out, "note: %s\n", n)
	}
	return write(w, out.String())
}

// answer says how many things of each kind are changed in which way.
func (s *Summary) answer() string {
	return fmt.Sprintf("%s %s: %s", s.Command, strings.Join(s.Stacks, ", "), Counted(s.Actions))
}

// Counted is how many things of each kind are changed in which way, in the order of the
// actions.
func Counted(actions []Action) string {
	var words, parts []string
	kinds, n := map[string][]string{}, map[string]int{}
	for _, a := range actions {
		key := a.Word + "\x00" + a.What
		if n[key] == 0 {
			if len(kinds[a.Word]) == 0 {
				words = append(words, a.Word)
			}
			kinds[a.Word] = append(kinds[a.Word], a.What)
		}
		n[key]++
	}
	for _, word := range words {
		var of []string
		for _, kind := range kinds[word] {
			of = append(of, Count(n[word+"\x00"+kind], kind))
		}
		parts = append(parts, word+" "+strings.Join(of, ", "))
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, "; ")
}

// An actionRow is actions that are alike.
type actionRow struct {
	Action
	names []string
}

func actionRows(actions []Action, verbose bool) []actionRow {
	var out []actionRow
	at := map[Action]int{}
	for _, a := range actions {
		key := a
		if key.Name = ""; a.Named || verbose {
			key.Name = a.Name
		}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key], out = i, append(out, actionRow{Action: key})
		}
		out[i].names = append(out[i].names, a.Name)
	}
	return out
}

func writeActions(w io.Writer, actions []Action, o Options) {
	tint := map[string]func(string) string{
		"destroy": paint(o.Color, "1;31"), "replace": paint(o.Color, "1;31"), "create": paint(o.Color, "32"),
	}
	all := actionRows(actions, o.Verbose)
	word, about := 0, 0
	head := func(r actionRow) string {
		if len(r.names) == 1 {
			return line(fmt.Sprintf("%s: %s", r.Stack, r.What))
		}
		return line(fmt.Sprintf("%s: %s", r.Stack, Count(len(r.names), r.What)))
	}
	for _, r := range all {
		word, about = max(word, len(r.Word)), max(about, len([]rune(head(r))))
	}
	for _, r := range all {
		names := strings.Join(r.names[:min(few, len(r.names))], ", ")
		if n := len(r.names); n > few {
			names = fmt.Sprintf("%s and %d more", names, n-few)
		}
		if r.Detail != "" {
			names += ": " + r.Detail
		}
		text := fmt.Sprintf("%-*s", word, r.Word)
		if paint := tint[r.Word]; paint != nil {
			text = paint(text)
		}
		fmt.Fprintf(w, "%s  %-*s  %s\n", text, about, head(r), line(names))
	}
}
