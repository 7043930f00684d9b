package deploy

import (
	"errors"
	"os"
	"path/filepath"

	"stackgen/internal/files"
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
	return errors.Join(append(errs, files.RemoveEmpty(filepath.Join(r.p.Root, lock.StateDir)))...)
}
