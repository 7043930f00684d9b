package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/shell"
)

// A Recording is what is new in the lock about a VM or unit, or about a stack if it
// has no Key.
type Recording struct {
	Stack string   `json:"stack"`
	Unit  bool     `json:"unit,omitempty"`
	Key   string   `json:"key,omitempty"`
	What  []string `json:"what"`

	Container bool `json:"container,omitempty"`
}

// A Resolve is what was recorded in the lock. Its JSON keys are stable.
type Resolve struct {
	Recorded []Recording       `json:"recorded"`
	Left     []finding.Finding `json:"not_recorded"` // about VMs of which nothing was recorded
	Decided  []Decision        `json:"decided"`
	Nodes    []Node            `json:"nodes,omitempty"`       // among which VMs were placed by load
	Advice   []Advice          `json:"parallelism,omitempty"` // with Explain
	Kept     []finding.Finding `json:"kept"`                  // about VMs that may exist, for which nothing was decided again
	Notes    []string          `json:"notes,omitempty"`
	Next     []string          `json:"next"` // commands

	File    string `json:"-"` // the lock
	Explain bool   `json:"-"`
}

// Print writes the report as text or JSON.
func (r *Resolve) Print(w io.Writer, o Options) error {
	safe := clean(Resolve{
		Recorded: append([]Recording{}, r.Recorded...), Left: NewFindings(r.Left, nil).Findings,
		Decided: append([]Decision{}, r.Decided...), Kept: NewFindings(r.Kept, nil).Findings,
		Notes: r.Notes, Next: append([]string{}, r.Next...),
		File: r.File, Explain: r.Explain, Nodes: r.Nodes, Advice: r.Advice,
	})
	if o.Format == "json" {
		return writeJSON(w, safe)
	}
	var out bytes.Buffer
	safe.text(&out, o)
	return write(w, out.String())
}

// recordingWords are for people what the words of a recording mean.
var recordingWords = map[string]string{
	"cluster":   "the cluster's identity",
	"macs":      "its MAC addresses stay as they are",
	"lineage":   "the lineage of its state",
	"serial":    "the serial of its state",
	"applied":   "whether its state has the pool",
	"addresses": "addresses in the network",
	"former":    "former addresses left the state",
	"node":      "it is on the node of its spec",
	"detached":  "volumes of disks that the spec has removed",
	"disks":     "the order of its disks in the state",
	"template":  "what it was made from",
	"creation":  "what it was made with",
	"gone":      "does not exist any more",
}

func (r *Resolve) text(w io.Writer, o Options) {
	answer := "nothing new to record in " + r.File
	if len(r.Recorded) > 0 {
		answer = "recorded in " + r.File + ": " + r.counts()
	}
	if len(r.Decided) > 0 {
		decided := guest.Count(r.Decided, func(d Decision) guest.Kind { return kindIf(d.Container) })
		if again := slices.ContainsFunc(r.Decided, func(d Decision) bool { return d.Again }); again {
			answer = fmt.Sprintf("decided again and rendered: %s; %s", decided, answer)
		} else {
			answer = fmt.Sprintf("decided in %s: %s; %s", r.File, decided, strings.TrimSuffix(answer, " in "+r.File))
		}
	}
	if len(r.Kept) > 0 {
		answer = fmt.Sprintf("blocked: %s may exist, so nothing was decided again; %s", Guests(r.Kept), answer)
	}
	if len(r.Left) > 0 {
		answer += fmt.Sprintf("; not recorded: %s, listed below", Guests(r.Left))
		if other := NewFindings(r.Left, nil).OtherCluster(); other != "" {
			answer = "blocked: " + other
		}
	}
	fmt.Fprintln(w, answer)
	writeRows(w, rows(r.Kept, o.Verbose), o)
	for _, l := range r.loads() {
		fmt.Fprintln(w, line(l))
	}
	for _, l := range r.decisions(o.Verbose) {
		fmt.Fprintln(w, line(l))
	}
	if r.Explain {
		r.explain(w)
	}
	for _, g := range r.groups(o.Verbose) {
		fmt.Fprintln(w, line(g))
	}
	writeRows(w, rows(r.Left, o.Verbose), o)
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", line(n))
	}
	if len(r.Next) > 0 {
		fmt.Fprintf(w, "next:\n  %s\n", line(shell.In(o.Folder, strings.Join(r.Next, " && "))))
	}
}

// counts is of how many guests, units and stacks something is recorded.
func (r *Resolve) counts() string {
	guests, units, stacks := guest.Tally{}, 0, 0
	for _, one := range r.Recorded {
		switch {
		case one.Key == "":
			stacks++
		case one.Unit:
			units++
		default:
			guests[kindIf(one.Container)]++
		}
	}
	var out []string
	if len(guests) > 0 {
		out = append(out, guests.String())
	}
	if units > 0 {
		out = append(out, Count(units, "unit"))
	}
	if stacks > 0 {
		out = append(out, Count(stacks, "stack"))
	}
	return strings.Join(out, ", ")
}

// groups are lines about what was recorded, one for all that is alike.
func (r *Resolve) groups(verbose bool) []string {
	var heads []string
	keys := map[string][]string{}
	for _, one := range r.Recorded {
		var what []string
		for _, word := range one.What {
			if long := recordingWords[word]; long != "" {
				word = long
			}
			what = append(what, word)
		}
		head := one.Stack + "\x00" + strings.Join(what, ", ")
		if keys[head] == nil || verbose {
			heads = append(heads, head)
		}
		keys[head] = append(keys[head], one.Key)
	}
	return joined(heads, keys, verbose)
}

// joined writes lines of STACK: KEYS: WHAT, for heads of STACK and WHAT.
func joined(heads []string, keys map[string][]string, verbose bool) []string {
	var out []string
	for _, head := range heads {
		stack, what, _ := strings.Cut(head, "\x00")
		names := keys[head]
		if verbose {
			names, keys[head] = names[:1], names[1:]
		}
		name := stack + ": "
		switch {
		case len(names) > few:
			name += fmt.Sprintf("%s and %d more: ", strings.Join(names[:few], ", "), len(names)-few)
		case names[0] != "":
			name += strings.Join(names, ", ") + ": "
		}
		out = append(out, name+what)
	}
	return out
}
