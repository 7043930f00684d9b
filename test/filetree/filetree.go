// Package filetree reads and writes the files of a folder, for tests.
package filetree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackgen/internal/project"
)

// NoProjectAbove fails if a project is in a folder above dir. A command looks for its project there:
// tests in a folder without one would find a project that somebody left, and fail for no reason of
// theirs.
func NoProjectAbove(dir string) error {
	home, err := project.Home(dir)
	if err == nil && filepath.Base(home) != filepath.Base(dir) {
		err = fmt.Errorf("a project is in %s, above the folders of the tests: move it, or set TMPDIR", home)
	}
	return err
}

// Files are the files below a folder by their path in it, with slashes, and the targets of links, as
// "link to TARGET". A folder that does not exist has none.
func Files(root string) (map[string]string, error) {
	out := map[string]string{}
	if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	return out, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			out[rel] = "link to " + to
			return err
		}
		body, err := os.ReadFile(path)
		out[rel] = string(body)
		return err
	})
}

// Write writes files by their path in a folder, with slashes.
func Write(root string, files map[string]string) error {
	for path, body := range files {
		at := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(body), 0o666); err != nil {
			return err
		}
	}
	return nil
}
