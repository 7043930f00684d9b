package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// blockedError says that something else stands where a folder is needed.
type blockedError struct{ reason string }

func (e *blockedError) Error() string { return e.reason }

// cursor holds open the folders from the root down to the one in use, so that each file costs one short look-up and no
// more folders are open at a time than a path is deep.
type cursor struct {
	chain []place
	dir   string // the path of the last place
	// before is called ahead of every change to the file system. Only tests set it.
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

// close lets go of all folders.
func (c *cursor) close() {
	for _, p := range c.chain {
		p.folder.Close() // read-only handles: nothing can be lost here
	}
	c.chain = nil
}

// enter goes to a folder, making it and its parents with make. The folder is open until the next call. A missing folder
// is fs.ErrNotExist, a link or file in its place a *blockedError.
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
		p.folder.Close()
	}
	c.chain = c.chain[:depth+1]
	for ; depth < len(names); depth++ {
		folder, err := c.descend(strings.Join(names[:depth+1], "/"), names[depth], create)
		if err != nil {
			c.dir = "" // an unfinished walk is nobody's folder
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
			return nil, explain(p, "cannot be made", err)
		}
		info, err = parent.Lstat(name)
	}
	if err != nil {
		return nil, explain(p, "cannot be opened", err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
	case mode&fs.ModeSymlink != 0:
		return nil, &blockedError{p + " is a symbolic link, and links are not followed; put a real folder in its place, " + again}
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

// list reads the entries of a folder, in no order.
func list(folder *os.Root) ([]fs.DirEntry, error) {
	f, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// split parts a path into its folder ("." for the root) and its name.
func split(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return ".", p
	}
	return p[:i], p[i+1:]
}
