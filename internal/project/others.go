package project

import (
	"os"
	"path/filepath"

	"stackgen/internal/files"
	"stackgen/internal/lock"
)

// maxNeighbors bounds the folders that are searched for locks, and maxOther such a lock in
// bytes.
const (
	maxNeighbors = 1000
	maxOther     = 64 << 20
)

// Others are the locks of other projects at hand: in the folders beside this project, in it
// and around it. A checkout of this project is none. What cannot be read is left out: a
// project cannot know the locks of others anyway.
func (p *Project) Others() []lock.Other {
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return nil
	}
	var out []lock.Other
	read := func(dir string) {
		if dir == root {
			return
		}
		file := filepath.Join(dir, lock.File)
		body, err := files.Read(file, maxOther)
		if err != nil {
			return
		}
		l, _ := lock.Read(file, body)
		if l == nil || p.Rendered != nil && l.Project != "" && l.Project == p.Rendered.Project {
			return
		}
		out = append(out, lock.Other{File: Relative(".", file), Lock: l})
	}
	for _, dir := range []string{root, filepath.Dir(root)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries[:min(len(entries), maxNeighbors)] {
			if e.IsDir() {
				read(filepath.Join(dir, e.Name()))
			}
		}
	}
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		read(dir)
		if dir == filepath.Dir(dir) {
			return out
		}
	}
}
