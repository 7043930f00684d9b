package cmd

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackgen/internal/guard"
)

// print writes the report in one of the formats text, json, junit, github and
// markdown.
func (r *verdictReport) print(w io.Writer, format string, color bool) error {
	var out bytes.Buffer
	var err error
	switch format {
	case "json":
		err = writeJSON(&out, r)
	case "junit":
		err = r.junit(&out)
	case "github":
		r.github(&out)
	case "markdown":
		r.markdown(&out)
	default:
		r.text(&out, color)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// A verdictReport is the JSON form. Its keys are stable.
type verdictReport struct {
	Verdicts []guard.Verdict `json:"verdicts"`
	Counts   []guard.Count   `json:"counts"`
	Total    int             `json:"total"`
	Exit     int             `json:"exit"`
	Notes    []string        `json:"notes"`

	destroy bool
}

func newVerdictReport(found []guard.Verdict, notes []string) *verdictReport {
	var vs []guard.Verdict
	for _, v := range found {
		vs = append(vs, harmlessVerdict(v))
	}
	return &verdictReport{Verdicts: append([]guard.Verdict{}, vs...), Counts: append([]guard.Count{}, guard.Counts(vs)...),
		Total: len(vs), Exit: guard.Exit(vs), Notes: append([]string{}, notes...)}
}

// harmlessVerdict returns a verdict without secrets and control characters:
// names and errors in it come from elsewhere.
func harmlessVerdict(v guard.Verdict) guard.Verdict {
	v.Name, v.Key = visible(v.Name), visible(v.Key)
	evidence, next := v.Evidence, v.Next
	v.Evidence, v.Next = []string{}, next[:0:0]
	for _, e := range evidence {
		v.Evidence = append(v.Evidence, visibleLines(e))
	}
	for _, n := range next {
		lines := n.Lines
		n.What, n.Lines = visibleLines(n.What), []string{}
		for _, l := range lines {
			n.Lines = append(n.Lines, visibleLines(l))
		}
		v.Next = append(v.Next, n)
	}
	if v.Next == nil {
		v.Next = next
	}
	v.Differs = slices.Clone(v.Differs)
	for i := range v.Differs {
		d := &v.Differs[i]
		d.Config, d.Spec, d.Line, d.Reason = visibleLines(d.Config), visibleLines(d.Spec), visibleLines(d.Line), visibleLines(d.Reason)
	}
	return v
}

func (r *verdictReport) text(w io.Writer, color bool) {
	verdictRows(w, r.Verdicts, color)
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	fmt.Fprintln(w, r.total())
}

// summary is how many verdicts there are of each kind.
func (r *verdictReport) summary() string {
	if len(r.Verdicts) == 0 {
		return "Nothing to judge."
	}
	var parts []string
	for _, c := range r.Counts {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Word))
	}
	return fmt.Sprintf("%s: %s.", counting(len(r.Verdicts), "verdict"), strings.Join(parts, ", "))
}

// total is the line at the end: how many of what, and what it means.
func (r *verdictReport) total() string {
	vs, out := r.Verdicts, r.summary()
	stops := 0
	for i := range vs {
		if vs[i].Stop() {
			stops++
		}
	}
	switch r.Exit {
	case guard.ExitStop:
		return fmt.Sprintf("%s STOP: do not %s before what is marked STOP or FAIL is settled (%d).", out, r.verb(), stops)
	case guard.ExitError:
		return fmt.Sprintf("%s Do not %s: what is marked FAIL could not be found out.", out, r.verb())
	case guard.ExitDiffers:
		if guard.Exit(vs) == guard.ExitDone {
			return out + " Run `stackgen render`, then look again."
		}
		if r.destroy {
			return out + " Run `stackgen import-blocks` and apply, then destroy."
		}
		return out + " Run `stackgen import-blocks`, then apply."
	}
	if r.destroy {
		return out + " Nothing stops the destroy."
	}
	unlike := 0
	for i := range vs {
		if len(vs[i].Differs) > 0 {
			unlike++
		}
	}
	if unlike > 0 {
		return fmt.Sprintf("%s Apply now. Mind the first plan: it would change %s, as said above.", out, counting(unlike, "VM"))
	}
	return out + " Apply now."
}

// verb is what the person is about to do.
func (r *verdictReport) verb() string {
	if r.destroy {
		return "destroy"
	}
	return "apply"
}

// prose is a verdict's evidence and next steps as plain lines.
func prose(v *guard.Verdict) string {
	lines := append([]string{}, v.Evidence...)
	for _, n := range v.Next {
		lines = append(lines, "> "+n.What)
		for _, l := range n.Lines {
			lines = append(lines, "    "+l)
		}
	}
	return strings.Join(lines, "\n")
}

// github writes workflow commands: errors for what stops an apply,
// warnings for stale import files.
func (r *verdictReport) github(w io.Writer) {
	vs := r.Verdicts
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for i := range vs {
		v := &vs[i]
		kind := "notice"
		switch {
		case v.Stop():
			kind = "error"
		case v.Exit == guard.ExitDiffers || len(v.Differs) > 0:
			kind = "warning"
		case v.Word == guard.Managed || v.Word == guard.Create:
			continue
		}
		fmt.Fprintf(w, "::%s title=%s::%s\n", kind, strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(string(v.Word)),
			escape.Replace(about(v)+"\n"+prose(v)))
	}
	fmt.Fprintln(w, r.total())
}

func (r *verdictReport) markdown(w io.Writer) {
	vs := r.Verdicts
	cell := strings.NewReplacer("|", `\|`, "\n", "<br>", "<", "&lt;", ">", "&gt;")
	fmt.Fprintf(w, "| | verdict | what | evidence |\n|---|---|---|---|\n")
	for i := range vs {
		v := &vs[i]
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", label(v), v.Word, cell.Replace(about(v)), cell.Replace(strings.Join(v.Evidence, "; ")))
	}
	for i := range vs {
		v := &vs[i]
		if len(v.Next) == 0 || v.Exit == guard.ExitDone && len(v.Differs) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n**%s: %s**\n", v.Word, cell.Replace(about(v)))
		for _, n := range v.Next {
			fmt.Fprintf(w, "\n- %s\n", cell.Replace(n.What))
			if len(n.Lines) > 0 {
				fmt.Fprintf(w, "  ```\n  %s\n  ```\n", strings.Join(n.Lines, "\n  "))
			}
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "\n> %s\n", cell.Replace(n))
	}
	fmt.Fprintf(w, "\n%s\n", r.total())
}

// junit writes a test case for each verdict; those that stop an apply
// have failed.
func (r *verdictReport) junit(w io.Writer) error {
	vs := r.Verdicts
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
	suite := testsuite{Name: "stackgen preflight", Tests: len(vs)}
	for i := range vs {
		v := &vs[i]
		c := testcase{Class: v.Stack + "." + v.Kind, Name: string(v.Word) + " " + about(v)}
		if v.Exit == guard.ExitDone {
			c.Output = prose(v)
		} else {
			suite.Failures++
			c.Failure = &failure{Message: string(v.Word), Text: prose(v)}
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
