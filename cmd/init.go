package cmd

import (
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

func (e *env) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "start a project",
		ArgsUsage: "[DIR]",
		Description: "Writes a starter project into DIR (the working directory without one): a\n" +
			"commented spec, stackgen.yaml for the settings of all specs, the JSON Schema\n" +
			"for editors, .gitignore and .pre-commit-config.yaml. Existing files are not changed.",
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return errors.New("init takes one folder; see `stackgen init --help`")
			}
			if c.NArg() == 1 && c.Args().First() == "" {
				return errors.New("init needs the name of a folder, or none")
			}
			dir := filepath.Clean(c.Args().First())
			files, err := project.Start(dir)
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
			command := "stackgen render"
			if dir != "." {
				command += " " + shell.Path(dir)
			}
			return report.Printf(e.errOut, "Next: edit %s, then run `%s`.\n", filepath.Join(dir, "specs", "example.yaml"), command)
		},
	}
}
