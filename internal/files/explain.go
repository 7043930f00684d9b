package files

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// explain says what failed for which path, why, and what to do. errors.Is still finds the cause; names of temporary files
// are not shown.
func explain(path, failed string, err error) error {
	cause := Cause(err)
	if advice := advise(cause); advice != "" {
		return fmt.Errorf("%s: %s: %w; %s", path, failed, cause, advice)
	}
	return fmt.Errorf("%s: %s: %w", path, failed, cause)
}

// advise says what to do about errors that a user can fix.
func advise(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room on the disk, " + again + ": no file was left incomplete"
	case errors.Is(err, syscall.EROFS):
		return "the file system is mounted read-only; make it writable or use another folder"
	case errors.Is(err, fs.ErrPermission):
		return "give yourself access to it and to its folder, " + again
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "shorten the names in the spec that lead to this path"
	}
	return ""
}
