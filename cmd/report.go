package cmd

import (
	"slices"

	"stackgen/internal/disk"
	"stackgen/internal/report"
)

// problems prints problems and refusals and ends the command.
func (r *rendering) problems(code exitCode) error {
	p := r.project
	found := report.Render{Root: p.Root, Problems: p.Problems, Sources: p.Sources, Refusals: p.Refusals}
	if err := found.Print(r.out, r.errOut, report.Options{Format: r.format, Color: color(r.errOut), Verbose: r.verbose}); err != nil {
		return err
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
	p := r.project
	done := report.Render{Root: p.Root, Problems: p.Problems, Sources: p.Sources, Files: r.total, Notes: p.Notes,
		Changes: reported(r.changes, r.look, r.diff), Written: writes(r.changes), Check: r.look, Blocked: r.refused()}
	for _, s := range p.SelectedStacks() {
		done.Stacks, done.VMs = append(done.Stacks, s.Name), done.VMs+len(s.VMs)
	}
	if err := done.Print(r.out, r.errOut, report.Options{Format: r.format, Color: color(r.errOut)}); err != nil {
		return err
	}
	if code == exitDone {
		return nil
	}
	return code
}

// words are what --check calls a change.
var words = map[disk.Kind]string{disk.Created: "missing", disk.Changed: "changed", disk.Removed: "stale", disk.Refused: "refused"}

// reported are changes as they are printed.
func reported(changes []disk.Change, check, diff bool) []report.Change {
	var out []report.Change
	for _, c := range changes {
		r := report.Change{Path: c.Path, Word: string(c.Kind), Reason: c.Reason}
		if check {
			r.Word = words[c.Kind]
		}
		if diff {
			r.Diff = disk.Diff(c)
		}
		out = append(out, r)
	}
	return out
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
