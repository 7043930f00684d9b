package cmd

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strconv"

	"github.com/urfave/cli/v2"

	"stackgen/internal/adopt"
	"stackgen/internal/cluster"
	"stackgen/internal/deploy"
	"stackgen/internal/discover"
	"stackgen/internal/files"
	"stackgen/internal/report"
)

func (e *env) discoverCommand() *cli.Command {
	return &cli.Command{
		Name:      "discover",
		Usage:     "write specs for VMs and containers of the cluster that are in no spec",
		ArgsUsage: "[VMID...]",
		Description: "Reads the cluster, or a snapshot made with --all, and writes an entry for each\n" +
			"VM and container that is in no spec: into one stack per pool, else per tag, else\n" +
			"into one more. Before that, it asks whether to write values that Proxmox VE uses\n" +
			"now into the configurations of these VMs, where an entry is missing; only `yes`\n" +
			"does. None is restarted or gets other hardware. Then it shows the specs, and asks.\n" +
			"The first plan imports them and changes nothing. docs/discover.md has the details.\n" +
			"Exit codes: 0 done, or nothing to add; 1 not possible, not confirmed, or not\n" +
			"written into all VMs; 3 a guest needs you first.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "pool", Usage: "only guests of the pool `POOL`"},
			&cli.StringSliceFlag{Name: "tag", Usage: "only guests with the tag `TAG`"},
			&cli.StringSliceFlag{Name: "node", Usage: "only guests on the node `NODE`"},
			&cli.StringFlag{Name: "stack", Usage: "the stack `NAME` for guests without pool and common tag", Action: notEmpty("stack", "a name")},
			&cli.BoolFlag{Name: "groups", Value: true,
				Usage: "write equal VMs with numbered names as a group; --groups=false writes an entry for each"},
			&cli.BoolFlag{Name: "specs-only", Usage: "write nothing into configurations of VMs, and do not ask for it"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be done, and change nothing"},
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
	request := discover.Request{
		Pools:  c.StringSlice("pool"),
		Tags:   c.StringSlice("tag"),
		Nodes:  c.StringSlice("node"),
		Stack:  c.String("stack"),
		Groups: c.Bool("groups"),
	}
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
	d, r, err := e.proposal(c, request)
	if err != nil {
		return err
	}
	if wanted := d.Defaults(); len(wanted) > 0 && c.String("inventory") == "" && !c.Bool("specs-only") && !c.Bool("dry-run") {
		written, err := e.writeDefaults(c, d, r)
		if err != nil {
			return err
		}
		if len(written) > 0 { // the specs say more now
			if d, r, err = e.proposal(c, request); err != nil {
				return err
			}
			r.Defaults = written
		}
	}
	return e.reportDiscovery(c, d, r)
}

// proposal reads the cluster, and is the specs that it needs.
func (e *env) proposal(c *cli.Context, request discover.Request) (*adopt.Discovery, *report.Discover, error) {
	d, err := adopt.Discover(c.Context, request, e.sources(c))
	if err != nil {
		return nil, nil, err
	}
	var changes []report.Change
	for _, change := range d.Changes {
		changes = append(changes, report.Change{Path: change.Path, Word: string(change.Kind), Diff: files.Diff(change)})
	}
	return d, report.NewDiscover(d.Proposal, changes, d.Start, d.Inventory.Gaps), nil
}

// writeDefaults shows what would be written into the configurations of VMs, asks, and writes
// it. Nothing is written if nobody can answer.
func (e *env) writeDefaults(c *cli.Context, d *adopt.Discovery, r *report.Discover) ([]cluster.Written, error) {
	text, yes := c.String("format") == "text", c.Bool("yes")
	if !yes && (!text || !terminal(e.in)) {
		return nil, nil
	}
	if text {
		if err := r.Print(e.errOut, e.options(e.errOut)); err != nil {
			return nil, err
		}
	}
	if !yes {
		answer, err := e.ask(c.Context, r.DefaultsQuestion())
		if err != nil {
			return nil, err
		}
		if answer != "yes" {
			return nil, report.Printf(e.errOut, "not confirmed; no configuration was changed\n")
		}
	}
	ctx, stop := signal.NotifyContext(c.Context, deploy.Ends()...)
	defer stop()
	var failed error
	err := d.WriteDefaults(ctx, func(w cluster.Written) {
		r.Defaults = append(r.Defaults, w)
		failed = errors.Join(failed, report.PrintWritten(e.errOut, w))
	})
	if ctx.Err() != nil {
		err = errNoSpecs
	}
	return r.Defaults, errors.Join(r.PrintDefaults(e.errOut, len(r.Script)), failed, err)
}

// errNoSpecs is an interrupt after something was written into configurations.
var errNoSpecs = errors.New("interrupted; no spec was written")

// confirmSpecs asks whether to write the specs.
func (e *env) confirmSpecs(ctx context.Context, r *report.Discover) (bool, error) {
	yes, err := e.confirm(ctx, r.Question())
	if errors.Is(err, errInterrupted) && len(r.Defaults) > 0 {
		err = errNoSpecs
	}
	return yes, err
}

// reportDiscovery shows the specs, asks, and writes them.
func (e *env) reportDiscovery(c *cli.Context, d *adopt.Discovery, r *report.Discover) error {
	options := e.options(e.errOut)
	options.Format = c.String("format")
	dry := c.Bool("dry-run")
	yes := (c.Bool("yes") || len(d.Changes) == 0) && !dry
	if options.Format == "text" {
		if err := errors.Join(r.PrintSpecs(e.out), r.Print(e.errOut, options)); err != nil {
			return err
		}
		if !yes && !dry && terminal(e.in) {
			var err error
			if yes, err = e.confirmSpecs(c.Context, r); err != nil {
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
	if dry {
		return exit(r.Exit(true))
	}
	if err := r.PrintEnd(e.errOut, yes, terminal(e.in)); err != nil {
		return err
	}
	return exit(r.Exit(yes))
}
