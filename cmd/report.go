package cmd

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/disk"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// problems prints problems and refusals and ends the command.
func (r *rendering) problems(code exitCode) error {
	w := r.errOut
	if r.format != "text" {
		w = r.out
	}
	err := error(nil)
	if r.format == "json" {
		err = writeJSON(w, struct {
			problemReport
			Refusals []lock.Refusal `json:"refusals"`
		}{newProblemReport(r.project.Problems), append([]lock.Refusal{}, r.project.Refusals...)})
	} else {
		err = printProblems(w, r.format, r.project.Problems, r.project.Sources, color(w))
	}
	if err != nil {
		return err
	}
	if len(r.project.Refusals) > 0 {
		printRefusals(r.errOut, r.project.Refusals)
		fmt.Fprintln(r.errOut, "Nothing was written.")
	}
	return code
}

// refused reports whether something that is not ours is in the way.
func (r *rendering) refused() bool {
	return slices.ContainsFunc(r.changes, func(c disk.Change) bool { return c.Kind == disk.Refused })
}

// report says what was done, or would be.
func (r *rendering) report(differs exitCode) error {
	code := exitCode(exitDone)
	if len(r.changes) > 0 {
		code = differs
	}
	if r.refused() {
		code = exitStop
	}
	if r.format == "json" {
		if err := r.reportJSON(); err != nil {
			return err
		}
	} else {
		w := r.errOut
		if r.format != "text" {
			w = r.out
		}
		if err := printProblems(w, r.format, r.project.Problems, r.project.Sources, color(w)); err != nil {
			return err
		}
		r.reportText()
	}
	if code == exitDone {
		return nil
	}
	return code
}

// words are what --check calls a change.
var words = map[disk.Kind]string{disk.Created: "missing", disk.Changed: "changed", disk.Removed: "stale", disk.Refused: "refused"}

func (r *rendering) reportText() {
	w := r.out
	if r.format != "text" {
		w = r.errOut
	}
	for _, c := range r.changes {
		word := string(c.Kind)
		if r.look {
			word = words[c.Kind]
		}
		line := word + " " + filepath.Join(r.project.Root, filepath.FromSlash(c.Path))
		if c.Reason != "" {
			line += ": " + c.Reason
		}
		fmt.Fprintln(w, line)
		if r.diff {
			fmt.Fprint(w, disk.Diff(c))
		}
	}
	for _, n := range r.project.Notes {
		fmt.Fprintln(r.errOut, "note: "+n)
	}
	switch {
	case r.look && len(r.changes) == 0:
		fmt.Fprintf(r.errOut, "%d files are as the specs say.\n", r.total)
	case r.refused():
		fmt.Fprintln(r.errOut, "Nothing was written.")
	case r.look:
		fmt.Fprintf(r.errOut, "%d of %d files differ; run `stackgen render`.\n", len(r.changes), r.total)
	default:
		r.next()
	}
}

// next says what was made and what to run now.
func (r *rendering) next() {
	vms := 0
	var names []string
	for _, s := range r.project.Stacks.Stacks {
		if r.project.Selected(s.Name) {
			vms += len(s.VMs)
			names = append(names, s.Name)
		}
	}
	of, removed, written := "", "", writes(r.changes)
	if len(names) > 0 {
		of = " (" + strings.Join(names, ", ") + ")"
	}
	if gone := len(r.changes) - written; gone > 0 {
		removed = fmt.Sprintf("%d removed, ", gone)
	}
	fmt.Fprintf(r.errOut, "Rendered %s, %s%s: %s written, %s%d unchanged.\n", counting(len(names), "stack"), counting(vms, "VM"),
		of, counting(written, "file"), removed, r.total-written)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(r.errOut, "Next:\n")
	for _, name := range names {
		fmt.Fprintf(r.errOut, "  (cd %s && terragrunt stack run plan)\n", schema.Word(filepath.Join(r.project.Root, "stacks", name)))
	}
}

func writes(changes []disk.Change) int {
	n := 0
	for _, c := range changes {
		if c.Kind == disk.Created || c.Kind == disk.Changed {
			n++
		}
	}
	return n
}

func counting(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *rendering) reportJSON() error {
	type change struct {
		Path   string `json:"path"`
		Kind   string `json:"kind"`
		Reason string `json:"reason,omitempty"`
		Diff   string `json:"diff,omitempty"`
	}
	out := struct {
		Files    int              `json:"files"`
		Changes  []change         `json:"changes"`
		Notes    []string         `json:"notes,omitempty"`
		Problems []schema.Problem `json:"problems"`
	}{Files: r.total, Changes: []change{}, Notes: r.project.Notes, Problems: newProblemReport(r.project.Problems).Problems}
	for _, c := range r.changes {
		j := change{Path: c.Path, Kind: string(c.Kind), Reason: c.Reason}
		if r.diff {
			j.Diff = disk.Diff(c)
		}
		out.Changes = append(out.Changes, j)
	}
	enc := json.NewEncoder(r.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
