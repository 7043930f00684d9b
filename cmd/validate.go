package cmd

import (
	"github.com/urfave/cli/v2"

	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/schema"
)

func problemsFormat() *cli.StringFlag {
	return &cli.StringFlag{Name: "format", Value: "text", Usage: "how problems are printed: text, json, sarif or github"}
}

func (e *env) validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check specs",
		ArgsUsage: "[PATH...]",
		Description: "Checks specs against the schema, against one another and against the lock,\n" +
			"and reports every problem in one run. PATH is a spec or a folder; without\n" +
			"one, the project here. Exit codes: 0 no errors, 1 errors, 3 something in\n" +
			"the lock is no longer in the specs.",
		Flags:        []cli.Flag{problemsFormat(), e.verboseFlag()},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			format := c.String("format")
			if err := oneOf("format", format, "text", "json", "sarif", "github"); err != nil {
				return err
			}
			p, err := project.Load(c.Args().Slice(), "")
			if err != nil {
				return err
			}
			if p.Empty() {
				return p.NoSpecs()
			}
			blocked := p.Decide(lock.Options{})
			if err := report.Problems(e.out, report.Options{Format: format, Color: color(e.out)}, p.Problems, p.Sources); err != nil {
				return err
			}
			switch {
			case schema.HasErrors(p.Problems):
				return exitCode(exitError)
			case blocked != nil:
				return e.printRefusals(e.errOut, p.Refusals)
			}
			return nil
		},
	}
}
