package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveEmpty removes a folder, and those below it, if there is no file in them. It is no
// error if the folder does not exist.
func RemoveEmpty(dir string) error {
	if err := removeEmpty(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func removeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	left := 0
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			left++
			continue
		}
		if err := removeEmpty(path); err != nil {
			return err
		}
		if _, err := os.Lstat(path); err == nil {
			left++
		}
	}
	if left > 0 {
		return nil
	}
	return os.Remove(dir)
}
