package cmd

import (
	"path"
	"slices"

	"github.com/urfave/cli/v2"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
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
			"one it is, and lists all others. Exit codes: 0 done, 1 not possible, 3 nothing\n" +
			"was recorded of a stack whose recorded cluster is another one.",
		Flags: e.judgeFlags(
			&cli.StringSliceFlag{Name: "new-cluster", Usage: "`STACK` is in this cluster now, whatever is recorded, or all nodes have new addresses"},
			&cli.StringSliceFlag{Name: "new-state", Usage: "the recorded states of `STACK` are lost; those that it has now replace them"},
			formatFlag("text", "json")),
		OnUsageError: usageError,
		Action:       e.resolve,
	}
}

func (e *env) resolve(c *cli.Context) error {
	r, err := resolve.Run(c.Context, resolve.Request{Paths: c.Args().Slice(), NewClusters: c.StringSlice("new-cluster"), NewStates: c.StringSlice("new-state"), Sources: e.sources(c)})
	if err != nil {
		return err
	}
	if err := report.Problems(e.errOut, e.options(e.errOut), r.Project.Problems, r.Project.Sources); err != nil {
		return err
	}
	out := report.Resolve{File: path.Join(r.Project.Root, lock.File), Left: r.Left}
	for _, one := range r.Recorded {
		out.Recorded = append(out.Recorded, report.Recording(one))
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
	return nil
}
