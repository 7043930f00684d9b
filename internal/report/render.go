package report

import (
	"fmt"
	"io"
	"path"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A Change is one file that was written or removed, or would be. Word is what
// was done with it.
type Change struct {
	Path   string `json:"path"`
	Word   string `json:"kind"`
	Reason string `json:"reason,omitempty"`
	Diff   string `json:"diff,omitempty"`
}

// Changes prints a line for each file of a folder, and its diff.
func Changes(w io.Writer, root string, changes []Change) error {
	for _, c := range changes {
		text := c.Word + " " + path.Join(root, c.Path)
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		if err := Printf(w, "%s\n", text); err != nil {
			return err
		}
		if err := Text(w, c.Diff); err != nil {
			return err
		}
	}
	return nil
}

// A Render is what a render did or found. Its JSON keys are stable.
type Render struct {
	Problems []schema.Problem  `json:"problems"`
	Errors   int               `json:"errors"`
	Warnings int               `json:"warnings"`
	Refusals []finding.Finding `json:"refusals"`
	Files    int               `json:"files"` // that the project has
	Changes  []Change          `json:"changes"`
	Notes    []string          `json:"notes,omitempty"`

	Root       string            `json:"-"`
	Sources    map[string][]byte `json:"-"` // of the problems
	Stacks     []string          `json:"-"` // that were rendered
	Specs      []string          `json:"-"` // of these stacks, relative to the root; empty if they are those of the whole project
	VMs        int               `json:"-"`
	Containers int               `json:"-"`
	Written    int               `json:"-"` // of the changes
	Check      bool              `json:"-"` // nothing is written
	Blocked    bool              `json:"-"` // a file in the way keeps everything from being written
}

// Print writes the report: results to out, and what a person reads to errOut,
// except for the formats that are for machines.
func (r *Render) Print(out, errOut io.Writer, o Options) error {
	if o.Format == "json" {
		return r.json(out)
	}
	problems, files := errOut, out
	if o.Format != "text" {
		problems, files = out, errOut
	}
	if err := Problems(problems, o, r.Problems, r.Sources); err != nil {
		return err
	}
	switch {
	case len(r.Refusals) > 0:
		found := NewFindings(r.Refusals, []string{"nothing was written"})
		found.Action, o.Format = "render", ""
		return found.Print(errOut, o)
	case schema.HasErrors(r.Problems):
		return nil
	}
	if err := Printf(errOut, "%s\n", r.answer()); err != nil {
		return err
	}
	if err := Changes(files, r.Root, r.Changes); err != nil {
		return err
	}
	for _, n := range r.Notes {
		if err := Printf(errOut, "note: %s\n", n); err != nil {
			return err
		}
	}
	return r.next(errOut)
}

func (r *Render) json(w io.Writer) error {
	safe := *r
	safe.Errors, safe.Warnings, _ = countProblems(r.Problems)
	safe.Problems = append([]schema.Problem{}, r.Problems...)
	safe.Refusals = NewFindings(r.Refusals, nil).Findings
	safe.Changes = append([]Change{}, r.Changes...)
	return writeJSON(w, clean(safe))
}

// answer is the first line: what was done, or has to be.
func (r *Render) answer() string {
	switch {
	case r.Blocked && r.Check:
		return "blocked: a file that stackgen did not write, or that was changed since, is in the way; a render would write nothing"
	case r.Blocked:
		return "blocked: a file that stackgen did not write, or that was changed since, is in the way; nothing was written"
	case r.Check && len(r.Changes) == 0:
		return fmt.Sprintf("up to date: %s", Count(r.Files, "file"))
	case r.Check:
		return fmt.Sprintf("out of date: %d of %s differ; run `stackgen render`", len(r.Changes), Count(r.Files, "file"))
	}
	of, removed := "", ""
	if len(r.Stacks) > 0 {
		of = " (" + strings.Join(r.Stacks, ", ") + ")"
	}
	if n := len(r.Changes) - r.Written; n > 0 {
		removed = fmt.Sprintf("%d removed, ", n)
	}
	return fmt.Sprintf("rendered %s, %s%s: %s written, %s%d unchanged", Count(len(r.Stacks), "stack"), guestsOf(r.VMs, r.Containers), of,
		Count(r.Written, "file"), removed, r.Files-r.Written)
}

// next says what to run now.
func (r *Render) next(w io.Writer) error {
	if r.Check || r.Blocked || len(r.Stacks) == 0 {
		return nil
	}
	line := "stackgen apply --dry-run"
	for _, spec := range r.Specs {
		line += " " + shell.Path(spec)
	}
	if root := path.Clean(r.Root); root != "." {
		line = shell.In(root, line)
	}
	return Text(w, "next:\n  "+line+"\n")
}
