package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// headSize is how much of a file is read to see whose it is, in bytes.
const headSize = 4096

// maxGenerated bounds the files that are compared, in bytes. A stack of ten thousand VMs takes a tenth of it.
const maxGenerated = 256 << 20

// comparison is one run of Compare.
type comparison struct {
	*cursor
	Options
	wanted   map[string]bool
	listed   map[string]bool // folders whose entries were read
	buf      bytes.Buffer    // content of the last file read
	changes  []Change
	errs     []error
	reported map[string]bool // the messages of errs
}

// Compare finds the changes after which root has the wanted files and no stale ones. It writes nothing. The result is
// sorted by path, bytewise, and does not contain files that are as wanted. A root that does not exist counts as empty.
//
// A change is Refused, which is no error, when the path has a file without the mark, a link, a folder or a special file.
// Errors are invalid wanted files (two of one path, outside the root, without the mark), and files or folders that
// cannot be read; all of them are returned, joined.
func Compare(root string, want []File, o Options) ([]Change, error) {
	files, err := checkWanted(want, o)
	if err != nil {
		return nil, err
	}
	at, err := openCursor(root)
	if errors.Is(err, fs.ErrNotExist) {
		changes := make([]Change, len(files))
		for i, f := range files {
			changes[i] = created(f)
		}
		return changes, nil
	}
	if err != nil {
		return nil, err
	}
	defer at.close()
	c := &comparison{cursor: at, Options: o, wanted: make(map[string]bool, len(files)), listed: map[string]bool{},
		reported: map[string]bool{}}
	for _, f := range files {
		c.wanted[f.Path] = true
		c.file(f)
	}
	c.searchStale(files)
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	slices.SortFunc(c.changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	// Where roots overlap a file is found more than once.
	return slices.CompactFunc(c.changes, func(a, b Change) bool { return a.Path == b.Path }), nil
}

// checkWanted sorts the wanted files and refuses invalid paths and files that a later run would not recognise.
func checkWanted(want []File, o Options) ([]File, error) {
	files := slices.Clone(want)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	var errs []error
	for i, f := range files {
		_, name := split(f.Path)
		switch err := checkPath(f.Path); {
		case err != nil:
			errs = append(errs, err)
		case isTemp(name):
			errs = append(errs, fmt.Errorf("%s: the name is reserved for files that are being written", f.Path))
		case i > 0 && files[i-1].Path == f.Path:
			errs = append(errs, fmt.Errorf("%s: wanted twice", f.Path))
		case o.Marker != nil && !o.Marker(firstLine(f.Body)):
			errs = append(errs, fmt.Errorf("%s: the first line does not mark the file as generated", f.Path))
		}
	}
	return files, errors.Join(errs...)
}

func created(f File) Change {
	return Change{Path: f.Path, Kind: Created, New: f.Body, Sync: f.Sync}
}

// file compares one wanted file.
func (c *comparison) file(f File) {
	dir, name := split(f.Path)
	folder, err := c.enter(dir, false)
	var blocked *blockedError
	if errors.As(err, &blocked) {
		c.refuse(f, blocked.reason)
		return
	}
	var info fs.FileInfo
	if err == nil {
		if info, err = folder.Lstat(name); err != nil {
			err = explain(f.Path, "cannot be examined", err)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.changes = append(c.changes, created(f))
		return
	case err != nil:
		c.fail(err)
		return
	}
	if reason := notRegular(info.Mode()); reason != "" {
		c.refuse(f, reason)
		return
	}
	c.content(f, folder, name, info.Size())
}

// content compares a wanted file with the regular file at its path.
func (c *comparison) content(f File, folder *os.Root, name string, size int64) {
	ours, marker := false, c.Marker
	if f.Whole && marker != nil {
		marker = func([]byte) bool { return true }
	}
	if marker != nil || size == int64(len(f.Body)) {
		var err error
		if ours, err = readOurs(&c.buf, folder, name, marker); err != nil {
			c.fail(explain(f.Path, "cannot be read", err))
			return
		}
		if sameLines(c.buf.Bytes(), f.Body) {
			return
		}
	}
	if !ours {
		c.refuse(f, foreign)
		return
	}
	switch c.owner(f.Path, c.buf.Bytes()) {
	case Theirs:
		c.refuse(f, foreign)
		return
	case Altered:
		c.refuse(f, altered)
		c.changes[len(c.changes)-1].Edited = true
		return
	}
	old := bytes.Clone(c.buf.Bytes())
	c.changes = append(c.changes, Change{Path: f.Path, Kind: Changed, Old: old, New: f.Body, Sync: f.Sync})
}

// sameLines reports whether a file on disk has the wanted content. Git may have written it with DOS line ends
// (core.autocrlf).
func sameLines(onDisk, want []byte) bool {
	if bytes.Equal(onDisk, want) {
		return true
	}
	return len(onDisk) > len(want) && !bytes.Contains(want, []byte("\r\n")) &&
		bytes.Equal(bytes.ReplaceAll(onDisk, []byte("\r\n"), []byte("\n")), want)
}

// fail records an error, once: a folder that cannot be opened fails for every file in it.
func (c *comparison) fail(err error) {
	if message := err.Error(); !c.reported[message] {
		c.reported[message] = true
		c.errs = append(c.errs, err)
	}
}

func (c *comparison) refuse(f File, reason string) {
	c.changes = append(c.changes, Change{Path: f.Path, Kind: Refused, New: f.Body, Sync: f.Sync, Reason: reason})
}

// notRegular says why something of this mode cannot be replaced, or "" for a regular file.
func notRegular(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link, and links are not followed; move it away, " + again
	case mode.IsDir():
		return "is a folder, and a file is wanted there; move it away, " + again
	}
	return "is not a regular file; move it away, " + again
}

// readOurs reads a file into buf and reports whether it has the mark. Without the mark, which means any content and size,
// only the beginning is read. Without a marker, all of it is read, and the result is false.
func readOurs(buf *bytes.Buffer, folder *os.Root, name string, marker func([]byte) bool) (bool, error) {
	buf.Reset()
	f, err := folder.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return false, err
	}
	defer closeRead(f)
	head := &io.LimitedReader{R: f, N: headSize}
	if _, err := buf.ReadFrom(head); err != nil {
		return false, err
	}
	ours := marker != nil && marker(firstLine(buf.Bytes()))
	if head.N > 0 || marker != nil && !ours {
		return ours, nil
	}
	rest := &io.LimitedReader{R: f, N: maxGenerated}
	if _, err = buf.ReadFrom(rest); err == nil && rest.N == 0 {
		err = tooLarge(maxGenerated)
	}
	return ours, err
}

// firstLine is the first line of a file without byte order mark and line end, as far as the head of a file reaches.
func firstLine(body []byte) []byte {
	body = bytes.TrimPrefix(body[:min(len(body), headSize)], []byte("\xef\xbb\xbf"))
	line, _, _ := bytes.Cut(body, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}
