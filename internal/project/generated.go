package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stackgen/generator"
	"stackgen/internal/files"
	"stackgen/internal/lock"
)

const (
	// GeneratedDir is the folder that Terragrunt makes in a stack, and that Git ignores.
	GeneratedDir = ".terragrunt-stack"

	// unstored is where OpenTofu writes a state that it could not store.
	unstored = "errored.tfstate"

	// maxInitialized bounds what init records in a root module.
	maxInitialized = 1 << 20
)

// RemoveStale removes the folders of units that Terragrunt keeps from earlier runs, and
// would run again: those of units that the stack does not have any more, which the guard
// refuses when all else is applied, and those that were initialized with another backend,
// which OpenTofu refuses. Terragrunt generates the others again.
func (p *Project) RemoveStale(stack string) error {
	dir := filepath.Join(p.StackDir(stack), GeneratedDir)
	folders, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // nothing was generated
	}
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return err
	}
	l := p.Lock.Stacks.Get(stack)
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		found, err := look(l, folder.Name(), filepath.ToSlash(root), filepath.Join(dir, folder.Name()))
		if err == nil && found.stale {
			err = found.remove()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RemoveLeft removes what Terragrunt generated in stacks that the project does not have
// any more: they have no stack file.
func (p *Project) RemoveLeft() error {
	folders, err := os.ReadDir(filepath.Join(p.Root, "stacks"))
	if err != nil {
		return nil //nolint:nilerr // nothing was rendered
	}
	for _, folder := range folders {
		dir := filepath.Join(p.StackDir(folder.Name()), GeneratedDir)
		_, err := os.Lstat(filepath.Join(p.StackDir(folder.Name()), generator.StackFile))
		if !folder.IsDir() || !errors.Is(err, fs.ErrNotExist) || p.Specs[folder.Name()] != "" {
			continue
		}
		found, err := look(nil, "", "", dir)
		if found.state != "" {
			continue // stackgen keeps no state there: the stack was written by hand, and its files are on another branch, say
		}
		if err == nil {
			err = found.remove()
		}
		if err != nil {
			return err
		}
		_ = os.Remove(p.StackDir(folder.Name())) // other files may be there
	}
	return nil
}

// A leftover is a folder that Terragrunt generated in an earlier run.
type leftover struct {
	dir      string
	stale    bool
	unstored string // the file of a state that no backend has, or nothing
	state    string // the file of another state, or nothing
}

// look looks at the folder of a unit of a stack, whose lock is l, of the project in the
// folder root. Without a stack or unit the folder is stale.
func look(l *lock.Stack, unit, root, dir string) (leftover, error) {
	found := leftover{dir: dir, stale: true}
	if l != nil {
		u := l.Units.Get(unit)
		found.stale = u == nil || u.Status == lock.Forgotten
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read, Terragrunt says itself
		case d.IsDir() && d.Name() == "providers":
			return fs.SkipDir
		case d.Name() == unstored:
			found.unstored = path
		case strings.HasSuffix(d.Name(), ".tfstate") && filepath.Base(filepath.Dir(path)) != ".terraform":
			found.state = path
		case !found.stale && d.Name() == "terraform.tfstate" && filepath.Base(filepath.Dir(path)) == ".terraform":
			if body, err := files.Read(path, maxInitialized); err == nil { // else, the same
				found.stale = generator.NeedsInit(l, unit, root, body)
			}
		}
		return nil
	})
	return found, err
}

// remove removes the folder, unless the only copy of a state is in it.
func (f *leftover) remove() error {
	if f.unstored != "" {
		return fmt.Errorf("OpenTofu could not store a state, and left it in %s: "+
			"store it with `tofu state push`, or move it away, then run the same command again", f.unstored)
	}
	if f.state != "" {
		return fmt.Errorf("%s is a state that stackgen did not put there, and its folder is removed before an apply: "+
			"move it away, then run the same command again", f.state)
	}
	if err := os.RemoveAll(f.dir); err != nil {
		return fmt.Errorf("cannot remove what Terragrunt generated from an earlier render: %w", err)
	}
	return nil
}
