package project

import (
	"stackgen/generator"
	"stackgen/internal/disk"
)

// Owner returns whose the files are that have the header of a rendered file. A file
// without a digest, or with one that does not fit, is ours only where a file is
// rendered: at the paths that wanted has and that the lock's stacks have.
func (p *Project) Owner(wanted func(path string) bool) func(path string, body []byte) disk.Owner {
	return func(path string, body []byte) disk.Owner {
		origin := generator.OriginOf(path, body)
		switch {
		case origin == generator.Rendered:
			return disk.Ours
		case origin == generator.Foreign || !wanted(path) && !generator.KnownPath(path, p.Rendered, p.Lock):
			return disk.Theirs
		case origin == generator.Edited:
			return disk.Altered
		}
		return disk.Ours
	}
}
