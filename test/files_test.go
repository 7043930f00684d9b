package test

import (
	"maps"
	"os"
	"slices"
	"testing"

	"stackgen/test/filetree"
)

// tree returns the files of a folder by path, and the targets of links.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out, err := filetree.Files(root)
	check(t, err)
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
	check(t, filetree.Write(root, files))
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
