package cmd

import (
	"path"
	"slices"

	"github.com/urfave/cli/v2"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/resolve"
)

func (e *env) resolveCommand() *cli.Command {
	return &cli.Command{
		Name:      "resolve",
		Usage:     "record in the lock what only the cluster and the states know",
		ArgsUsage: "[PATH... | STACK...]",
		Description: "Reads the cluster and the states once, and records in " + lock.File + "\n" +
			"what the specs leave to the cluster, once for each guest: the VMID and node of its\n" +
			"template, the clone mode of clone: auto with its reason, and the node of a\n" +
			"placement by score, spread or binpack. It also records what identifies each\n" +
			"guest and each state, their addresses, former addresses that the state does not\n" +
			"have any more, and retired guests that do not exist any more. It records a guest\n" +
			"only where state, cluster and spec agree which one it is, and lists all others.\n" +
			"--explain prints how the nodes compare, and how many guests to create at once.\n" +
			"--again decides again for a guest that was never created, and renders: its node,\n" +
			"template, clone mode and MAC addresses, and its VMID if two branches took the\n" +
			"same. Exit codes: 0 done, 1 not possible, such as a template that does not\n" +
			"exist or no node for a guest, 3 nothing was recorded of a stack whose recorded\n" +
			"cluster is another one, --again names a guest that may exist, or render refuses.",
		Flags: e.judgeFlags(
			&cli.StringSliceFlag{Name: "again", Usage: "decide again for `STACK/KEY`, which was never created"},
			&cli.BoolFlag{Name: "explain", Usage: "also print the scores of the nodes, and a figure for apply.parallelism"},
			&cli.StringSliceFlag{Name: "new-cluster",
				Usage: "`STACK` is in this cluster now, whatever is recorded, or all nodes have new addresses"},
			&cli.StringSliceFlag{Name: "state-moved", Usage: "you have moved the state of `STACK` to where its spec says, and it has new guests"},
			&cli.StringSliceFlag{Name: "new-state", Usage: "the recorded states of `STACK` are lost; those that it has now replace them"},
			formatFlag("text", "json")),
		OnUsageError: usageError,
		Action:       e.resolve,
	}
}

func (e *env) resolve(c *cli.Context) error {
	choice, err := choose(c.Args().Slice(), nil)
	if err != nil {
		return err
	}
	id, err := project.NewID(e.random)
	if err != nil {
		return err
	}
	r, err := resolve.Run(c.Context, resolve.Request{
		Paths: choice.Paths, Words: choice.Words, Again: c.StringSlice("again"), ID: id,
		NewClusters: c.StringSlice("new-cluster"), NewStates: c.StringSlice("new-state"), StateMoved: c.StringSlice("state-moved"),
		Sources: e.sources(c),
	})
	if err != nil {
		return err
	}
	e.folder = r.Project.Elsewhere()
	if err := report.Problems(e.errOut, e.options(e.errOut), r.Project.Problems, r.Project.Sources); err != nil {
		return err
	}
	out := report.Resolve{File: path.Join(r.Project.Root, lock.File), Left: r.Left, Kept: r.Kept, Notes: r.Notes, Explain: c.Bool("explain")}
	for _, one := range r.Recorded {
		out.Recorded = append(out.Recorded, report.Recording(one))
	}
	for _, one := range r.Decided {
		out.Decided = append(out.Decided, decisionOf(one))
	}
	out.Nodes = nodesOf(r)
	if out.Explain {
		for _, a := range r.Advice {
			out.Advice = append(out.Advice, report.Advice(a))
		}
	}
	if r.Render {
		out.Next = append(out.Next, "stackgen render")
	}
	if slices.ContainsFunc(r.Left, func(f finding.Finding) bool { return f.Stops() }) {
		out.Next = append(out.Next, "stackgen preflight")
	}
	options := e.options(e.out)
	options.Format = c.String("format")
	if err := out.Print(e.out, options); err != nil {
		return err
	}
	if slices.ContainsFunc(r.Left, func(f finding.Finding) bool { return f.Type == finding.Stack && f.Stops() }) {
		return exitCode(exitStop)
	}
	return exit(finding.Exit(r.Kept))
}

// nodesOf are the nodes with their loads as they are reported.
func nodesOf(r *resolve.Result) []report.Node {
	var out []report.Node
	for _, l := range r.Loads {
		n := report.Node{
			Node: l.Node, VMs: l.VMs, Containers: l.Containers, Strategies: l.Strategies, Out: l.Out,
			CPUs: l.After.CPUs, NeededCPUs: l.After.Busy, Memory: l.After.Memory, NeededMemory: l.After.Used,
		}
		n.CPU, n.FreeMemory = l.Before.Free()
		n.CPUWith, n.FreeMemoryWith = l.After.Free()
		out = append(out, n)
	}
	return out
}

// decisionOf is a decision as it is reported.
func decisionOf(d resolve.Decision) report.Decision {
	out := report.Decision{
		Stack: d.Stack, Key: d.Key, Container: d.Container, Again: d.Again, VMID: d.VMID, MACs: d.MACs,
		Node: d.Node, Strategy: d.Strategy, Clone: d.Clone, CloneReason: d.CloneReason,
	}
	if t := d.Template; t != nil {
		out.Template = &report.Template{VMID: t.VMID, Node: t.Node, Name: t.Name}
	}
	for _, c := range d.Candidates {
		out.Candidates = append(out.Candidates, report.Candidate{
			Node: c.Node, Out: c.Out, Score: c.Score, CPU: c.CPU, Memory: c.Memory, VMs: c.VMs, Crowded: c.Crowded,
		})
	}
	return out
}
