package files

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
)

const (
	leftBehind   = "left by a run that was killed"
	addedByHand  = "is not a generated file, but OpenTofu or Terragrunt would read it; move it away, " + again
	staleAltered = "is not needed any more, and was changed after it was generated; move it away, " + again
)

// searchStale searches the roots for stale files, and the roots, the folders of the wanted files and the root folder for
// temporary files of a killed run.
func (c *comparison) searchStale(files []File) {
	for _, root := range c.Roots {
		c.root(root)
	}
	c.leftovers(".")
	for _, f := range files {
		dir, _ := split(f.Path)
		c.leftovers(dir)
	}
}

// root searches one of the roots: a folder, or a single file.
func (c *comparison) root(p string) {
	if p == "." {
		c.walk(p)
		return
	}
	if err := checkPath(p); err != nil {
		c.fail(err)
		return
	}
	dir, name := split(p)
	folder, err := c.enter(dir, false)
	if c.absent(err) {
		return
	}
	info, err := folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.fail(explain(p, "cannot be examined", err))
	case info.IsDir():
		c.walk(p)
	default:
		c.entry(folder, p, name, info.Mode())
	}
}

// walk checks every file in a folder and below.
func (c *comparison) walk(dir string) {
	if c.listed[dir] {
		return
	}
	c.listed[dir] = true
	folder, err := c.enter(dir, false)
	if c.absent(err) {
		return
	}
	entries, err := list(folder)
	if err != nil {
		c.fail(explain(dir, "cannot be listed", err))
		return
	}
	var below []string
	for _, e := range entries {
		p := join(dir, e.Name())
		if e.IsDir() {
			if !c.skip(e.Name()) {
				below = append(below, p)
			}
			continue
		}
		c.entry(folder, p, e.Name(), e.Type())
	}
	for _, p := range below { // last, because walk moves the cursor
		c.walk(p)
	}
}

// entry checks whether one file is stale.
func (c *comparison) entry(folder *os.Root, p, name string, mode fs.FileMode) {
	switch {
	case c.wanted[p] || name == terraformLock:
		return
	case !mode.IsRegular():
		c.added(p, Theirs)
		return
	case isTemp(name):
		c.changes = append(c.changes, Change{Path: p, Kind: Removed, Reason: leftBehind})
		return
	}
	managed := c.Managed != nil && c.Marker != nil && c.Managed(p)
	if !managed && !c.reserved(p) {
		return
	}
	ours, err := readOurs(&c.buf, folder, name, c.Marker)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since it was listed
	case err != nil:
		c.fail(explain(p, "cannot be read", err))
	case !ours:
		c.added(p, Theirs)
	case managed:
		c.stale(p)
	default:
		c.added(p, c.owner(p, c.buf.Bytes()))
	}
}

// reserved reports whether only generated files may have a path.
func (c *comparison) reserved(p string) bool { return c.Reserved != nil && c.Reserved(p) }

// added refuses a file that is not ours at a path where only generated files may be.
func (c *comparison) added(p string, whose Owner) {
	switch {
	case whose == Ours || !c.reserved(p):
	case whose == Altered:
		c.changes = append(c.changes, Change{Path: p, Kind: Refused, Edited: true, Reason: altered})
	default:
		c.changes = append(c.changes, Change{Path: p, Kind: Refused, Reason: addedByHand})
	}
}

// stale adds the change for a marked file that is not wanted; its content is in the buffer.
func (c *comparison) stale(p string) {
	switch c.owner(p, c.buf.Bytes()) {
	case Ours:
		c.changes = append(c.changes, Change{Path: p, Kind: Removed, Old: bytes.Clone(c.buf.Bytes())})
	case Altered:
		c.changes = append(c.changes, Change{Path: p, Kind: Refused, Edited: true, Reason: staleAltered})
	case Theirs:
		c.added(p, Theirs)
	}
}

// leftovers finds temporary files of a killed run in a folder, but not below it.
func (c *comparison) leftovers(dir string) {
	if c.listed[dir] {
		return
	}
	c.listed[dir] = true
	folder, err := c.enter(dir, false)
	if c.absent(err) {
		return
	}
	entries, err := list(folder)
	if err != nil {
		c.fail(explain(dir, "cannot be listed", err))
		return
	}
	for _, e := range entries {
		if isTemp(e.Name()) {
			c.entry(folder, join(dir, e.Name()), e.Name(), e.Type())
		}
	}
}

// absent reports whether a folder could not be entered. A missing folder, a link or a file is no error: it contains no
// generated files.
func (c *comparison) absent(err error) bool {
	var blocked *blockedError
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &blocked) {
		c.fail(err)
	}
	return err != nil
}

// skip reports whether a folder of this name is never searched.
func (c *comparison) skip(name string) bool {
	switch name {
	case ".git", ".terraform", ".terragrunt-cache", ".terragrunt-stack":
		return true
	}
	return slices.Contains(c.SkipDirs, name)
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
