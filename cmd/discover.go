package cmd

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"stackgen/internal/adopt"
	"stackgen/internal/discover"
	"stackgen/internal/disk"
	"stackgen/internal/report"
)

func (e *env) discoverCommand() *cli.Command {
	return &cli.Command{
		Name:      "discover",
		Usage:     "write specs for VMs of the cluster that are in no spec",
		ArgsUsage: "[VMID...]",
		Description: "Reads the cluster, or a snapshot made with --all, and writes an entry for each\n" +
			"VM that is in no spec: into one stack per pool, else per tag, else into one more.\n" +
			"Shows the specs, and asks. The VMs are not changed, and the first plan imports\n" +
			"them and changes nothing. docs/discover.md has the details. Exit codes: 0 done,\n" +
			"or nothing to add; 1 not possible or not confirmed; 3 a VM needs you first.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "pool", Usage: "only VMs of the pool `POOL`"},
			&cli.StringSliceFlag{Name: "tag", Usage: "only VMs with the tag `TAG`"},
			&cli.StringSliceFlag{Name: "node", Usage: "only VMs on the node `NODE`"},
			&cli.StringFlag{Name: "stack", Usage: "the stack `NAME` for VMs without a pool and a common tag", Action: notEmpty("stack", "a name")},
			&cli.BoolFlag{Name: "groups", Usage: "write equal VMs with numbered names as a group"},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask"},
			inventoryFlag(),
			e.verboseFlag(),
			formatFlag("text", "json"),
		},
		OnUsageError: usageError,
		Action:       e.discover,
	}
}

func (e *env) discover(c *cli.Context) error {
	request := discover.Request{Pools: c.StringSlice("pool"), Tags: c.StringSlice("tag"), Nodes: c.StringSlice("node"), Stack: c.String("stack"), Groups: c.Bool("groups")}
	for _, arg := range c.Args().Slice() {
		vmid, err := strconv.Atoi(arg)
		if err != nil {
			return fmt.Errorf("%q is no VMID: discover takes VMIDs, and writes into the project of the working directory", arg)
		}
		request.VMIDs = append(request.VMIDs, vmid)
	}
	if c.String("format") == "json" && !c.Bool("yes") && terminal(e.in) {
		return errors.New("--format json asks no question: give --yes to write the specs")
	}
	d, err := adopt.Discover(c.Context, request, e.sources(c))
	if err != nil {
		return err
	}
	var changes []report.Change
	for _, change := range d.Changes {
		changes = append(changes, report.Change{Path: change.Path, Word: string(change.Kind), Diff: disk.Diff(change)})
	}
	r := report.NewDiscover(d.Proposal, changes, d.Inventory.Gaps)
	return e.reportDiscovery(c, d, r)
}

// reportDiscovery shows the specs, asks, and writes them.
func (e *env) reportDiscovery(c *cli.Context, d *adopt.Discovery, r *report.Discover) error {
	options := e.options(e.errOut)
	options.Format = c.String("format")
	yes := c.Bool("yes") || len(d.Changes) == 0
	if options.Format == "text" {
		if err := errors.Join(r.PrintSpecs(e.out), r.Print(e.errOut, options)); err != nil {
			return err
		}
		if !yes && terminal(e.in) {
			var err error
			if yes, err = e.confirm(c.Context, r.Question()); err != nil {
				return err
			}
		}
	}
	if yes {
		if err := d.Write(); err != nil {
			return err
		}
		r.Written = len(d.Changes) > 0
	}
	if options.Format == "json" {
		if err := r.Print(e.out, options); err != nil {
			return err
		}
	}
	if err := r.PrintEnd(e.errOut, yes, terminal(e.in)); err != nil {
		return err
	}
	return exit(r.Exit(yes))
}
