package report

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"stackgen/guest"
	"stackgen/internal/cluster"
)

// Inventory prints a summary of what was read of a cluster, and what could not be
// read.
func Inventory(w io.Writer, inv *cluster.Inventory) error {
	var out bytes.Buffer
	quorum := "with quorum"
	if !inv.Quorate {
		quorum = "WITHOUT quorum"
	}
	fmt.Fprintf(&out, "%s, Proxmox VE %s, %s, at %s\n", line(inv.Endpoint), line(inv.Release), quorum, line(inv.Taken))
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NODE\tSTATE\tVMS\tCONTAINERS\tTEMPLATES")
	full := 0
	for _, n := range inv.Nodes {
		vms, containers, templates := 0, 0, 0
		for _, g := range inv.Guests {
			switch {
			case g.Node != n.Name:
			case g.Template:
				templates++
			case g.Kind == guest.Container:
				containers++
			default:
				vms++
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\n", line(n.Name), stateOf(&n), vms, containers, templates)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, g := range inv.Guests {
		if g.Config != nil {
			full++
		}
	}
	fmt.Fprintf(&out, "%d guests read in full, %d pools, %d running tasks, %d DNS names\n",
		full, len(inv.Pools), len(inv.Tasks), len(inv.Records))
	for _, r := range inv.Records {
		if r.Error != "" {
			fmt.Fprintf(&out, "DNS %s: %s\n", line(r.Name), line(r.Error))
		}
	}
	for _, g := range inv.Gaps {
		fmt.Fprintf(&out, "NOT READ %s %s: %s\n", line(g.Path), line(g.Privilege), line(g.Reason))
		if g.Fix != "" {
			fmt.Fprintf(&out, "  %s\n", line(g.Fix))
		}
	}
	return Text(w, out.String())
}

// stateOf is the state of a node in a word.
func stateOf(n *cluster.Node) string {
	switch {
	case n.Online:
		return "online"
	case n.Silent != "":
		return "SILENT"
	}
	return "OFFLINE"
}
