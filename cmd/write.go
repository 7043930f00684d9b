package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// writePrivate writes a file that only its owner may read (mode 0600), beside its
// place and then in it, so that an interrupted run leaves the old one whole.
func writePrivate(file string, fill func(io.Writer) error) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".stackgen-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", file, cause(err))
	}
	err = errors.Join(fill(temp), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot write %s: %w", file, cause(err)), os.Remove(temp.Name()))
	}
	return nil
}
