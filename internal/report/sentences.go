package report

import (
	"fmt"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
)

// sentence is a reason in words, of a finding about a guest of a kind. A code without a sentence, as tests have it,
// is its own one.
func sentence(kind guest.Kind, r finding.Reason) string {
	format, known := sentences[r.Code]
	if !known {
		format = strings.ReplaceAll(string(r.Code), "%", "%%")
	}
	format = strings.ReplaceAll(format, "{guest}", kind.Name())
	args := make([]any, 0, len(r.Args)+1)
	for _, a := range r.Args {
		args = append(args, a)
	}
	if r.About != nil {
		args = append(args, sentence(kind, *r.About))
	}
	text := fmt.Sprintf(format, args...)
	for _, more := range r.More {
		next := sentence(kind, more)
		if !strings.HasPrefix(next, ", ") {
			text += "; "
		}
		text += next
	}
	return text
}

// inWords is evidence in which each reason has its text.
func inWords(kind guest.Kind, of []finding.Evidence) []finding.Evidence {
	out := append([]finding.Evidence{}, of...)
	for i := range out {
		if r := out[i].Reason; r != nil {
			out[i].Text = sentence(kind, *r)
		}
	}
	return out
}

// stepsInWords are steps in which each reason is in words. What makes them need not know which comes first.
func stepsInWords(kind guest.Kind, of []finding.Step) []finding.Step {
	out := append([]finding.Step{}, of...)
	for i := range out {
		if s := &out[i]; s.Why != nil {
			s.What, s.Why = s.What+": "+sentence(kind, *s.Why), nil
		}
	}
	return finding.Alternatives(out)
}

// evidence are the texts of the evidence of a finding.
func evidence(f *finding.Finding) []string {
	var out []string
	for _, e := range f.Evidence {
		out = append(out, e.Text)
	}
	return out
}
