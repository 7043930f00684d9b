package cmd

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"stackgen/internal/deploy"
	"stackgen/internal/operate"
	"stackgen/internal/project"
	"stackgen/internal/selection"
)

func (e *env) rebuildCommand() *cli.Command {
	return &cli.Command{
		Name:      "rebuild",
		Usage:     "give VMs new disks from their templates: what is on the old ones is lost",
		ArgsUsage: "STACK/KEY | STACK/GROUP | PATH or STACK with --all...",
		Description: "Shuts each VM down, destroys it and creates it again from the template of its\n" +
			"spec. VMID, name, MAC addresses, records, pool and tags stay; the UUID is a new\n" +
			"one. It names disks, snapshots and the last backup of each, and asks for the key\n" +
			"of one VM, or the names of the stacks of several. Nothing else is changed: where a\n" +
			"change of the spec waits, apply comes first. VMs that a profile protects must\n" +
			"be named one by one, and adopted ones are refused. Run it again after an interrupt or a\n" +
			"failure: it goes on, and replaces no VM twice. Exit codes: 0 done, 1 failed,\n" +
			"interrupted or not confirmed, 3 blocked: fix the findings first.",
		Flags: []cli.Flag{
			memberFlag(),
			&cli.BoolFlag{Name: "all", Usage: "all VMs of the stacks"},
			&cli.DurationFlag{Name: "timeout", Value: 3 * time.Minute, Usage: "how long a guest may take to shut down; then it is stopped"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be done, and change nothing"},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask"},
			progressFlag(),
			e.verboseFlag(),
		},
		OnUsageError: usageError,
		Action:       e.rebuild,
	}
}

func (e *env) rebuild(c *cli.Context) error {
	members := c.StringSlice("member")
	choice, err := operate.Choose(c.Args().Slice(), members)
	switch {
	case err != nil:
		return err
	case c.NArg()+len(members) == 0:
		return errors.New("rebuild needs VMs: STACK/KEY, STACK/GROUP, --member NAME, or a STACK or PATH with --all")
	case len(choice.Paths) > 0 && len(members) == 0 && !c.Bool("all"):
		return fmt.Errorf("%s is a path: give --all for all VMs of its stacks, or name them: STACK/KEY", choice.Paths[0])
	case c.Duration("timeout") < time.Second:
		return errors.New("--timeout must be at least 1s: a shutdown that may take no time cuts the power")
	}
	q, err := e.request(c, "rebuild")
	q.Paths = choice.Paths
	if c.Bool("all") {
		q.Line += " --all"
	}
	if err := errors.Join(err, q.Check()); err != nil {
		return err
	}
	p, err := e.open(q.Paths)
	if err != nil {
		return err
	}
	order, err := orderOf(p, choice, c.Bool("all"))
	if err != nil {
		return err
	}
	order.Timeout, q.Stacks = c.Duration("timeout"), p.SelectedNames()
	code, err := deploy.Rebuild(c.Context, p, q, order)
	if err != nil {
		return err
	}
	return exit(code)
}

// orderOf are the VMs that a choice means. It selects their stacks.
func orderOf(p *project.Project, choice operate.Choice, all bool) (deploy.Order, error) {
	words, err := selection.Qualify(p.Stacks.Stacks, choice.Words)
	if err != nil {
		return deploy.Order{}, err
	}
	chosen, err := selection.Select(selection.Of(p.Stacks.Stacks, p.Lock, nil, p.Selected), words, choice.Members)
	if err != nil {
		return deploy.Order{}, err
	}
	named, err := selection.Single(chosen, words, choice.Members, all)
	if err != nil {
		return deploy.Order{}, err
	}
	o := deploy.Order{Named: named}
	for i := range chosen {
		o.VMs = append(o.VMs, chosen[i].String())
	}
	stacks := stacksOf(chosen)
	p.Selected = func(stack string) bool { return slices.Contains(stacks, stack) }
	return o, nil
}
