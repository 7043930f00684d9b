package disk

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// standIn is the path of the file that is locked where a folder cannot be: one for each root, in the temporary folder.
func standIn(root string) (string, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("stackgen-%x.lock", sha256.Sum256([]byte(real)))), nil
}
