package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// explain says which path could not be treated how, why, and what to do. The cause stays within reach of errors.Is; the
// names of temporary files do not show.
func explain(path, failed string, err error) error {
	cause := Cause(err)
	if advice := advise(cause); advice != "" {
		return fmt.Errorf("%s: %s: %w; %s", path, failed, cause, advice)
	}
	return fmt.Errorf("%s: %s: %w", path, failed, cause)
}

// advise names the way out of the errors a user can do something about.
func advise(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room on the disk, " + again + ": no file was left half written"
	case errors.Is(err, syscall.EROFS):
		return "the file system is mounted read-only; make it writable or use another folder"
	case errors.Is(err, fs.ErrPermission):
		return "give yourself access to it and to the folder it lies in, " + again
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "shorten the names in the spec that lead to this path"
	}
	return ""
}
