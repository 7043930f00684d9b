package cmd

import (
	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
	"stackgen/internal/report"
)

func (e *env) preflightCommand() *cli.Command {
	return &cli.Command{
		Name:      "preflight",
		Usage:     "check what an apply would do: one verdict for each VM, pool and record",
		ArgsUsage: "[PATH...]",
		Description: "Joins specs, lock, state and cluster, and with --plan also what a plan would\n" +
			"do. State is read from the units' backends unless --state or --plan gives it:\n" +
			"the output of `tofu show -json`, a state file, or a folder made by\n" +
			"--json-out-dir. Exit codes: 0 safe to apply, 1 not possible, 2 import files or\n" +
			"rendered files are missing or stale, 3 blocked: do not apply.",
		Flags: e.judgeFlags(
			planFlag(),
			&cli.BoolFlag{Name: "destroy", Usage: "check a destroy of whole stacks: it is blocked if one of their VMs is protected"},
			formatFlag("text", "json", "junit", "github", "markdown")),
		OnUsageError: usageError,
		Action:       e.preflight,
	}
}

func (e *env) preflight(c *cli.Context) error {
	p, err := e.open(c.Args().Slice())
	if err != nil {
		return err
	}
	s := check.New(p, e.sources(c))
	findings, err := s.Preflight(c.Context, c.Bool("destroy"))
	if err != nil {
		return err
	}
	r := report.NewFindings(findings, s.Notes(findings))
	r.Endpoint = s.Endpoint()
	if c.Bool("destroy") {
		r.Action = "destroy"
	}
	options := e.options(e.out)
	options.Format = c.String("format")
	if err := r.Print(e.out, options); err != nil {
		return err
	}
	return exit(r.Exit)
}
