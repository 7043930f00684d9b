package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"stackgen/internal/finding"
)

// driftVersion is the version of the JSON form of Drift: it changes when a field gets
// another meaning or is removed, and not when one is added.
const driftVersion = 1

// driftCommand is the command whose findings are changes.
const driftCommand = "drift"

// Drift is what differs between specs, states and cluster, one finding for each change, and
// where that is. Its JSON keys are stable. Findings that a baseline knows are in the list of
// findings, and in no count.
type Drift struct {
	Findings
	Taken string `json:"taken,omitempty"` // when the cluster was read, RFC 3339
	finding.Scope
}

// NewDrift is a report of changes. Exit and the counts leave out what a baseline knows.
func NewDrift(fs []finding.Finding, notes []string) *Drift {
	r := &Drift{Findings: *NewFindings(fs, notes), Scope: finding.Scope{
		Units: []finding.ScopeUnit{}, Nodes: []finding.ScopeNode{}, VMs: []finding.ScopeVM{},
		Coverage: finding.Coverage{Unmanaged: []finding.Unmanaged{}, Steps: []finding.Step{}},
	}}
	for i := range r.Findings.Findings {
		f := &r.Findings.Findings[i]
		if f.Change != nil && f.Change.Sensitive {
			masked := *f.Change
			masked.Applied, masked.Real, masked.Spec, masked.Accept = "", "", "", ""
			f.Change = &masked
		}
	}
	fresh := r.differences()
	r.Command, r.Total, r.Exit, r.Counts = driftCommand, len(fresh), finding.Exit(fresh), counts(fresh)
	return r
}

// isKnown reports whether a baseline allows a change today.
func isKnown(f *finding.Finding) bool {
	return f.Change != nil && f.Change.Known != nil && !f.Change.Known.Expired
}

// fresh are the findings that no baseline knows.
func (r *Drift) fresh() []finding.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings.Findings), func(f finding.Finding) bool { return isKnown(&f) })
}

// differences are the fresh findings without those that are only read: no apply does
// anything about them.
func (r *Drift) differences() []finding.Finding {
	return slices.DeleteFunc(r.fresh(), func(f finding.Finding) bool { return f.Severity == finding.OK })
}

func count(fs []finding.Finding, is func(*finding.Finding) bool) int {
	n := 0
	for i := range fs {
		if is(&fs[i]) {
			n++
		}
	}
	return n
}

// Print writes the report in one of the formats text, json, markdown, sarif, junit, github
// and html.
func (r *Drift) Print(w io.Writer, o Options) error {
	safe := clean(*r)
	safe.Answer = safe.answer()
	shown := safe.Findings
	shown.Findings = safe.fresh()
	var out bytes.Buffer
	switch o.Format {
	case "text", "":
		safe.text(&out, o)
		return write(w, out.String())
	case "html":
		if err := safe.html(&out); err != nil {
			return err
		}
		return write(w, out.String())
	case "markdown":
		shown.Notes = slices.Concat(safe.known(), safe.covered(), safe.Notes)
		shown.markdown(&out, o)
	case "github":
		shown.github(&out)
	case "junit":
		if err := shown.junit(&out); err != nil {
			return err
		}
	case "json":
		if err := writeJSON(&out, document{driftVersion, safe.Answer, safe}); err != nil {
			return err
		}
	case "sarif":
		if err := writeJSON(&out, safe.sarif()); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown format %q: choose text, json, markdown, sarif, junit, github or html", o.Format)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// A document is the JSON form of Drift.
type document struct {
	Version int    `json:"version"`
	Answer  string `json:"answer"`
	Drift
}

func (r *Drift) text(w io.Writer, o Options) {
	fmt.Fprintln(w, r.Answer)
	writeRows(w, changeRows(r.fresh(), o.Verbose), o)
	for _, l := range slices.Concat(r.known(), r.covered()) {
		fmt.Fprintln(w, l)
	}
	for _, n := range r.notes() {
		fmt.Fprintf(w, "note: %s\n", n)
	}
}
