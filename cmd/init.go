package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/disk"
	"stackgen/schema"
	"stackgen/templates"
)

func (e *env) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "start a project",
		ArgsUsage: "[DIR]",
		Description: "Writes a starter project into DIR (the working directory without one): a\n" +
			"commented spec, its JSON Schema for editors, .gitignore and\n" +
			".pre-commit-config.yaml. Files that exist are left as they are.",
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return fmt.Errorf("init takes one folder; see `stackgen init --help`")
			}
			if c.NArg() == 1 && c.Args().First() == "" {
				return fmt.Errorf("init needs the name of a folder, or none")
			}
			return e.initProject(filepath.Clean(c.Args().First()))
		},
	}
}

func (e *env) initProject(dir string) error {
	files, err := starter()
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("cannot make %s: %w", filepath.Dir(path), disk.Cause(err))
		}
		switch err := writeNew(path, f.body); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(e.out, "kept %s: it exists already\n", path)
		case err != nil:
			return fmt.Errorf("cannot write %s: %w", path, disk.Cause(err))
		default:
			fmt.Fprintf(e.out, "created %s\n", path)
		}
	}
	fmt.Fprintf(e.errOut, "Next: edit %s, then run `%s`.\n", filepath.Join(dir, "specs", "example.yaml"),
		strings.TrimSuffix("stackgen render "+dir, " ."))
	return nil
}

type starterFile struct {
	path string
	body []byte
}

// starter lists the files of a new project.
func starter() ([]starterFile, error) {
	body, err := schema.JSONSchema()
	if err != nil {
		return nil, err
	}
	files := []starterFile{{"stackgen.schema.json", body}}
	root, err := fs.Sub(templates.FS, "starter")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := fs.ReadFile(root, path)
		files = append(files, starterFile{path, src})
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
