package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stackgen/internal/files"
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
	return writeStarter(dir, bodies)
}

// StartSettings is Start without an example.
func StartSettings(dir string) ([]StarterFile, error) {
	bodies, err := settingsBodies()
	if err != nil {
		return nil, err
	}
	return writeStarter(dir, bodies)
}

// Missing are the files that StartSettings writes: those that do not exist.
func Missing(dir string) ([]string, error) {
	bodies, err := settingsBodies()
	var out []string
	for _, f := range bodies {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		if _, missing := os.Lstat(path); errors.Is(missing, fs.ErrNotExist) {
			out = append(out, path)
		}
	}
	return out, err
}

func settingsBodies() ([]starterBody, error) {
	bodies, err := starterBodies()
	return slices.DeleteFunc(bodies, func(f starterBody) bool { return f.path == Example }), err
}

func writeStarter(dir string, bodies []starterBody) ([]StarterFile, error) {
	var out []StarterFile
	for _, f := range bodies {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return out, fmt.Errorf("cannot make %s: %w", filepath.Dir(path), files.Cause(err))
		}
		err := writeNew(path, f.body)
		exists := errors.Is(err, fs.ErrExist)
		if err != nil && !exists {
			return out, fmt.Errorf("cannot write %s: %w", path, files.Cause(err))
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
