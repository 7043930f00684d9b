package guard

import (
	"stackgen/internal/finding"
	"stackgen/internal/shell"
)

// An AddedFile is a file that OpenTofu or Terragrunt reads as a part of a stack, and that
// stackgen did not write there.
type AddedFile struct {
	Path   string // from the project, with slashes
	Edited bool   // stackgen wrote it, and somebody changed it
}

// Added is the finding about such files: what they add to the units is in no spec, and no
// level of the guard judges it.
func Added(at finding.Address, files []AddedFile) finding.Finding {
	f := finding.Finding{Address: at, Kind: finding.Misled, Severity: finding.Blocked}
	f.Reason = finding.Why("added-file")
	var lines []string
	render := false
	for _, one := range files {
		what := "stackgen did not write it"
		if one.Edited {
			what = "it was changed after stackgen wrote it"
		}
		f.Because("%s: %s", one.Path, what)
		lines = append(lines, "mv "+shell.Path(one.Path)+" "+shell.Path(one.Path+".away"))
		render = render || one.Edited
	}
	what := "move it away, then run the same command again"
	if render {
		what, lines = "make the change in the spec, move the file away, and render it again", append(lines, "stackgen render")
	}
	f.Next(what, lines...)
	return f
}
