package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackgen/internal/finding"
)

// Findings is what a command found out, and what that means for what is about to
// be done. Its JSON keys are stable.
type Findings struct {
	Answer   string            `json:"-"` // instead of the one that follows from the findings
	About    string            `json:"-"` // what the answer adds in parentheses, instead of the summary
	Findings []finding.Finding `json:"verdicts"`
	Counts   []finding.Count   `json:"counts"`
	Total    int               `json:"total"`
	Exit     finding.Severity  `json:"exit"`
	Endpoint string            `json:"endpoint,omitempty"` // of the cluster that was read
	Notes    []string          `json:"notes"`

	Unplanned []string `json:"unplanned,omitempty"` // units whose changes were not looked at, STACK/UNIT
	Blocked   []string `json:"blocked,omitempty"`   // those of which a finding is the reason

	Rollouts []Rollout `json:"rollouts,omitempty"` // rebuilds that are not done

	Action  string `json:"-"` // apply unless given
	Command string `json:"-"` // preflight unless given: the name of the suite of JUnit
}

// NewFindings is a report of findings.
func NewFindings(fs []finding.Finding, notes []string) *Findings {
	own := append([]finding.Finding{}, fs...)
	for i := range own { // JSON has empty lists, not null
		f, kind := &own[i], own[i].GuestKind()
		f.Says, f.Evidence, f.Steps = sentence(kind, f.Reason), inWords(kind, f.Evidence), stepsInWords(kind, f.Steps)
	}
	return &Findings{Findings: own, Counts: append([]finding.Count{}, finding.Counts(fs)...),
		Total: len(fs), Exit: finding.Exit(fs), Notes: append([]string{}, notes...), Action: "apply"}
}

// Print writes the report in one of the formats text, json, junit, github and
// markdown.
func (r *Findings) Print(w io.Writer, o Options) error {
	safe := clean(*r)
	var out bytes.Buffer
	switch o.Format {
	case "text", "":
		safe.text(&out, o)
		return write(w, out.String())
	case "markdown":
		safe.markdown(&out, o)
		return write(w, out.String())
	case "json":
		if err := writeJSON(&out, safe); err != nil {
			return err
		}
	case "junit":
		if err := safe.junit(&out); err != nil {
			return err
		}
	case "github":
		safe.github(&out)
	default:
		return fmt.Errorf("unknown format %q: choose text, json, junit, github or markdown", o.Format)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// answer is the first line: whether to go on, and whether changes were looked at.
func (r *Findings) answer() string {
	switch {
	case len(r.Unplanned) > 0:
		return r.verdict() + "; what an apply changes was not looked at"
	case len(r.Blocked) > 0:
		return r.verdict() + "; what else an apply changes in " + strings.Join(r.Blocked, ", ") + " is not known before that"
	}
	return r.verdict()
}

// verdict says whether to go on.
func (r *Findings) verdict() string {
	if r.Answer != "" {
		return r.Answer
	}
	stops := 0
	for i := range r.Findings {
		if r.Findings[i].Stops() {
			stops++
		}
	}
	of := cmp.Or(r.About, r.Summary())
	if other := r.OtherCluster(); other != "" {
		return "blocked: " + other
	}
	switch r.Exit {
	case finding.Blocked:
		return fmt.Sprintf("blocked: fix %s before the %s (%s)", Count(stops, "finding"), r.Action, of)
	case finding.Failed:
		return fmt.Sprintf("unknown: %s could not be checked; do not %s (%s)", Count(stops, "finding"), r.Action, of)
	case finding.Outdated:
		return fmt.Sprintf("not ready: take the steps below, then %s (%s)", r.Action, of)
	}
	if change := r.Changed(); change != "" && r.Action == "apply" {
		return fmt.Sprintf("safe to apply; %s (%s)", change, of)
	}
	return fmt.Sprintf("safe to %s (%s)", r.Action, of)
}

// OtherCluster says which cluster was read and which one is recorded, if that is what
// blocks. It is empty otherwise.
func (r *Findings) OtherCluster() string {
	for _, f := range r.Findings {
		if f.Kind == finding.OtherCluster {
			return f.Says + ": " + strings.Join(evidence(&f)[:min(2, len(f.Evidence))], "; ")
		}
	}
	return ""
}

// notes are the notes, and with a refusal the cluster that it is about.
func (r *Findings) notes() []string {
	out := slices.Clone(r.Notes)
	for i := range r.Rollouts {
		out = append(out, r.Rollouts[i].text())
	}
	if r.Endpoint == "" || r.Exit == finding.OK {
		return out
	}
	return append(out, "the cluster was read at "+r.Endpoint)
}

// Changed says how many guests a plan would change, if any.
func (r *Findings) Changed() string {
	var changed []finding.Finding
	for _, f := range r.Findings {
		if !f.Stops() && len(f.Differs)+len(f.Updates) > 0 {
			changed = append(changed, f)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return "the plan will change " + Guests(changed).String() + ", listed below"
}

// Summary is how many findings there are of each kind.
func (r *Findings) Summary() string {
	var counts []string
	warnings := count(r.Findings, (*finding.Finding).Warns)
	for _, c := range r.Counts {
		if c.Kind == finding.CannotCreate {
			c.N -= warnings
		}
		if c.N > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", c.N, c.Kind))
		}
	}
	if warnings > 0 {
		counts = append(counts, Count(warnings, "warning"))
	}
	if len(counts) == 0 {
		return "nothing found"
	}
	return strings.Join(counts, ", ")
}

// Count is a number and what it counts.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *Findings) rows(verbose bool) []row {
	if r.Command == driftCommand {
		return changeRows(r.Findings, verbose)
	}
	return rows(r.Findings, verbose)
}

func (r *Findings) text(w io.Writer, o Options) {
	fmt.Fprintln(w, r.answer())
	writeRows(w, r.rows(o.Verbose), o)
	for _, n := range r.notes() {
		fmt.Fprintf(w, "note: %s\n", n)
	}
}

// github writes workflow commands: errors for what stops an apply, warnings for
// what is outdated.
func (r *Findings) github(w io.Writer) {
	_ = write(w, r.answer()+"\n")
	for _, row := range r.rows(false) {
		kind := "notice"
		switch {
		case row.severity == finding.Blocked || row.severity == finding.Failed:
			kind = "error"
		case row.severity == finding.Outdated || row.notable:
			kind = "warning"
		case row.kind == finding.Managed || row.kind == finding.Create:
			continue
		}
		place := ""
		if row.at != nil {
			place = fmt.Sprintf("file=%s,line=%d,col=%d,", property(row.at.File), row.at.Line, max(row.at.Column, 1))
		}
		fmt.Fprintf(w, "::%s %stitle=%s::%s\n", kind, place, property(string(row.kind)), data(row.prose()))
	}
}

// junit writes a test case for each finding; those that stop an apply have
// failed.
func (r *Findings) junit(w io.Writer) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Output  string   `xml:"system-out,omitempty"`
	}
	type testsuite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	suite := testsuite{Name: "stackgen " + cmp.Or(r.Command, "preflight"), Tests: len(r.Findings)}
	for i := range r.Findings {
		f := &r.Findings[i]
		row := newRow(f)
		row.steps = f.Steps
		c := testcase{Class: f.Stack + "." + string(f.Type), Name: string(f.Kind) + " " + row.about}
		if f.Severity == finding.OK {
			c.Output = row.prose()
		} else {
			suite.Failures++
			c.Failure = &failure{Message: string(f.Kind), Text: row.prose()}
		}
		suite.Cases = append(suite.Cases, c)
	}
	fmt.Fprint(w, xml.Header)
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}
