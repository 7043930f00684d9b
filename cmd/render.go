package cmd

import (
	"github.com/urfave/cli/v2"

	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/render"
)

func (e *env) renderCommand() *cli.Command {
	return &cli.Command{
		Name:      "render",
		Usage:     "write modules, units and stacks",
		ArgsUsage: "[PATH...]",
		Description: "Renders specs into OpenTofu modules and Terragrunt units and stacks, and\n" +
			"records every decision in " + lock.File + ". PATH is a spec or a folder;\n" +
			"without one, the project here. Hand-written files are never touched. Exit\n" +
			"codes: 0 done, 1 not possible, 2 --check or --diff found differences,\n" +
			"3 something in the lock is no longer in the specs, or a file was edited.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "make `DIR` a project of its own, with the specs that the paths name",
				Action: notEmpty("out", "a folder")},
			&cli.BoolFlag{Name: "check", Usage: "write nothing; list every file that is missing, stale, changed or refused"},
			&cli.BoolFlag{Name: "diff", Usage: "the same as --check, with a unified diff"},
			&cli.StringSliceFlag{Name: "state-moved", Usage: "you have moved the state of `STACK` to where its spec says"},
			&cli.StringSliceFlag{Name: "records-moved", Usage: "the records of `STACK` are in the units of its new dns.mode: drop the old units"},
			formatFlag("text", "json", "sarif", "github"),
			e.verboseFlag(),
		},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.Bool("check") || c.Bool("diff") {
				return e.render(c)
			}
			return e.locked(c, c.Args().Slice(), c.String("out"), e.render)
		},
	}
}

func (e *env) render(c *cli.Context) error {
	check := c.Bool("check") || c.Bool("diff")
	p, err := project.Load(c.Args().Slice(), c.String("out"))
	if err != nil {
		return err
	}
	id, err := project.NewID(e.random)
	if err != nil {
		return err
	}
	r, err := render.New(p, lock.Options{Project: id, StateMoved: c.StringSlice("state-moved"), RecordsMoved: c.StringSlice("records-moved")})
	if err != nil {
		return err
	}
	if !check {
		if err := r.Write(); err != nil {
			return err
		}
	}
	e.folder = p.Elsewhere()
	options := e.options(e.errOut)
	options.Format = c.String("format")
	if err := r.Report(check, c.Bool("diff")).Print(e.out, e.errOut, options); err != nil {
		return err
	}
	switch {
	case r.Rejected != nil && r.Rejected.Invalid():
		return exitCode(exitError)
	case r.Rejected != nil || r.Blocked():
		return exitCode(exitStop)
	case check && len(r.Changes) > 0:
		return exitCode(exitDiffers)
	}
	return nil
}
