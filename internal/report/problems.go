package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"stackgen/schema"
)

// Options say how something is printed.
type Options struct {
	Format  string // text unless given
	Color   bool   // for text
	Verbose bool   // for text and markdown: every finding with its evidence
	Folder  string // for text: the folder that the lines of the steps are for; empty if it is the working directory
}

// Problems prints problems in one of the formats text, json, sarif and github.
// Sources are the contents of their files, as far as they are known.
func Problems(w io.Writer, o Options, problems []schema.Problem, sources map[string][]byte) error {
	problems = schema.SortProblems(problems)
	var out bytes.Buffer
	switch o.Format {
	case "text", "":
		writeText(&out, problems, sources, o.Color)
		return write(w, out.String())
	case "json":
		if err := writeJSON(&out, newProblemReport(problems)); err != nil {
			return err
		}
	case "sarif":
		if err := writeJSON(&out, newSARIF(problems)); err != nil {
			return err
		}
	case "github":
		writeGitHub(&out, problems)
	default:
		return fmt.Errorf("unknown format %q: choose text, json, sarif or github", o.Format)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// A problemReport is the JSON form. Its keys are stable.
type problemReport struct {
	Problems []schema.Problem `json:"problems"`
	Errors   int              `json:"errors"`
	Warnings int              `json:"warnings"`
}

func newProblemReport(problems []schema.Problem) problemReport {
	r := problemReport{Problems: []schema.Problem{}}
	r.Errors, r.Warnings, _ = countProblems(problems)
	for _, p := range problems {
		r.Problems = append(r.Problems, cleanProblem(p))
	}
	return r
}

// cleanProblem is clean for a problem. Its message may quote a value of any size
// from a file.
func cleanProblem(p schema.Problem) schema.Problem {
	p = clean(p)
	if len(p.Message) > 1000 {
		p.Message = strings.ToValidUTF8(p.Message[:1000], "") + "..."
	}
	return p
}

func countProblems(problems []schema.Problem) (errors, warnings, notes int) {
	for _, p := range problems {
		switch p.Severity {
		case schema.SeverityError:
			errors++
		case schema.SeverityWarning:
			warnings++
		case schema.SeverityNote:
			notes++
		}
	}
	return errors, warnings, notes
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeGitHub writes workflow commands, which GitHub shows beside the line.
func writeGitHub(w io.Writer, problems []schema.Problem) {
	for _, p := range problems {
		p = cleanProblem(p)
		var properties []string
		if p.File != "" {
			properties = append(properties, "file="+property(p.File))
		}
		if p.Line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d,col=%d", p.Line, max(p.Col, 1)))
		}
		properties = append(properties, "title="+property(p.Code))
		command := string(p.Severity)
		if p.Severity == schema.SeverityNote {
			command = "notice"
		}
		fmt.Fprintf(w, "::%s %s::%s\n", command, strings.Join(properties, ","), data(withFix(p)))
	}
}

// data and property are text in a workflow command.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}

// withFix is the message for formats that have no place for the fix.
func withFix(p schema.Problem) string {
	if p.Fix == "" {
		return p.Message
	}
	return p.Message + "\nfix: " + p.Fix
}
