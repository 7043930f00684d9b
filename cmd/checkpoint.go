package cmd

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/deploy"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/selection"
	"stackgen/internal/shell"
)

func (e *env) checkpointCommand() *cli.Command {
	return &cli.Command{
		Name:      "checkpoint",
		Usage:     "take a snapshot of VMs and containers that are as their specs say",
		ArgsUsage: "[NAME [PATH... | STACK | STACK/KEY | STACK/GROUP...]]",
		Description: "Takes a snapshot named NAME, or " + operate.Baseline + ", of the disks and the configuration of\n" +
			"each guest, to which `stackgen reset` goes back. It plans the stacks first: a guest\n" +
			"gets a checkpoint only if its plan is empty and no change of it waits for a\n" +
			"restart. One that has a snapshot of this name keeps it. The memory of a running VM\n" +
			"is not saved. Exit codes: 0 done, or nothing to do; 1 failed or interrupted; 3 a\n" +
			"guest was refused, and all others are done.",
		Flags:        e.powerFlags(),
		OnUsageError: usageError,
		Action:       e.checkpoint,
	}
}

func (e *env) checkpoint(c *cli.Context) error {
	name, args := operate.Baseline, c.Args().Slice()
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if err := operate.CheckName(name); err != nil {
		return fmt.Errorf("%w; to name guests, give it first: `stackgen checkpoint %s %s`", err, operate.Baseline, name)
	}
	if _, err := os.Stat(name); err == nil && c.NArg() == 1 {
		return fmt.Errorf("%s is a path: to take a checkpoint of its guests, run `stackgen checkpoint %s %s`",
			name, operate.Baseline, shell.Path(name))
	}
	view, release, err := e.hold(c, args)
	if err != nil {
		return err
	}
	if vm := sameName(view, name); vm != "" && len(args) == 0 {
		return errors.Join(fmt.Errorf("%s is a name of %s: to take a checkpoint of it, run `stackgen checkpoint %s %s`",
			name, vm, operate.Baseline, name), release())
	}
	r := actionRequest(c, power.OfSnapshots(power.Snapshot), view)
	r.Name = name
	planned, err := view.PlanCheckpoints(c.Context, r, e.sources(c))
	if err == nil {
		err = e.act(c, view, r, planned, nil)
	}
	return ends(err, release())
}

// sameName is what a name means as a word that selects VMs, or empty.
func sameName(view *operate.View, name string) string {
	for i := range view.VMs {
		switch v := &view.VMs[i]; name {
		case v.Stack:
			return "the stack " + v.Stack
		case v.Key:
			return v.String()
		case v.Group:
			return "the group " + v.Stack + "/" + v.Group
		}
	}
	return ""
}

func (e *env) resetCommand() *cli.Command {
	return &cli.Command{
		Name:      "reset",
		Usage:     "take VMs and containers back to a checkpoint: what they have written since is lost",
		ArgsUsage: "PATH... | STACK | STACK/KEY | STACK/GROUP...",
		Description: "Rolls back each guest to its checkpoint, disks and configuration, and starts it if it\n" +
			"ran. Before that it compares the configuration of the checkpoint with lock and\n" +
			"spec: one with another UUID or MAC address is refused, and what the next apply\n" +
			"changes again is named. It asks for the key of one guest, or the names of the stacks\n" +
			"of several. Exit codes: 0 done; 1 failed, interrupted or not confirmed; 3 one was\n" +
			"refused, and all others are done.",
		Flags: e.powerFlags(
			&cli.StringFlag{Name: "to", Value: operate.Baseline, Usage: "the checkpoint `NAME`",
				Action: notEmpty("to", "the name of a checkpoint")}),
		OnUsageError: usageError,
		Action:       e.reset,
	}
}

func (e *env) reset(c *cli.Context) error {
	if c.NArg()+len(c.StringSlice("member")) == 0 {
		return errors.New("reset needs guests: KEY, STACK/KEY, STACK/GROUP, STACK, a PATH or --member NAME")
	}
	if err := operate.CheckName(c.String("to")); err != nil {
		return err
	}
	view, release, err := e.hold(c, c.Args().Slice())
	if err != nil {
		return err
	}
	r := actionRequest(c, power.OfSnapshots(power.Rollback), view)
	r.Name = c.String("to")
	planned, err := view.PlanResets(c.Context, r)
	if err == nil {
		err = e.act(c, view, r, planned, func(n string) (bool, error) { return e.confirmReset(c, n, planned) })
	}
	return ends(err, release())
}

// confirmReset asks for the key of one VM, or for the name of each stack of several.
func (e *env) confirmReset(c *cli.Context, n string, planned []operate.One) (bool, error) {
	var keys, stacks []string
	for i := range planned {
		if o := &planned[i]; o.Result == power.Planned {
			keys = append(keys, o.Key)
			if !slices.Contains(stacks, o.Stack) {
				stacks = append(stacks, o.Stack)
			}
		}
	}
	words, what := stacks, "the name of the stack"
	if len(keys) == 1 {
		words, what = keys, "its key"
	}
	for _, word := range words {
		line, err := e.ask(c.Context, fmt.Sprintf("This cannot be undone. To reset %s, type %s, %s: ", n, what, word))
		if err != nil || line != word {
			return false, err
		}
	}
	return true, nil
}

// hold reads the cluster for the VMs that the arguments name, and keeps applies of their
// stacks out until release is called.
func (e *env) hold(c *cli.Context, args []string) (view *operate.View, release func() error, err error) {
	if view, err = e.look(c, args); err != nil {
		return nil, nil, err
	}
	if c.Bool("dry-run") {
		return view, func() error { return nil }, nil
	}
	words := append([]string{"stackgen", c.Command.Name}, c.Args().Slice()...)
	release, err = deploy.Hold(view.Project, stacksOf(view.VMs), strings.Join(words, " "))
	return view, release, err
}

// stacksOf are the stacks of VMs.
func stacksOf(vms []selection.VM) []string {
	var out []string
	for i := range vms {
		if !slices.Contains(out, vms[i].Stack) {
			out = append(out, vms[i].Stack)
		}
	}
	return out
}

// ends is how a command ends that had something to release.
func ends(err, released error) error {
	if released == nil {
		return err
	}
	return errors.Join(err, released)
}
