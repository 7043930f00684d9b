package deploy

import (
	"context"
	"slices"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/project"
	"stackgen/internal/report"
)

// Leaving judges the Templates of an apply that leave after the selected stacks which are made from them.
// What refuses one of them is printed, before anything is done. The result is the exit code.
func Leaving(ctx context.Context, p *project.Project, q Request, templates []string) (finding.Severity, error) {
	from := check.Sources{Progress: func(text string) { _ = report.Printf(q.ErrOut, "%s\n", text) }}
	s := check.New(p, from)
	s.TemplatesLast = true
	now, err := s.Preflight(ctx, false, false)
	if err != nil {
		return finding.Failed, err
	}
	found := refusing(now.Findings, templates)
	if len(found) == 0 {
		return finding.OK, nil
	}
	out := report.NewFindings(found, s.Notes(found))
	out.Endpoint, out.Action = s.Endpoint(), "apply"
	if out.Exit != finding.Failed {
		out.Exit = finding.Blocked
	}
	return out.Exit, out.Print(q.Out, q.Options)
}

// refusing are the findings that refuse an apply of some stacks, except those that it waits for.
func refusing(found []finding.Finding, stacks []string) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool {
		waits := f.Kind == finding.Busy && (f.Type == finding.Unit || f.Type == finding.Image)
		return !f.Stops() || waits || !slices.Contains(stacks, f.Stack)
	})
}
