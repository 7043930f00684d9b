package test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tree returns the files of a folder by path, and the targets of links.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if !exists(root) {
		return out
	}
	check(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		check(t, err)
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			out[filepath.ToSlash(rel)] = "link to " + to
			return err
		}
		out[filepath.ToSlash(rel)] = string(read(t, path))
		return nil
	}))
	return out
}

// compare reports files that are missing, different or unexpected.
func compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		switch body, ok := got[path]; {
		case !ok:
			t.Errorf("%s is missing", path)
		case body != want[path]:
			t.Errorf("%s is\n%s\nwant\n%s", path, body, want[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[path]; !ok {
			t.Errorf("%s is unexpected", path)
		}
	}
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for path, body := range files {
		at := filepath.Join(root, filepath.FromSlash(path))
		check(t, os.MkdirAll(filepath.Dir(at), 0o777))
		check(t, os.WriteFile(at, []byte(body), 0o666))
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(file)
	check(t, err)
	return body
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	check(t, err)
	return resolved(t, abs)
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	out, err := filepath.EvalSymlinks(path)
	check(t, err)
	return out
}
