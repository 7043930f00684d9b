package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/lock"
)

// TestOthers: the locks beside a project, in it and around it are at hand. A clone of the
// project has the same id, and is no other one.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	for path, id := range map[string]string{"": "aaaa", "one": "bbbb", "one/in": "cccc", "beside": "dddd", "clone": "bbbb", "beside/deeper": "eeee", "one/in/deeper": "ffff"} {
		folder := filepath.Join(dir, filepath.FromSlash(path))
		body, err := (&lock.Lock{Version: lock.Version, Project: id + id + id + id}).Encode()
		if err == nil {
			err = os.MkdirAll(folder, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, lock.File), body, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "one"))
	var got []string
	for _, other := range (&Project{Root: ".", Rendered: &lock.Lock{Project: "bbbbbbbbbbbbbbbb"}}).Others() {
		if rel := filepath.ToSlash(other.File); !strings.HasPrefix(rel, "../../") { // of this machine
			got = append(got, rel)
		}
	}
	if want := "in/stackgen.lock.yaml ../beside/stackgen.lock.yaml ../stackgen.lock.yaml"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
