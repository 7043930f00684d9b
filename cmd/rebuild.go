package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"stackgen/internal/deploy"
	"stackgen/internal/operate"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/selection"
	"stackgen/internal/shell"
)

func (e *env) rebuildCommand() *cli.Command {
	return &cli.Command{
		Name:      "rebuild",
		Usage:     "give VMs new disks from their templates: what is on the old ones is lost",
		ArgsUsage: "STACK/KEY | STACK/GROUP | PATH or STACK with --all | STACK with --continue...",
		Description: "Shuts each VM down, destroys it and creates it again from the template of its\n" +
			"spec. A VM with a disk that has `keep: true` gets the disks of a clone instead, and\n" +
			"keeps that one. VMID, name, MAC addresses, records, pool and tags stay; the UUID is a new\n" +
			"one. It names disks, snapshots and the last backup of each, and asks for the key\n" +
			"of one VM, or the names of the stacks of several. Nothing else is changed: where a\n" +
			"change of the spec waits, apply comes first. VMs that a profile protects must\n" +
			"be named one by one, and adopted ones are refused.\n" +
			"\n" +
			"With `rollout` in the spec, or --wave, it works in waves: each begins when all VMs\n" +
			"of the one before are healthy. If one fails or is not healthy in time, it stops,\n" +
			"and leaves the VMs of later waves as they are. --continue goes on: first with those\n" +
			"that it has rebuilt and that are not healthy, once more; then with those that are\n" +
			"not done. The same command without it goes on, too, and rebuilds no VM twice: it\n" +
			"waits until those that are done are healthy.\n" +
			"\n" +
			"Exit codes: 0 done, 1 failed, interrupted, not healthy or not confirmed, 3 blocked:\n" +
			"fix the findings first.",
		Flags: []cli.Flag{
			memberFlag(),
			&cli.BoolFlag{Name: "all", Usage: "all VMs of the stacks"},
			&cli.BoolFlag{Name: "continue", Usage: "go on with a rebuild that is not done, those that are not healthy first"},
			&cli.StringFlag{Name: "template", Usage: "refuse unless `TEMPLATE` is what the spec says: a VMID, a name, or NAME@RELEASE"},
			&cli.StringFlag{Name: "wave", Usage: "rebuild `N|P%` VMs at the same time, as `rollout.wave`"},
			&cli.StringSliceFlag{Name: "canary", Usage: "the VM `KEY` is of the first wave; can be repeated"},
			&cli.StringSliceFlag{Name: "healthy", Usage: "a VM is healthy by `CHECK`: agent, tcp:PORT, or only none; can be repeated"},
			&cli.StringFlag{Name: "healthy-timeout", Usage: "the `TIME` that a VM may take to become healthy"},
			&cli.StringFlag{Name: "pause", Usage: "the `TIME` between two waves"},
			&cli.StringFlag{Name: "backup", Usage: "make a backup of each VM on this `STORAGE` before; stop if one fails"},
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
	choice, err := rebuildChoice(c)
	if err != nil {
		return err
	}
	waves := wavesOf(c)
	q, err := e.request(c, "rebuild")
	q.Paths = choice.Paths
	for _, flag := range []string{"all", "continue"} {
		if c.Bool(flag) {
			q.Line += " --" + flag
		}
	}
	q.Line += waves.Flags
	if err := errors.Join(err, q.Check()); err != nil {
		return err
	}
	p, err := e.open(q.Paths)
	if err != nil {
		return err
	}
	q.Options = e.options(e.out)
	order, err := e.orderOf(p, choice, c.Bool("all"), c.Bool("continue"))
	if err != nil {
		return err
	}
	order.Timeout, order.Rollout, order.Backup, q.Stacks = c.Duration("timeout"), waves, c.String("backup"), p.SelectedNames()
	if err := deploy.SameTemplate(p, order.VMs, c.String("template")); err != nil {
		return err
	}
	code, err := deploy.Rebuild(c.Context, p, q, order)
	if err != nil {
		return err
	}
	return exit(code)
}

// rebuildChoice is what a command line says about which VMs it means.
func rebuildChoice(c *cli.Context) (operate.Choice, error) {
	members, goesOn := c.StringSlice("member"), c.Bool("continue")
	choice, err := operate.Choose(c.Args().Slice(), members)
	switch {
	case err != nil:
		return choice, err
	case c.NArg()+len(members) == 0 && !goesOn:
		return choice, errors.New("rebuild needs VMs: STACK/KEY, STACK/GROUP, --member NAME, or a STACK or PATH with --all")
	case len(choice.Paths) > 0 && len(members) == 0 && !c.Bool("all") && !goesOn:
		return choice, fmt.Errorf("%s is a path: give --all for all VMs of its stacks, or name them: STACK/KEY", choice.Paths[0])
	case goesOn && c.Bool("all"):
		return choice, errors.New("--continue goes on with the VMs of a rebuild that is not done: give it without --all")
	case c.Duration("timeout") < time.Second:
		return choice, errors.New("--timeout must be at least 1s: a shutdown that may take no time cuts the power")
	}
	return choice, nil
}

// wavesOf is what a command line says of waves.
func wavesOf(c *cli.Context) deploy.Rollout {
	out := deploy.Rollout{Wave: c.String("wave"), Canary: c.StringSlice("canary"), Healthy: c.StringSlice("healthy"),
		Timeout: c.String("healthy-timeout"), Pause: c.String("pause")}
	for _, f := range []struct {
		name   string
		values []string
	}{
		{"template", []string{c.String("template")}}, {"wave", []string{out.Wave}}, {"canary", out.Canary}, {"healthy", out.Healthy},
		{"healthy-timeout", []string{out.Timeout}}, {"pause", []string{out.Pause}}, {"backup", []string{c.String("backup")}},
	} {
		for _, v := range f.values {
			if v != "" {
				out.Flags += " --" + f.name + " " + shell.Word(v)
			}
		}
	}
	if c.IsSet("timeout") {
		out.Flags += " --timeout " + c.Duration("timeout").String()
	}
	return out
}

// orderOf are the VMs that a choice means, or of which that goes on with a rebuild those that it is
// about. It selects their stacks.
func (e *env) orderOf(p *project.Project, choice operate.Choice, all, goesOn bool) (deploy.Order, error) {
	words, err := selection.Qualify(p.Stacks.Stacks, choice.Words)
	if err != nil {
		return deploy.Order{}, err
	}
	chosen, err := selection.Select(selection.Of(p.Stacks.Stacks, p.Lock, nil, p.Selected), words, choice.Members)
	if err != nil {
		return deploy.Order{}, err
	}
	whole := selection.WholeOf(words, choice.Members) != ""
	o := deploy.Order{Continue: goesOn, Whole: all || goesOn && (whole || len(words)+len(choice.Members) == 0)}
	if goesOn {
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(vm selection.VM) bool { return vm.Entry == nil || vm.Entry.Rebuild == nil })
		if len(chosen) == 0 {
			return o, fmt.Errorf("no rebuild of %s was begun that is not done", cmp.Or(strings.Join(words, ", "), "these stacks"))
		}
	}
	if o.Named, err = selection.Single(chosen, words, choice.Members, all || goesOn && whole); err != nil {
		return o, err
	}
	if chosen, err = e.withoutContainers(chosen, o.Named); err != nil {
		return o, err
	}
	for i := range chosen {
		o.VMs = append(o.VMs, chosen[i].String())
	}
	stacks := stacksOf(chosen)
	p.Selected = func(stack string) bool { return slices.Contains(stacks, stack) }
	return o, nil
}

// withoutContainers are the chosen guests that are VMs. It says which containers are left as they are,
// and refuses those that are named one by one.
func (e *env) withoutContainers(chosen []selection.VM, named []string) (vms []selection.VM, err error) {
	var containers []string
	for i := range chosen {
		switch name := chosen[i].String(); {
		case !chosen[i].Spec.IsContainer():
			vms = append(vms, chosen[i])
		case slices.Contains(named, name):
			return nil, fmt.Errorf("%s is a container, and a rebuild is for VMs", name)
		default:
			containers = append(containers, name)
		}
	}
	switch {
	case len(containers) == 0:
		return vms, nil
	case len(vms) == 0:
		return nil, fmt.Errorf("a rebuild is for VMs, and there are only containers: %s", strings.Join(containers, ", "))
	}
	const note = "note: a rebuild is for VMs; these containers are left as they are: %s\n"
	return vms, report.Printf(e.errOut, note, strings.Join(containers, ", "))
}
