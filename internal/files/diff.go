package files

import (
	udiff "github.com/aymanbagabas/go-udiff"
)

const devNull = "/dev/null"

// Diff shows a change as a unified diff with three lines of context, as patch -p1 and git apply take it: a/PATH against
// b/PATH, /dev/null for the side that does not exist. Refused changes and what a killed run left have none: "".
func Diff(c Change) string {
	from, to := "a/"+c.Path, "b/"+c.Path
	before, after := string(c.Old), string(c.New)
	switch c.Kind {
	case Refused:
		return ""
	case Created:
		from = devNull
	case Removed:
		to = devNull
	}
	diff, err := udiff.ToUnifiedDiff(from, to, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil {
		panic("disk: edits that do not fit the text they were made from: " + err.Error())
	}
	countLines(diff)
	return diff.String()
}

// countLines corrects where hunks start in the new file. The library, like the x/tools package it comes from, forgets the
// lines between two edits of one hunk: https://github.com/golang/go/issues/81453.
func countLines(diff udiff.UnifiedDiff) {
	grown := 0
	for _, h := range diff.Hunks {
		added, removed := 0, 0
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
		h.ToLine = h.FromLine + grown
		grown += added - removed
	}
}
