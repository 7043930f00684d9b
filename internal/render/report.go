package render

import (
	"path/filepath"

	"stackgen/internal/files"
	"stackgen/internal/report"
)

// Report is what Write did, or with check would do. diff adds the diff of every
// file.
func (r *Rendering) Report(check, diff bool) *report.Render {
	p := r.Project
	out := &report.Render{Root: p.Root, Problems: p.Problems, Sources: p.Sources, Refusals: p.Refusals, Check: check}
	if r.Rejected != nil {
		return out
	}
	out.Notes, out.Files, out.Blocked = p.Notes, r.Files, r.Blocked()
	changes := r.Changes
	if out.Blocked && !check {
		changes = refused(changes)
	}
	out.Changes = Changes(changes, check, diff)
	for _, c := range changes {
		if c.Kind == files.Created || c.Kind == files.Changed {
			out.Written++
		}
	}
	for _, s := range p.SelectedStacks() {
		out.Stacks = append(out.Stacks, s.Name)
		for _, v := range s.VMs {
			if v.IsContainer() {
				out.Containers++
			} else {
				out.VMs++
			}
		}
		if spec := p.Specs[s.Name]; filepath.IsLocal(spec) { // else another project would be found by it
			out.Specs = append(out.Specs, spec)
		}
	}
	if len(out.Stacks) == len(p.Stacks.Stacks) || len(out.Specs) < len(out.Stacks) {
		out.Specs = nil
	}
	return out
}

// Changes are changes of files as they are reported. With check, they were not
// made.
func Changes(changes []files.Change, check, diff bool) []report.Change {
	words := map[files.Kind]string{files.Created: "missing", files.Changed: "changed", files.Removed: "stale", files.Refused: "refused"}
	var out []report.Change
	for _, c := range changes {
		r := report.Change{Path: c.Path, Word: string(c.Kind), Reason: c.Reason}
		if check {
			r.Word = words[c.Kind]
		}
		if diff {
			r.Diff = files.Diff(c)
		}
		out = append(out, r)
	}
	return out
}
