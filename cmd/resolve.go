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
		ArgsUsage: "[PATH...]",
		Description: "Reads the cluster and the states once, and records in " + lock.File + "\n" +
			"what identifies each VM and each state, the addresses of the VMs, former\n" +
			"addresses that the state does not have any more, and retired VMs that do not\n" +
			"exist any more. It records a VM only where state, cluster and spec agree which\n" +
			"one it is, and lists all others. --again decides again, and renders: it chooses\n" +
			"other MAC addresses for a VM that was never created, and another VMID if two\n" +
			"branches took the same. Exit codes: 0 done, 1 not possible, 3 nothing was\n" +
			"recorded of a stack whose recorded cluster is another one, --again names a VM\n" +
			"that may exist, or render refuses.",
		Flags: e.judgeFlags(
			&cli.StringSliceFlag{Name: "again", Usage: "choose other MAC addresses for `STACK/KEY`, which was never created"},
			&cli.StringSliceFlag{Name: "new-cluster", Usage: "`STACK` is in this cluster now, whatever is recorded, or all nodes have new addresses"},
			&cli.StringSliceFlag{Name: "new-state", Usage: "the recorded states of `STACK` are lost; those that it has now replace them"},
			formatFlag("text", "json")),
		OnUsageError: usageError,
		Action:       e.resolve,
	}
}

func (e *env) resolve(c *cli.Context) error {
	id, err := project.NewID(e.random)
	if err != nil {
		return err
	}
	r, err := resolve.Run(c.Context, resolve.Request{Paths: c.Args().Slice(), Again: c.StringSlice("again"), ID: id,
		NewClusters: c.StringSlice("new-cluster"), NewStates: c.StringSlice("new-state"), Sources: e.sources(c)})
	if err != nil {
		return err
	}
	if err := report.Problems(e.errOut, e.options(e.errOut), r.Project.Problems, r.Project.Sources); err != nil {
		return err
	}
	out := report.Resolve{File: path.Join(r.Project.Root, lock.File), Left: r.Left, Kept: r.Kept}
	for _, one := range r.Recorded {
		out.Recorded = append(out.Recorded, report.Recording(one))
	}
	for _, one := range r.Decided {
		out.Decided = append(out.Decided, report.Decision(one))
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
