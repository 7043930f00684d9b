package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Read reads one regular file of at most limit bytes, or a link to one. It never waits: a pipe or a device is an error, as
// are a folder and a larger file. No error wraps [fs.PathError]: the caller's message names the path.
func Read(file string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, Cause(err)
	}
	return readOpen(f, limit, false)
}

// ReadGiven is Read for a file that the command line names: it may also be a pipe, such as that of `<(command)`.
func ReadGiven(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, Cause(err)
	}
	return readOpen(f, limit, true)
}

// readOpen reads and closes a file.
func readOpen(f *os.File, limit int64, special bool) (body []byte, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, Cause(err)
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case !info.Mode().IsRegular() && !special:
		return nil, errors.New("it is not a regular file")
	case info.Mode().IsRegular() && info.Size() > limit:
		return nil, tooLarge(limit)
	}
	// A pipe has no size, and a file may grow while it is read.
	var read bytes.Buffer
	if info.Mode().IsRegular() {
		read.Grow(int(info.Size()) + bytes.MinRead) // it ends with a read of nothing
	}
	_, err = read.ReadFrom(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, Cause(err)
	case int64(read.Len()) > limit:
		return nil, tooLarge(limit)
	}
	return read.Bytes(), nil
}

func tooLarge(limit int64) error {
	return fmt.Errorf("it is larger than %d MiB", limit>>20)
}

// WritePrivate writes a file that only its owner can read (mode 0600). It writes a temporary file and renames it, so an
// interrupted run leaves the old file whole.
func WritePrivate(file string, fill func(io.Writer) error) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".stackgen-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", file, Cause(err))
	}
	err = errors.Join(fill(temp), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot write %s: %w", file, Cause(err)), os.Remove(temp.Name()))
	}
	return nil
}

// Cause is an error of the file system without the path, for messages that name the path themselves.
func Cause(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err
	case errors.As(err, &linkErr):
		return linkErr.Err
	}
	return err
}
