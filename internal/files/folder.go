package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// blockedError says that a path that must be a folder is a file or a link.
type blockedError struct{ reason string }

func (e *blockedError) Error() string { return e.reason }

// cursor keeps the folders from the root to the current one open. Each file then costs one short lookup, and no more
// folders are open than a path has elements.
type cursor struct {
	chain []place
	dir   string // the path of the last place
	// before is called before every change to the file system. Only tests set it.
	before func()
}

type place struct {
	name   string // one path element
	folder *os.Root
}

// openCursor opens the root folder, which may itself be a symbolic link. A missing one is fs.ErrNotExist.
func openCursor(root string) (*cursor, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, explain(root, "cannot be opened", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: is not a folder; name another one, or move it away", root)
	}
	folder, err := os.OpenRoot(root)
	if err != nil {
		return nil, explain(root, "cannot be opened", err)
	}
	return &cursor{chain: []place{{folder: folder}}, dir: "."}, nil
}

// close closes all folders.
func (c *cursor) close() {
	for _, p := range c.chain {
		closeRead(p.folder)
	}
	c.chain = nil
}

// closeRead closes a file or folder that was only read: an error loses no data.
func closeRead(c io.Closer) { _ = c.Close() }

// enter goes to a folder, and creates it and its parents if create is set. The folder is open until the next call. A
// missing folder is fs.ErrNotExist, a link or a file a *blockedError.
func (c *cursor) enter(dir string, create bool) (*os.Root, error) {
	if dir == c.dir {
		return c.last(), nil
	}
	var names []string
	if dir != "." {
		names = strings.Split(dir, "/")
	}
	depth := 0
	for depth < len(names) && depth+1 < len(c.chain) && c.chain[depth+1].name == names[depth] {
		depth++
	}
	for _, p := range c.chain[depth+1:] {
		closeRead(p.folder)
	}
	c.chain = c.chain[:depth+1]
	for ; depth < len(names); depth++ {
		folder, err := c.descend(strings.Join(names[:depth+1], "/"), names[depth], create)
		if err != nil {
			c.dir = "" // the chain ends at no known folder
			return nil, err
		}
		c.chain = append(c.chain, place{names[depth], folder})
	}
	c.dir = dir
	return c.last(), nil
}

func (c *cursor) last() *os.Root { return c.chain[len(c.chain)-1].folder }

// descend opens one folder below the last one; p is its whole path, for messages.
func (c *cursor) descend(p, name string, create bool) (*os.Root, error) {
	parent := c.last()
	info, err := parent.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		c.touch()
		if err := parent.Mkdir(name, 0o777); err != nil {
			return nil, explain(p, "cannot be created", err)
		}
		info, err = parent.Lstat(name)
	}
	if err != nil {
		return nil, explain(p, "cannot be opened", err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
	case mode&fs.ModeSymlink != 0:
		return nil, &blockedError{p + " is a symbolic link, and links are not followed; replace it by a folder, " + again}
	default:
		return nil, &blockedError{p + " is a file, and a folder is needed there; move it away, " + again}
	}
	folder, err := parent.OpenRoot(name)
	if err != nil {
		return nil, explain(p, "cannot be opened", err)
	}
	return folder, nil
}

// touch tells a test that the file system is about to change.
func (c *cursor) touch() {
	if c.before != nil {
		c.before()
	}
}

// list reads the entries of a folder, unsorted.
func list(folder *os.Root) ([]fs.DirEntry, error) {
	f, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer closeRead(f)
	return f.ReadDir(-1)
}

// split splits a path into its folder ("." for the root) and its name.
func split(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return ".", p
	}
	return p[:i], p[i+1:]
}
