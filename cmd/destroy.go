package cmd

import (
	"errors"

	"github.com/urfave/cli/v2"

	"stackgen/internal/deploy"
)

func (e *env) destroyCommand() *cli.Command {
	return &cli.Command{
		Name:      "destroy",
		Usage:     "destroy everything that stacks have made, after their names were typed",
		ArgsUsage: "[PATH...]",
		Description: "Names every VM, pool and record in the states of the stacks and asks for the\n" +
			"name of each stack. Records are destroyed first, then the VMs, then the pool.\n" +
			"A stack with a protected VM is refused before anything is gone. The lock keeps\n" +
			"the decisions: an apply creates the same VMs again. To destroy single VMs, retire\n" +
			"them in the spec. Exit codes: 0 done, 1 failed, interrupted or not confirmed, 3\n" +
			"blocked: fix the findings first.",
		Flags: []cli.Flag{
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
	p, err := e.open(q.Paths)
	if err != nil {
		return err
	}
	code, err := deploy.Destroy(c.Context, p, q)
	if err != nil {
		return err
	}
	return exit(code)
}
