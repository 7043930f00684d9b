package cmd

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"stackgen/internal/adopt"
	"stackgen/internal/check"
	"stackgen/internal/report"
)

func (e *env) driftCommand() *cli.Command {
	return &cli.Command{
		Name:      "drift",
		Usage:     "explain every difference between specs and cluster",
		ArgsUsage: "[PATH... | STACK...] [ADDRESS...]",
		Description: "Plans all units, without a lock and without writing a state, or reads the plans\n" +
			"of --plan. For each attribute that an apply would change, or that was changed by\n" +
			"hand, it says what the cluster has, where the spec says something else, what an\n" +
			"apply does about it, and what to do. Exit codes: 0 no difference, 1 not\n" +
			"possible, 2 differences that are safe to apply, 3 blocked: do not apply;\n" +
			"--fail-on changes which differences count. --accept writes what the cluster has\n" +
			"into the specs, comments kept, and shows the change as a diff: of all VMs and\n" +
			"containers that differ, or of those at ADDRESS: STACK/KEY, KEY, either with\n" +
			":PROPERTY, or a resource address. --baseline leaves out the differences that a file knows.",
		Flags: e.judgeFlags(planFlag(),
			&cli.BoolFlag{Name: "accept", Usage: "write what the cluster has into the specs; an argument that is no file or folder is an ADDRESS"},
			&cli.StringFlag{Name: "baseline", Usage: "leave out what `FILE` knows", Action: notEmpty("baseline", "a file")},
			&cli.BoolFlag{Name: "baseline-add", Usage: "add all differences to the file of --baseline"},
			&cli.StringFlag{Name: "reason", Usage: "the reason in the entries of --baseline-add: `TEXT`"},
			&cli.StringFlag{Name: "expires",
				Usage: "the last `DAY` of the entries of --baseline-add, such as 2026-12-31; 30 days from now if empty"},
			oneOf(&cli.StringFlag{Name: "fail-on", Value: "any",
				Usage: "exit with 2 or 3 for any difference, for what is blocked, or for none: any, blocked or none"},
				[]string{"any", "blocked", "none"}),
			&cli.StringFlag{Name: "html", Usage: "also write the report as one page into `FILE`", Action: notEmpty("html", "a file")},
			formatFlag("text", "json", "markdown", "sarif", "junit", "github")),
		OnUsageError: usageError,
		Action:       e.drift,
	}
}

func (e *env) drift(c *cli.Context) error {
	paths, addresses, err := driftArguments(c)
	if err != nil {
		return err
	}
	p, err := e.openStacks(c, paths)
	if err != nil {
		return err
	}
	s := check.New(p, e.sources(c))
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	d, err := s.Drift(ctx)
	if ctx.Err() != nil {
		return errors.New("interrupted; nothing was changed")
	}
	if err != nil {
		return err
	}
	if err := e.baseline(c, d); err != nil {
		return err
	}
	if c.Bool("accept") && !notRendered(d) {
		return e.acceptDrift(adopt.AcceptRequest{Paths: paths, Addresses: addresses, Session: s, Found: d.Findings})
	}
	r := report.NewDrift(d.Findings, d.Notes)
	r.Endpoint, r.Scope, r.Taken = s.Endpoint(), d.Scope, s.Taken()
	if file := c.String("html"); file != "" {
		write := func(w io.Writer) error { return r.Print(w, report.Options{Format: "html"}) }
		if err := check.WritePage(file, write); err != nil {
			return err
		}
	}
	options := e.options(e.out)
	options.Format = c.String("format")
	if err := r.Print(e.out, options); err != nil {
		return err
	}
	return exit(d.Exit(c.String("fail-on")))
}
