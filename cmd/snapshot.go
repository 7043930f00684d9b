package cmd

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"stackgen/internal/cluster"
	"stackgen/internal/project"
	"stackgen/internal/report"
)

func (e *env) snapshotCommand() *cli.Command {
	return &cli.Command{
		Name:      "snapshot",
		Usage:     "read the cluster into a file that stands in for it",
		ArgsUsage: "[PATH...]",
		Description: "Reads nodes, guests, pools, storages, tasks and the DNS names of the specs\n" +
			"once, and writes them as JSON (docs/inventory.md) to stdout or to --out.\n" +
			"Commands that look at the cluster take the file as --inventory. Nothing is\n" +
			"changed and no secret is written. How the cluster is reached comes from the\n" +
			"PROXMOX_VE_ variables that the provider reads, and from proxmox: in the\n" +
			"specs. Exit codes: 0 done, 1 not possible.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "write to `FILE`, in one step"},
			&cli.StringFlag{Name: "format", Value: "json", Usage: "what is printed: json, or text for a summary"},
			inventoryFlag(),
		},
		OnUsageError: usageError,
		Action:       e.snapshot,
	}
}

func (e *env) snapshot(c *cli.Context) error {
	format, out := c.String("format"), c.String("out")
	if err := oneOf("format", format, "json", "text"); err != nil {
		return err
	}
	if c.IsSet("out") && out == "" {
		return fmt.Errorf("--out needs a file")
	}
	p, err := project.Load(c.Args().Slice(), "")
	if err != nil {
		return err
	}
	if p.Stacks == nil {
		if err := report.Problems(e.errOut, report.Options{Color: color(e.errOut)}, p.Problems, p.Sources); err != nil {
			return err
		}
		return exitCode(exitError)
	}
	inv, err := e.inventory(c, p, true)
	if err != nil {
		return err
	}
	body, err := inv.Encode()
	if err != nil {
		return err
	}
	if out != "" {
		if err := writeInventory(out, body); err != nil {
			return err
		}
		fmt.Fprintf(e.errOut, "wrote %s\n", out)
	}
	if format == "text" {
		return printInventory(e.out, inv)
	}
	if out == "" {
		_, err = e.out.Write(body)
	}
	return err
}

// printInventory prints what was seen, and above all what was not.
func printInventory(w io.Writer, inv *cluster.Inventory) error {
	var out bytes.Buffer
	quorum := "with quorum"
	if !inv.Quorate {
		quorum = "WITHOUT quorum"
	}
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	say("%s, Proxmox VE %s, %s, at %s", inv.Endpoint, inv.Release, quorum, inv.Taken)
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NODE\tSTATE\tVMS\tCONTAINERS\tTEMPLATES")
	for _, n := range inv.Nodes {
		state, vms, containers, templates := "online", 0, 0, 0
		if !n.Online {
			state = "OFFLINE"
		}
		for _, g := range inv.Guests {
			switch {
			case g.Node != n.Name:
			case g.Template:
				templates++
			case g.Kind == cluster.KindContainer:
				containers++
			default:
				vms++
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\n", n.Name, state, vms, containers, templates)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	candidates := 0
	for _, g := range inv.Guests {
		if g.Config != nil {
			candidates++
		}
	}
	say("%d guests read in full, %d pools, %d tasks under way, %d DNS names", candidates, len(inv.Pools), len(inv.Tasks), len(inv.Records))
	for _, r := range inv.Records {
		if r.Error != "" {
			say("DNS %s: %s", r.Name, r.Error)
		}
	}
	for _, g := range inv.Gaps {
		say("NOT SEEN %s %s: %s", g.Path, g.Privilege, g.Reason)
		if g.Fix != "" {
			say("  %s", g.Fix)
		}
	}
	return report.Text(w, out.String())
}
