package project

import (
	"stackgen/generator"
	"stackgen/internal/files"
)

// Owner returns whose the files are that have the header of a rendered file. A file
// without a digest, or with one that does not fit, is ours only where a file is
// rendered: at the paths that wanted has and that the lock's stacks have.
func (p *Project) Owner(wanted func(path string) bool) func(path string, body []byte) files.Owner {
	return func(path string, body []byte) files.Owner {
		origin := generator.OriginOf(path, body)
		switch {
		case origin == generator.Rendered:
			return files.Ours
		case origin == generator.Foreign || !wanted(path) && !generator.KnownPath(path, p.Rendered, p.Lock):
			return files.Theirs
		case origin == generator.Edited:
			return files.Altered
		}
		return files.Ours
	}
}
