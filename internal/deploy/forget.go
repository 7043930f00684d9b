package deploy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"stackgen/internal/lock"
)

// forget removes what planning has made, if nothing was applied: the units that
// Terragrunt generated, unless they were there before, and empty folders for states.
func (r *run) forget() error {
	var errs []error
	for _, st := range r.stacks {
		if st.hold.made {
			errs = append(errs, os.RemoveAll(filepath.Join(st.dir, generated)))
		}
	}
	err := removeEmpty(filepath.Join(r.p.Root, lock.StateDir))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(append(errs, err)...)
}

// removeEmpty removes a folder if there is no file in it or below it.
func removeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	left := 0
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			left++
			continue
		}
		if err := removeEmpty(path); err != nil {
			return err
		}
		if _, err := os.Lstat(path); err == nil {
			left++
		}
	}
	if left > 0 {
		return nil
	}
	return os.Remove(dir)
}
