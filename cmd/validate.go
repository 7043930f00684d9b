package cmd

import (
	"github.com/urfave/cli/v2"

	"stackgen/internal/lock"
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
		Flags:        []cli.Flag{problemsFormat()},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			format := c.String("format")
			if err := oneOf("format", format, "text", "json", "sarif", "github"); err != nil {
				return err
			}
			p, err := load(c.Args().Slice(), "")
			if err != nil {
				return err
			}
			if p.empty() {
				return p.noSpecs()
			}
			var refusals []lock.Refusal
			if p.stacks != nil {
				result := p.decide(lock.Options{})
				refusals = result.Refusals
				p.problems = schema.SortProblems(append(p.problems, result.Problems...))
			}
			if err := printProblems(e.out, format, p.problems, p.sources, color(e.out)); err != nil {
				return err
			}
			if schema.HasErrors(p.problems) {
				return exitCode(exitError)
			}
			if len(refusals) > 0 {
				printRefusals(e.errOut, refusals)
				return exitCode(exitStop)
			}
			return nil
		},
	}
}

// decide makes the decisions of a project whose specs have no errors. words has
// what the person says besides.
func (p *project) decide(words lock.Options) lock.Result {
	words.Specs, words.Selected = p.specs, p.selected
	return lock.Decide(p.stacks, p.lock, words)
}
