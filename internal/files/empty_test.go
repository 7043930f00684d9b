package files

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRemoveEmpty keeps every file.
func TestRemoveEmpty(t *testing.T) {
	root := filepath.Join(t.TempDir(), "state")
	for _, dir := range []string{"a/b/c", "a/d", "e"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(root, "a", "d", "tofu.tfstate")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveEmpty(root); err != nil {
		t.Fatal(err)
	}
	if !there(file) || there(filepath.Join(root, "a", "b")) || there(filepath.Join(root, "e")) {
		t.Error("not exactly the empty folders are gone")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := RemoveEmpty(root); err != nil || there(root) {
		t.Errorf("an empty folder stays: %v", err)
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
