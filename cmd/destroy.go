package cmd

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/deploy"
	"stackgen/internal/shell"
)

func (e *env) destroyCommand() *cli.Command {
	return &cli.Command{
		Name:      "destroy",
		Usage:     "destroy stacks, or guests of them, after a name was typed",
		ArgsUsage: "[PATH... | STACK | STACK/KEY | STACK/GROUP...]",
		Description: "Names every guest, pool and record that would be destroyed, and asks for the name\n" +
			"of each stack, or for the key of the only guest. Records are destroyed first,\n" +
			"then the guests, then the pool. A protected one is refused before anything is\n" +
			"gone. With STACK/KEY, STACK/GROUP, --member or --students, only these and their\n" +
			"records are destroyed. The lock keeps the decisions: an apply creates the same\n" +
			"again, unless they are retired in the spec, as --member does. Exit codes: 0 done,\n" +
			"1 failed, interrupted or not confirmed, 3 blocked: fix the findings first.",
		Flags: []cli.Flag{
			memberFlag(),
			&cli.BoolFlag{Name: "students", Usage: "the VMs of all students of a class; the teacher's stays"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be destroyed, and destroy nothing"},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask"},
			progressFlag(),
			e.verboseFlag(),
		},
		OnUsageError: usageError,
		Action:       e.destroy,
	}
}

func (e *env) destroy(c *cli.Context) error {
	q, err := e.request(c, "destroy")
	if err := errors.Join(err, q.Check()); err != nil {
		return err
	}
	p, err := e.chosen(c, &q)
	if err != nil {
		return err
	}
	code, err := deploy.Destroy(c.Context, p, q)
	if err != nil {
		return err
	}
	return exit(code)
}

// partFlags are the flags of a command line that select a part of a stack, to be repeated.
func partFlags(c *cli.Context) string {
	var out strings.Builder
	for _, m := range c.StringSlice("member") {
		out.WriteString(" --member " + shell.Word(m))
	}
	if c.Bool("students") {
		out.WriteString(" --students")
	}
	return out.String()
}
