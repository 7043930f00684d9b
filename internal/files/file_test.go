package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	if err := os.WriteFile(file, make([]byte, 2<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if body, err := Read(file, 3<<20); err != nil || len(body) != 2<<20+1 {
		t.Errorf("below the limit: %d bytes, %v", len(body), err)
	}
	if _, err := Read(file, 2<<20); err == nil || err.Error() != "it is larger than 2 MiB" {
		t.Errorf("above the limit: %v", err)
	}
	if _, err := Read(dir, 1<<20); err == nil || err.Error() != "it is a folder" {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(os.DevNull, 1<<20); err == nil || err.Error() != "it is not a regular file" {
		t.Errorf("a device: %v", err)
	}
	if body, err := ReadGiven(os.DevNull, 1<<20); err != nil || len(body) != 0 {
		t.Errorf("a device that is named: %q, %v", body, err)
	}
	if _, err := ReadGiven("/dev/zero", 1<<20); runtime.GOOS == "linux" && (err == nil || err.Error() != "it is larger than 1 MiB") {
		t.Errorf("an endless device that is named: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none"), 1<<20); !errors.Is(err, fs.ErrNotExist) || err.Error() == "" {
		t.Errorf("a missing file: %v", err)
	}
}

func TestWritePrivateLeavesTheOldFileAfterAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a")
	fill := func(text string, failure error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, failure)
		}
	}
	if err := WritePrivate(file, fill("old", nil)); err != nil {
		t.Fatal(err)
	}
	if err := WritePrivate(file, fill("new", errors.New("full"))); err == nil {
		t.Error("the error of the writer is lost")
	}
	body, err := os.ReadFile(file)
	entries, _ := os.ReadDir(filepath.Dir(file))
	if err != nil || string(body) != "old" || len(entries) != 1 {
		t.Errorf("%q, %v, %d files", body, err, len(entries))
	}
}
