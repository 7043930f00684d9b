package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/shell"
)

// few is how many findings of a group have a line each; of more, only their
// names are printed.
const few = 3

// A row is one line of a report: a finding, or a group of them.
type row struct {
	severity finding.Severity
	kind     finding.Kind
	about    string
	reason   string
	evidence []string
	steps    []finding.Step
	stepsFor string         // which rows the steps are for, if not for this one only
	notable  bool           // it stops nothing, and should be read all the same
	word     string         // for the severity, if not the usual one
	at       *finding.Place // in a spec
}

// rows are the lines of a report.
func rows(fs []finding.Finding, verbose bool) []row {
	var out []row
	for _, g := range finding.Groups(fs) {
		out = append(out, groupRows(g, verbose)...)
	}
	return out
}

// groupRows are the lines of a group. Its steps are in the last one, which says that they
// are for all of the group.
func groupRows(g finding.Group, verbose bool) []row {
	var out []row
	short := len(g.Findings) > few && !verbose
	if short {
		r := newRow(&g.Findings[0])
		r.about = groupName(g.Findings)
		r.evidence = slices.Concat([]string{memberNames(g.Findings)},
			properties(g.Findings), changes(g.Findings), brought(g.Findings), waiting(g.Findings))
		out = append(out, r)
	} else {
		for i := range g.Findings {
			r := newRow(&g.Findings[i])
			if r.severity == finding.OK && !r.notable && !verbose {
				r.evidence = nil
			}
			out = append(out, r)
		}
	}
	if last := &out[len(out)-1]; last.severity != finding.OK || last.notable || verbose {
		last.steps = steps(g.Steps, short)
		if len(g.Findings) > 1 && !short && len(last.steps) > 0 {
			last.stepsFor = "for " + memberNames(g.Findings)
		}
	}
	return out
}

// changes names what the first plan after an import would change in a group.
func changes(fs []finding.Finding) []string {
	return differences("changes", fs, func(f *finding.Finding) []finding.Difference { return f.Differs })
}

// brought names what templates bring in a group.
func brought(fs []finding.Finding) []string {
	return differences("by the template", fs, func(f *finding.Finding) []finding.Difference { return f.FromTemplate })
}

func differences(title string, fs []finding.Finding, of func(*finding.Finding) []finding.Difference) []string {
	var names []string
	for i := range fs {
		for _, d := range of(&fs[i]) {
			name := d.Field
			if name == "" {
				name, _, _ = strings.Cut(d.Config, "=")
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{line(title + ": " + strings.Join(names, ", ") + " (--verbose prints the values)")}
}

// waiting names what waits for a restart in a group.
func waiting(fs []finding.Finding) []string {
	var names []string
	for i := range fs {
		names = append(names, fs[i].Pending...)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{line("waiting: " + strings.Join(slices.Compact(names), ", ") + " (--verbose prints the values)")}
}

// steps are the steps of a group. Short ones have a few lines each, and never a
// part of the lines of a finding.
func steps(of []finding.GroupStep, short bool) []finding.Step {
	var out []finding.Step
	for _, s := range of {
		step := finding.Step{What: s.What, Lines: slices.Concat(s.Blocks...)}
		if n, lines := firstBlocks(s.Blocks); short && len(step.Lines)-lines > few {
			more := finding.Line{Text: fmt.Sprintf("# and %d more: --verbose prints them", len(s.Blocks)-n)}
			step.Lines = append(slices.Clone(step.Lines[:lines]), more)
		}
		out = append(out, step)
	}
	return out
}

// firstBlocks are the first blocks that have a few lines: how many, with how many
// lines.
func firstBlocks(blocks [][]finding.Line) (n, lines int) {
	for n < len(blocks) && lines < few {
		lines += len(blocks[n])
		n++
	}
	return n, lines
}

func newRow(f *finding.Finding) row {
	r := row{severity: f.Severity, kind: f.Kind, about: about(f), reason: line(f.Says), evidence: evidence(f)}
	r.notable = f.Notable() || f.Warns() ||
		f.Kind == finding.Busy && len(f.Steps) > 0 // a lock that a killed task may have left
	if f.Warns() {
		r.word = "warning"
	}
	if f.Change != nil {
		r.at, r.evidence = f.Change.At, append(r.evidence, changedBy(f)...)
	}
	return r
}

// about is what a finding is about, for people.
func about(f *finding.Finding) string {
	out := f.String()
	if what := changed(f); what != "" {
		out += " " + what
	}
	switch f.Type {
	case finding.VM, finding.Guest:
		if f.Type == finding.Guest {
			out = f.Stack
		}
		if f.VMID != 0 {
			out += fmt.Sprintf(": %s %d", f.Word(), f.VMID)
		}
		if f.Name != "" && f.Name != f.Key && f.Change == nil {
			out += " " + f.Name
		}
		if f.Node != "" {
			out += " on " + f.Node
		}
	case finding.Pool:
		out += ": pool"
	case finding.Image:
		out += ": image " + f.Name
	case finding.Record:
		out += ": record"
	case finding.Unit:
		out += ": unit"
	}
	return line(out)
}

// noun is what a finding of a type is about, if that is no guest.
var noun = map[finding.Type]string{
	finding.Stack: "stack", finding.Pool: "pool", finding.Image: "image", finding.Record: "record", finding.Unit: "unit",
}

func groupName(fs []finding.Finding) string {
	n := len(names(fs))
	of := Count(n, noun[fs[0].Type])
	if fs[0].Type == finding.VM || fs[0].Type == finding.Guest {
		of = Guests(distinct(fs)).String()
	}
	if n < len(fs) && fs[0].Change != nil {
		of = fmt.Sprintf("%d changes of %s", len(fs), of)
	}
	return line(fs[0].Stack + ": " + of)
}

// memberNames names what a group is about, or the first few.
func memberNames(fs []finding.Finding) string {
	all := names(fs)
	if len(all) <= few {
		return line(strings.Join(all, ", "))
	}
	return line(fmt.Sprintf("%s and %d more", strings.Join(all[:few], ", "), len(all)-few))
}

// names are the names of what a group is about.
func names(fs []finding.Finding) (out []string) {
	for _, f := range distinct(fs) {
		out = append(out, nameOf(&f))
	}
	return out
}

// distinct are findings without further changes of one thing, which have its name.
func distinct(fs []finding.Finding) (out []finding.Finding) {
	seen := map[string]bool{}
	for i := range fs {
		name := nameOf(&fs[i])
		if fs[i].Change == nil || !seen[name] {
			out = append(out, fs[i])
		}
		seen[name] = true
	}
	return out
}

// nameOf is the name of what a finding of a group is about.
func nameOf(f *finding.Finding) string {
	if f.Type == finding.Guest {
		return cmp.Or(f.Name, f.Unit)
	}
	return cmp.Or(f.Key, f.Unit)
}

func writeRows(w io.Writer, rows []row, o Options) {
	tints := map[finding.Severity]func(string) string{finding.Blocked: paint(o.Color, "1;31"), finding.Failed: paint(o.Color, "1;31"),
		finding.Outdated: paint(o.Color, "33"), finding.OK: paint(o.Color, "32")}
	severity, kind, name := 0, 0, 0
	for _, r := range rows {
		severity, kind = max(severity, len(r.level())), max(kind, len(r.kind))
		if n := len([]rune(r.about)); n <= 44 {
			name = max(name, n)
		}
	}
	if o.Folder != "" && slices.ContainsFunc(rows, row.hasLines) {
		fmt.Fprintf(w, "  > first go to the folder of the project, which the lines below are for\n      cd %s\n", line(shell.Path(o.Folder)))
	}
	for _, r := range rows {
		head := fmt.Sprintf("%s %-*s  %-*s", tints[r.severity](fmt.Sprintf("%-*s", severity, r.level())), kind, r.kind, name, r.about)
		fmt.Fprintln(w, strings.TrimRight(head+"  "+r.reason, " "))
		for _, e := range r.evidence {
			fmt.Fprintf(w, "    %s\n", indented(e))
		}
		if r.stepsFor != "" {
			fmt.Fprintf(w, "  %s:\n", r.stepsFor)
		}
		for _, s := range r.steps {
			fmt.Fprintf(w, "  > %s\n", indented(s.What))
			for _, l := range texts(s.Lines) {
				fmt.Fprintf(w, "      %s\n", indented(l))
			}
		}
	}
}

// hasLines reports whether a step of a row has lines to write or to run.
func (r row) hasLines() bool {
	return slices.ContainsFunc(r.steps, func(s finding.Step) bool { return len(s.Lines) > 0 })
}

func texts(lines []finding.Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.String())
	}
	return out
}

// level is the word for a row's severity.
func (r *row) level() string { return cmp.Or(r.word, r.severity.String()) }

// why is a row's reason and evidence.
func (r *row) why() string {
	var parts []string
	if r.reason != "" {
		parts = append(parts, r.reason)
	}
	return strings.Join(append(parts, r.evidence...), "; ")
}

// prose is a row as plain lines, its steps at the end.
func (r *row) prose() string {
	lines := []string{r.about}
	if r.reason != "" {
		lines[0] += ": " + r.reason
	}
	lines = append(lines, r.evidence...)
	if r.stepsFor != "" {
		lines = append(lines, r.stepsFor+":")
	}
	for _, s := range r.steps {
		lines = append(lines, "> "+s.What)
		for _, l := range texts(s.Lines) {
			lines = append(lines, "    "+l)
		}
	}
	return strings.Join(lines, "\n")
}
