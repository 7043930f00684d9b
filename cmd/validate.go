package cmd

import (
	"slices"

	"github.com/urfave/cli/v2"

	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/shell"
	"stackgen/schema"
)

func (e *env) validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check specs",
		ArgsUsage: "[PATH...]",
		Description: "Checks specs against the schema, against one another and against the lock,\n" +
			"and reports every problem in one run. PATH is a spec or a folder; without\n" +
			"one, the project here. What a spec leaves to the cluster is a note until\n" +
			"`stackgen resolve` has decided it. Exit codes: 0 no errors, 1 errors,\n" +
			"3 something in the lock is no longer in the specs.",
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
			blocked := p.Decide(lock.Options{Open: true})
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
			undecided := slices.ContainsFunc(p.Problems, func(p schema.Problem) bool { return p.Code == schema.CodeResolve })
			if undecided && options.Format == "text" {
				return report.Printf(e.out, "the specs are valid; next:\n  %s\n", shell.In(p.Elsewhere(), "stackgen resolve && stackgen render"))
			}
			return nil
		},
	}
}
