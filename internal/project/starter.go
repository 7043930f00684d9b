package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackgen/internal/disk"
	"stackgen/schema"
	"stackgen/templates"
)

// A StarterFile is a file of a new project.
type StarterFile struct {
	Path string
	Kept bool // it existed, and was not changed
}

// GeneralExample is the example spec for no cluster in particular.
func GeneralExample() ([]byte, error) { return fs.ReadFile(templates.FS, "starter/"+Example) }

// Example is the path of the example spec in a new project.
const Example = "specs/example.yaml"

// Start writes a starter project into a folder, and returns the files up to the
// first error. It changes no file that exists. example replaces the general one, unless it
// is nil.
func Start(dir string, example []byte) ([]StarterFile, error) {
	bodies, err := starterBodies()
	if err != nil {
		return nil, err
	}
	for i := range bodies {
		if example != nil && bodies[i].path == Example {
			bodies[i].body = example
		}
	}
	var out []StarterFile
	for _, f := range bodies {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return out, fmt.Errorf("cannot make %s: %w", filepath.Dir(path), disk.Cause(err))
		}
		err := writeNew(path, f.body)
		exists := errors.Is(err, fs.ErrExist)
		if err != nil && !exists {
			return out, fmt.Errorf("cannot write %s: %w", path, disk.Cause(err))
		}
		out = append(out, StarterFile{path, exists})
	}
	return out, nil
}

type starterBody struct {
	path string
	body []byte
}

// starterBodies are the files of a new project.
func starterBodies() ([]starterBody, error) {
	body, err := schema.JSONSchema()
	if err != nil {
		return nil, err
	}
	files := []starterBody{{"stackgen.schema.json", body}}
	root, err := fs.Sub(templates.FS, "starter")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := fs.ReadFile(root, path)
		files = append(files, starterBody{path, src})
		return err
	})
	return files, err
}

// writeNew writes a file that does not exist yet.
func writeNew(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return errors.Join(err, f.Close())
}
