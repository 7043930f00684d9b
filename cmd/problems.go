package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"stackgen/schema"
)

// printProblems writes problems in one of the formats text, json, sarif and
// github. Sources are the files the problems stand in, as far as they are
// known; color is for text only. Nothing of a file reaches the output that a
// terminal obeys or that looks like a secret.
func printProblems(w io.Writer, format string, problems []schema.Problem, sources map[string][]byte, color bool) error {
	problems = schema.SortProblems(problems)
	var out bytes.Buffer
	switch format {
	case "text":
		writeText(&out, problems, sources, color)
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
		return fmt.Errorf("unknown format %q: choose text, json, sarif or github", format)
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
	r.Errors, r.Warnings = countProblems(problems)
	for _, p := range problems {
		r.Problems = append(r.Problems, harmless(p))
	}
	return r
}

func countProblems(problems []schema.Problem) (errors, warnings int) {
	for _, p := range problems {
		if p.Severity == schema.SeverityError {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeGitHub writes workflow commands, which GitHub shows beside the line.
func writeGitHub(w io.Writer, problems []schema.Problem) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range problems {
		p = harmless(p)
		var properties []string
		if p.File != "" {
			properties = append(properties, "file="+property.Replace(p.File))
		}
		if p.Line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d,col=%d", p.Line, max(p.Col, 1)))
		}
		properties = append(properties, "title="+property.Replace(p.Code))
		fmt.Fprintf(w, "::%s %s::%s\n", p.Severity, strings.Join(properties, ","), data.Replace(withFix(p)))
	}
}

// withFix is the message for formats that have no place for the fix.
func withFix(p schema.Problem) string {
	if p.Fix == "" {
		return p.Message
	}
	return p.Message + "\nfix: " + p.Fix
}

// harmless returns the problem without secrets and control characters.
func harmless(p schema.Problem) schema.Problem {
	p.File = visible(schema.Redact(p.File))
	p.Path = visible(schema.Redact(p.Path))
	p.Message = visibleLines(p.Message)
	p.Fix = visibleLines(p.Fix)
	return p
}

// visibleLines is visible for text that may have several lines.
func visibleLines(text string) string {
	lines := strings.Split(schema.Redact(text), "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.Join(lines, "\n")
}

// visible replaces what a terminal would obey instead of show, one character
// for one, so that columns stay. Tabs stay too.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
