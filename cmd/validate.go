package cmd

import (
	"github.com/urfave/cli/v2"

	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/schema"
)

func (e *env) validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check specs",
		ArgsUsage: "[PATH...]",
		Description: "Checks specs against the schema, against one another and against the lock,\n" +
			"and reports every problem in one run. PATH is a spec or a folder; without\n" +
			"one, the project here. Exit codes: 0 no errors, 1 errors, 3 something in\n" +
			"the lock is no longer in the specs.",
		Flags:        []cli.Flag{e.verboseFlag(), formatFlag("text", "json", "sarif", "github")},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			p, err := project.Load(c.Args().Slice(), "")
			if err != nil {
				return err
			}
			if p.Empty() {
				return p.NoSpecs()
			}
			blocked := p.Decide(lock.Options{})
			options := e.options(e.out)
			options.Format = c.String("format")
			if err := report.Problems(e.out, options, p.Problems, p.Sources); err != nil {
				return err
			}
			if schema.HasErrors(p.Problems) {
				return exitCode(exitError)
			}
			if blocked != nil {
				return e.refused(e.errOut, p.Refusals)
			}
			return nil
		},
	}
}
