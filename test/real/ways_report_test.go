//go:build unix

package real

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/finding"
)

// A way is one printed step of a group of findings.
type way struct {
	kind   finding.Kind
	stops  bool
	about  []string // what the findings are about, with VMIDs and nodes
	reason string
	what   string
	lines  []string // to write or to run
}

// group names the findings that the way is for.
func (w *way) group() string {
	return string(w.kind) + " " + strings.Join(w.about, ", ") + "  " + w.reason
}

// text is everything that is printed about the way.
func (w *way) text() string {
	return w.group() + "\n  > " + w.what + "\n      " + strings.Join(w.lines, "\n      ")
}

var (
	wayRow  = regexp.MustCompile(`^(blocked|failed|outdated|ok) +([a-z-]+)  +(\S.*?)(?:  +(\S.*))?$`)
	wayStep = regexp.MustCompile(`^  > (\S.*)$`)
	wayLine = regexp.MustCompile(`^      (\S.*)$`)
)

// A printedGroup is findings that are alike, as they are printed, and their steps.
type printedGroup struct {
	severity string
	ways     []way // one without text if no step is printed
}

// printedGroups reads a report.
func printedGroups(report string) []printedGroup {
	var out []printedGroup
	var about []string
	var last []string // severity, kind and reason of the row before
	noted := false    // whether the line belongs to no group
	steps := true     // whether the group has steps, so that a row begins another one
	for line := range strings.Lines(report) {
		line = strings.TrimSuffix(line, "\n")
		if m := wayRow.FindStringSubmatch(line); m != nil {
			if same := slices.Equal(last, []string{m[1], m[2], m[4]}); !same || steps {
				about, steps = nil, false
				out = append(out, printedGroup{severity: m[1], ways: []way{{kind: finding.Kind(m[2]), stops: m[1] != "ok", reason: m[4]}}})
			}
			last, noted = []string{m[1], m[2], m[4]}, false
			about = append(about, m[3])
			out[len(out)-1].ways[0].about = slices.Clone(about)
			continue
		}
		if line != "" && line[0] != ' ' { // a note or a warning, and what belongs to it
			noted = true
		}
		if len(out) == 0 || noted {
			continue
		}
		g := &out[len(out)-1]
		if m := wayStep.FindStringSubmatch(line); m != nil {
			next := g.ways[0]
			next.what, next.lines = m[1], nil
			if !steps {
				g.ways = nil
			}
			steps = true
			g.ways = append(g.ways, next)
			continue
		}
		if m := wayLine.FindStringSubmatch(line); m != nil && steps {
			w := &g.ways[len(g.ways)-1]
			w.lines = append(w.lines, m[1])
		}
	}
	return out
}

// waysIn are the printed ways out of a report, those of what stops an apply first.
func waysIn(report string) []way {
	var out, rest []way
	for _, g := range printedGroups(report) {
		for _, w := range g.ways {
			switch {
			case w.what == "":
			case strings.Contains(w.what, "write the line of the right one"):
				for _, line := range w.lines {
					one := w
					one.lines = []string{line}
					out = append(out, one)
				}
			case w.stops:
				out = append(out, w)
			default:
				rest = append(rest, w)
			}
		}
	}
	return append(out, rest...)
}

// advice reports whether no command follows from a way.
func advice(w *way) bool {
	return slices.ContainsFunc([]string{"or keep the stack, and retire only", "if another checkout or machine has the recorded state", "if it was rebuilt from another checkout"}, func(text string) bool { return strings.HasPrefix(w.what, text) })
}

// isEdit reports whether a line is text of a spec, and not a command.
func isEdit(line string) bool { return editLine.MatchString(line) }

var editLine = regexp.MustCompile(`^[A-Za-z_][\w.-]*: `)

// reads reports whether all commands of a way only print something.
func (w *way) reads() bool {
	return len(w.lines) > 0 && !slices.ContainsFunc(w.lines, func(line string) bool { return !readingLine.MatchString(line) })
}

var readingLine = regexp.MustCompile(`^(pvesh get |qm config |pvecm status$|dig |stackgen (preflight|snapshot|render --diff)|\(cd .* && terragrunt (state list|plan)\)$)`)

// reportWays prints what was executed, and fails for kinds of findings without an
// executed way.
func reportWays(t *testing.T, results []wayResult) {
	t.Helper()
	done, ends, steps := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, r := range results {
		ends[r.result]++
		if r.result != "failed" {
			done[r.kind]++
			steps[r.kind+": "+r.step] = true
		}
		if r.result == "advice" {
			t.Logf("not executed, because no command follows from it: %s: %s", r.kind, r.step)
		}
	}
	t.Logf("%d ways out of %d states were executed, with %d different steps. They ended with: %v", len(results)-ends["advice"], len(wayStates()), len(steps), ends)
	if strings.Contains(testFilter(), "/") {
		return // -run selected some
	}
	for _, k := range finding.Kinds {
		if _, silent := kindsWithoutWays[k]; !silent && done[string(k)] == 0 {
			t.Errorf("no way out of %q was executed", k)
		}
	}
}

// kindsWithoutWays are the kinds of findings that never print a step here.
var kindsWithoutWays = map[finding.Kind]string{
	finding.Managed: "it is right", finding.Create: "it is right",
	finding.Noise: ofDrift, finding.ProviderOnly: ofDrift, finding.Live: ofDrift, finding.Power: ofDrift, finding.Restart: ofDrift, finding.DiskLoss: ofDrift,
	finding.Replace: ofDrift, finding.Destroy: ofDrift, finding.CreateOfExisting: ofDrift, finding.Forget: ofDrift, finding.Import: ofDrift,
}

const ofDrift = "only drift has it: TestDriftTable and TestDriftAccept"
