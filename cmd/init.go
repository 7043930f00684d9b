package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/shell"
	"stackgen/internal/starter"
)

func (e *env) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "start a project",
		ArgsUsage: "[DIR]",
		Description: "Writes a starter project into DIR (the working directory without one): a\n" +
			"commented spec, stackgen.yaml for the settings of all specs, the JSON Schema\n" +
			"for editors, .gitignore and .pre-commit-config.yaml. Existing files are not changed.\n" +
			"With PROXMOX_VE_ENDPOINT or --inventory, it reads that cluster once, and the spec\n" +
			"has a template, node, storage, bridge and VMIDs with which it can be applied there.",
		Flags:        []cli.Flag{inventoryFlag()},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return errors.New("init takes one folder; see `stackgen init --help`")
			}
			if c.NArg() == 1 && c.Args().First() == "" {
				return errors.New("init needs the name of a folder, or none")
			}
			return e.start(c, filepath.Clean(c.Args().First()))
		},
	}
}

// start writes the starter project into a folder.
func (e *env) start(c *cli.Context, dir string) error {
	example, err := e.example(c, dir)
	if err != nil {
		return err
	}
	var body []byte
	if example != nil {
		body = example.Body
	}
	files, err := project.Start(dir, body)
	for _, f := range files {
		if f.Kept {
			_ = report.Printf(e.out, "kept %s: it exists already\n", f.Path)
		} else {
			_ = report.Printf(e.out, "created %s\n", f.Path)
		}
	}
	if err != nil {
		return err
	}
	in := ""
	if dir != "." {
		in = " " + shell.Path(dir)
	}
	file := filepath.Join(dir, filepath.FromSlash(project.Example))
	if example == nil {
		return report.Printf(e.errOut, "Next: edit %s, then run `stackgen render%s`.\n", file, in)
	}
	for _, line := range example.Lines(file, in) {
		if err := report.Printf(e.errOut, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// example is the example for the cluster, or nil for the general one: no cluster is
// configured, or the project has an example already.
func (e *env) example(c *cli.Context, dir string) (*starter.Example, error) {
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(project.Example))); err == nil {
		return nil, nil
	}
	inventory, err := check.ReadForStart(c.Context, e.sources(c))
	if err == nil && inventory == nil {
		return nil, nil
	}
	var example *starter.Example
	if err == nil {
		var general []byte
		if general, err = project.GeneralExample(); err != nil {
			return nil, err
		}
		example, err = starter.New(inventory, general)
	}
	if err != nil && c.String("inventory") == "" {
		return nil, fmt.Errorf("%w\nnothing was written: the example is made for the cluster that PROXMOX_VE_ENDPOINT names. "+
			"Solve this, or start without a cluster:\n"+
			"  env -u PROXMOX_VE_ENDPOINT -u PM_VE_ENDPOINT stackgen init %s", err, shell.Path(dir))
	}
	return example, err
}
