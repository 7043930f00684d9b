package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
)

// writer makes changes, one file at a time.
type writer struct {
	*cursor
	temps  int             // number of the last temporary file
	filled map[string]bool // folders that contain a written file
	buf    bytes.Buffer
}

// put writes one file under a temporary name in its folder and renames it.
func (w *writer) put(c Change) error {
	dir, name := split(c.Path)
	folder, err := w.enter(dir, true)
	if err != nil {
		return w.failed(c, "the folder cannot be used", err)
	}
	mode, done, err := w.check(c, folder, name)
	if err != nil {
		return err
	}
	if !done {
		temp, err := w.temp(folder, c.New, mode, c.Sync)
		if err != nil {
			return w.failed(c, "cannot be written", err)
		}
		w.touch()
		if err := folder.Rename(temp, name); err != nil {
			_ = folder.Remove(temp) // the first error is reported; the next Compare finds a file that remains
			return w.failed(c, "cannot be renamed", err)
		}
		if err := syncFolder(folder, c.Sync); err != nil {
			return w.failed(c, "cannot be made durable", err)
		}
	}
	for ; !w.filled[dir] && dir != "."; dir = path.Dir(dir) {
		w.filled[dir] = true
	}
	return nil
}

// remove deletes one file.
func (w *writer) remove(c Change) error {
	dir, name := split(c.Path)
	folder, err := w.enter(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return w.failed(c, "the folder cannot be used", err)
	}
	if _, done, err := w.check(c, folder, name); err != nil || done {
		return err
	}
	w.touch()
	if err := folder.Remove(name); err != nil {
		return w.failed(c, "cannot be removed", err)
	}
	return nil
}

// check repeats the comparison right before a change. It returns the mode of the existing file (0 for none) and whether
// nothing is left to do.
func (w *writer) check(c Change, folder *os.Root, name string) (mode fs.FileMode, done bool, err error) {
	info, err := folder.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if c.Kind == Changed {
			return 0, false, changedSince(c)
		}
		return 0, c.Kind == Removed, nil
	}
	if err != nil {
		return 0, false, w.failed(c, "cannot be examined", err)
	}
	mode = info.Mode()
	switch {
	case mode&fs.ModeSymlink != 0:
		return 0, false, fmt.Errorf("%s is a symbolic link, and links are not followed; replace it by the file that it leads to, %s",
			c.shown(), again)
	case !mode.IsRegular():
		return 0, false, changedSince(c)
	}
	if isTemp(name) {
		return mode, false, nil
	}
	if _, err := readOurs(&w.buf, folder, name, nil); err != nil {
		return 0, false, w.failed(c, "cannot be read", err)
	}
	switch {
	case c.Kind != Removed && bytes.Equal(w.buf.Bytes(), c.New):
		return mode, true, nil
	case c.Kind == Created || !bytes.Equal(w.buf.Bytes(), c.Old):
		return 0, false, changedSince(c)
	}
	return mode, false, nil
}

func changedSince(c Change) error {
	return fmt.Errorf("%s: another program changed it during this run, so it was not written; run the same command again", c.shown())
}

func (w *writer) failed(c Change, what string, err error) error {
	var blocked *blockedError
	if errors.As(err, &blocked) {
		return fmt.Errorf("%s: %w", c.shown(), err)
	}
	return explain(c.shown(), what, err)
}

// temp writes body to a new temporary file and returns its name. A mode of 0 means 0666 less the umask. After an error
// the file does not exist.
func (w *writer) temp(folder *os.Root, body []byte, mode fs.FileMode, sync bool) (string, error) {
	f, name, err := w.create(folder)
	if err != nil {
		return "", err
	}
	w.touch()
	_, err = f.Write(body)
	if err == nil && mode != 0 {
		err = keepMode(f, mode)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = folder.Remove(name) // the first error is reported
		return "", err
	}
	return name, nil
}

// create opens a new file with an unused name.
func (w *writer) create(folder *os.Root) (*os.File, string, error) {
	prefix := tempPrefix + strconv.Itoa(os.Getpid()) + "-"
	for {
		w.temps++
		name := prefix + strconv.Itoa(w.temps)
		w.touch()
		f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, name, err
		}
	}
}

// keepMode gives a new file the permissions of the one it replaces.
func keepMode(f *os.File, mode fs.FileMode) error {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm() == mode.Perm() {
		return err
	}
	return f.Chmod(mode.Perm())
}

// syncFolder makes a rename durable where the system can (Windows cannot open a folder for that).
func syncFolder(folder *os.Root, sync bool) error {
	if !sync || runtime.GOOS == "windows" {
		return nil
	}
	f, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer closeRead(f)
	return f.Sync()
}
