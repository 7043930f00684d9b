// Package filetree reads and writes the files of a folder, for tests.
package filetree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

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
