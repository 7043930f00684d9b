package cmd

import (
	"github.com/urfave/cli/v2"

	"stackgen/internal/report"
	"stackgen/internal/session"
)

func (e *env) driftCommand() *cli.Command {
	return &cli.Command{
		Name:      "drift",
		Usage:     "explain every difference between specs and cluster",
		ArgsUsage: "[PATH...]",
		Description: "Plans all units, without a lock and without writing a state, or reads the plans\n" +
			"of --plan. For each attribute that an apply would change, or that was changed by\n" +
			"hand, it says what the cluster has, where the spec says something else, what an\n" +
			"apply does about it, and what to do. Exit codes: 0 no difference, 1 not\n" +
			"possible, 2 differences that are safe to apply, 3 blocked: do not apply.",
		Flags: e.judgeFlags(planFlag(),
			formatFlag("text", "json", "markdown", "sarif", "junit", "github")),
		OnUsageError: usageError,
		Action:       e.drift,
	}
}

func (e *env) drift(c *cli.Context) error {
	p, err := e.open(c.Args().Slice())
	if err != nil {
		return err
	}
	s := session.New(p, e.sources(c))
	d, err := s.Drift(c.Context)
	if err != nil {
		return err
	}
	r := report.NewDrift(d.Findings, d.Notes)
	r.Endpoint, r.Scope = s.Endpoint(), d.Scope
	options := e.options(e.out)
	options.Format = c.String("format")
	if err := r.Print(e.out, options); err != nil {
		return err
	}
	return exit(r.Exit)
}
