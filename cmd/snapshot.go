package cmd

import (
	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
	"stackgen/internal/project"
	"stackgen/internal/report"
)

func (e *env) snapshotCommand() *cli.Command {
	return &cli.Command{
		Name:      "snapshot",
		Usage:     "read the cluster into a file that replaces it for other commands",
		ArgsUsage: "[PATH...]",
		Description: "Reads nodes, guests, pools, storages, tasks and the DNS names of the specs\n" +
			"once, and writes them as JSON (docs/inventory.md) to stdout or to --out.\n" +
			"Commands that read the cluster take the file as --inventory. Nothing is\n" +
			"changed and no secret is written. How the cluster is reached comes from the\n" +
			"PROXMOX_VE_ variables that the provider reads, and from proxmox: in the\n" +
			"specs. Exit codes: 0 done, 1 not possible.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "write to `FILE`, in one step", Action: notEmpty("out", "a file")},
			&cli.BoolFlag{Name: "all", Usage: "read every VM and container in full, also those in no spec: discover needs them"},
			formatFlag("json", "text"),
			inventoryFlag(),
		},
		OnUsageError: usageError,
		Action:       e.snapshot,
	}
}

func (e *env) snapshot(c *cli.Context) error {
	out := c.String("out")
	p, err := project.Load(c.Args().Slice(), "")
	if err != nil {
		return err
	}
	if p.Stacks == nil {
		return &project.BlockedError{Project: p}
	}
	from := e.sources(c)
	if c.Bool("all") {
		from.Further = check.EveryGuest
	}
	inv, err := check.ReadCluster(c.Context, p, from)
	if err != nil {
		return err
	}
	body, err := inv.Encode()
	if err != nil {
		return err
	}
	if out != "" {
		if err := check.WriteSnapshot(out, body); err != nil {
			return err
		}
		_ = report.Printf(e.errOut, "wrote %s\n", out)
	}
	switch {
	case c.String("format") == "text":
		return report.Inventory(e.out, inv)
	case out == "":
		err = report.JSON(e.out, body)
	}
	return err
}
