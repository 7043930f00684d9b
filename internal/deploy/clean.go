package deploy

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackgen/generator"
	"stackgen/internal/disk"
	"stackgen/internal/lock"
)

// maxInitialized bounds what init records in a root module.
const maxInitialized = 1 << 20

// clean removes the folders of units that Terragrunt keeps from earlier runs, and would run
// again: those of units that the stack does not have any more, which the guard refuses when
// all else is applied, and those that were initialized with another backend, which OpenTofu
// refuses. Terragrunt generates the others again.
func (r *run) clean(st *stack) error {
	l := r.p.Lock.Stacks.Get(st.name)
	root, err := filepath.Abs(r.p.Root)
	if err != nil {
		return err
	}
	folders, err := os.ReadDir(filepath.Join(st.dir, generated))
	if err != nil {
		return nil //nolint:nilerr // nothing was generated
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		unit, dir := folder.Name(), filepath.Join(st.dir, generated, folder.Name())
		u := l.Units.Get(unit)
		stale := u == nil || u.Status == lock.Forgotten
		if !stale {
			if stale, err = otherBackend(l, unit, filepath.ToSlash(root), dir); err != nil {
				return err
			}
		}
		if stale {
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("cannot remove what Terragrunt generated from an earlier render: %w", err)
			}
		}
	}
	return nil
}

// otherBackend reports whether a root module below the folder of a unit was initialized with
// another backend than the lock has for the project in the folder root.
func otherBackend(l *lock.Stack, unit, root, dir string) (other bool, err error) {
	err = filepath.WalkDir(filepath.Join(dir, ".terragrunt-cache"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "terraform.tfstate" || filepath.Base(filepath.Dir(path)) != ".terraform" {
			return nil //nolint:nilerr // what cannot be read, Terragrunt says itself
		}
		body, err := disk.Read(path, maxInitialized)
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		differs, err := generator.OtherBackend(l, unit, root, body)
		if other = err != nil || differs != ""; other {
			return fs.SkipAll
		}
		return nil
	})
	return other, err
}
