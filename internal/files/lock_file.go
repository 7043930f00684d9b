package files

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// lockFile is the path of the file that is locked where a folder cannot be: one for each root, in the temporary folder.
func lockFile(root string) (string, error) {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("stackgen-%x.lock", sha256.Sum256([]byte(resolved)))), nil
}
