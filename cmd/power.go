package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/report"
	"stackgen/internal/selection"
)

// powerFlags are those of the commands that start and stop VMs.
func (e *env) powerFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		memberFlag(),
		&cli.IntFlag{Name: "parallelism", Value: 8, Usage: "act on at most `N` guests at the same time"},
		&cli.DurationFlag{Name: "timeout", Value: 3 * time.Minute, Usage: "how long a locked guest is waited for, and an action may take"},
		&cli.BoolFlag{Name: "dry-run", Usage: "show what would be done, and send nothing"},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask"},
		progressFlag(),
		e.verboseFlag(),
		formatFlag("text", "json"),
	}, more...)
}

// memberFlag is for every command that selects VMs.
func memberFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "member", Usage: "the VM of the member `NAME`, or e-mail address, of a roster"}
}

func (e *env) powerCommand() *cli.Command {
	return &cli.Command{
		Name:      "power",
		Usage:     "start, shut down, stop, reboot, pause or resume VMs; all but pausing also containers",
		ArgsUsage: "ACTION [PATH... | STACK | STACK/KEY | STACK/GROUP...]",
		Description: "Sends one call of the API for each guest, and waits until it is done. ACTION is\n" +
			"start, shutdown, stop, reboot, suspend or resume; containers have the first four.\n" +
			"A guest is left alone unless its recorded identity says that it is the right one,\n" +
			"which is read again just before the call. A locked one is waited for. Actions\n" +
			"after which a guest does not answer are listed and asked for. Exit codes: 0 done,\n" +
			"or nothing to do; 1 failed, interrupted or not confirmed; 3 a guest was refused,\n" +
			"and all others are done.",
		Flags: e.powerFlags(
			&cli.BoolFlag{Name: "force", Usage: "with shutdown: stop a guest that has not shut down after --timeout"}),
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			name := c.Args().First()
			action := power.Find(name)
			switch {
			case name == "":
				return fmt.Errorf("power needs an action: %s", strings.Join(power.Names(), ", "))
			case action == nil:
				near := nearestOf(name, power.Names(), "stackgen power ")
				return fmt.Errorf("there is no action %q%s actions: %s", name, cmp.Or(near, ";"), strings.Join(power.Names(), ", "))
			case c.Bool("force") && action.Name != "shutdown":
				return errors.New("--force is for shutdown: it stops a guest that has not shut down after --timeout")
			}
			return e.power(c, action, c.Args().Tail(), false)
		},
	}
}

func (e *env) restartCommand() *cli.Command {
	return &cli.Command{
		Name:      "restart",
		Usage:     "restart the VMs and containers whose changes wait for it",
		ArgsUsage: "[PATH... | STACK | STACK/KEY | STACK/GROUP...]",
		Description: "Reboots exactly the running guests with changes of their configuration that wait\n" +
			"for a restart, through the API, which applies these changes. A restart inside\n" +
			"the guest does not. With --wave, the next ones are restarted only after those\n" +
			"before run again without such changes. Exit codes: 0 done, or nothing to do; 1\n" +
			"failed, interrupted or not confirmed; 3 one was refused, and all others are done.",
		Flags: e.powerFlags(
			&cli.BoolFlag{Name: "pending", Usage: "required: only guests with changes that wait"},
			&cli.IntFlag{Name: "wave", Usage: "restart `N` guests, and the next ones after they run again"}),
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if !c.Bool("pending") {
				return errors.New("restart needs --pending, and restarts guests with changes that wait; `stackgen power reboot` reboots any guest")
			}
			return e.power(c, power.Find("reboot"), c.Args().Slice(), true)
		},
	}
}

// power runs an action on the VMs that the arguments name.
func (e *env) power(c *cli.Context, action *power.Action, args []string, pending bool) error {
	view, err := e.look(c, args)
	if err == nil && action.OnlyVMs {
		err = e.dropContainers(action, view, args)
	}
	if err != nil {
		return err
	}
	r := actionRequest(c, action, view)
	r.Force, r.Pending, r.Wave = c.Bool("force"), pending, c.Int("wave")
	if pending {
		r.VMs = view.Waiting()
	}
	return e.act(c, view, r, view.Plan(r), func(n string) (bool, error) {
		return e.confirm(c.Context, capital(fmt.Sprintf(action.Doing, n))+"? [y/N] ")
	})
}

// look reads the cluster for the VMs that the arguments name.
func (e *env) look(c *cli.Context, args []string) (*operate.View, error) {
	choice, err := operate.Choose(args, c.StringSlice("member"))
	if err := errors.Join(err, powerLimits(c)); err != nil {
		return nil, err
	}
	p, err := e.open(choice.Paths)
	if err != nil {
		return nil, err
	}
	return operate.Look(c.Context, p, choice, e.sources(c), false)
}

// dropContainers leaves the containers of a view out that no argument names, if there are VMs, and says so: the
// action is for VMs.
func (e *env) dropContainers(action *power.Action, view *operate.View, args []string) error {
	var left []string
	vms := slices.DeleteFunc(slices.Clone(view.VMs), func(vm selection.VM) bool {
		drop := vm.IsContainer() && !slices.Contains(args, vm.String()) && !slices.Contains(args, vm.Key)
		if drop {
			left = append(left, vm.String())
		}
		return drop
	})
	if len(left) == 0 || len(vms) == 0 {
		return nil
	}
	view.VMs = vms
	return report.Printf(e.errOut, "note: %s is for VMs; these containers are left as they are: %s\n", action.Name, strings.Join(left, ", "))
}

// actionRequest is the request of an action on all VMs of a view.
func actionRequest(c *cli.Context, action *power.Action, view *operate.View) operate.Request {
	return operate.Request{Action: action, VMs: view.VMs, AtOnce: c.Int("parallelism"), Timeout: c.Duration("timeout")}
}

// act shows what was planned, asks, does it, and reports how it ended. confirm asks the
// question about a number of VMs, in words.
func (e *env) act(c *cli.Context, view *operate.View, r operate.Request, planned []operate.One, confirm func(string) (bool, error)) error {
	options := e.options(e.out)
	options.Format = c.String("format")
	if c.Bool("dry-run") {
		return e.printPower(powerReport(view, r.Action, planned), options)
	}
	shown, err := e.shows(c)
	if err != nil {
		return err
	}
	if asks := r.Action.Stops && operate.Count(planned, power.Planned) > 0 && !c.Bool("yes"); asks {
		n := powerReport(view, r.Action, planned).Count(power.Planned)
		if !terminal(e.in) {
			return fmt.Errorf("%s of %s was not confirmed, and nothing was sent: give --yes where nobody can be asked", r.Action.Name, n)
		}
		if err := e.summary(view, r.Action, planned); err != nil {
			return err
		}
		yes, err := confirm(n)
		switch {
		case errors.Is(err, errInterrupted):
			return errNotSent
		case err != nil:
			return err
		case !yes:
			_ = report.Printf(e.errOut, "not confirmed; nothing was sent\n")
			return exitCode(exitError)
		}
	}
	ended, err := e.acted(c, shown, view, r, planned)
	if err != nil {
		return err
	}
	result := powerReport(view, r.Action, ended)
	result.Next = append(result.Next, again(c, view, r.Action, ended)...)
	return e.printPower(result, options)
}

// powerLimits refuses numbers with which a command would do something else.
func powerLimits(c *cli.Context) error {
	switch {
	case c.Duration("timeout") < time.Second:
		return errors.New("--timeout must be at least 1s: a shutdown that may take no time cuts the power")
	case c.Int("parallelism") < 1:
		return errors.New("--parallelism must be at least 1")
	case c.IsSet("wave") && c.Int("wave") < 1:
		return errors.New("--wave must be at least 1")
	}
	return nil
}

// capital is a text with a capital letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// summary shows what would be done, before a question.
func (e *env) summary(view *operate.View, action *power.Action, planned []operate.One) error {
	r := powerReport(view, action, planned)
	r.Dry = true
	return r.Print(e.errOut, e.options(e.errOut))
}

// printPower prints how it ended, and is the exit code.
func (e *env) printPower(r *report.Power, o report.Options) error {
	if err := r.Print(e.out, o); err != nil {
		return err
	}
	if r.Exit == exitDone {
		return nil
	}
	return exitCode(r.Exit)
}

func powerReport(view *operate.View, action *power.Action, ended []operate.One) *report.Power {
	r := &report.Power{Action: action.Name, Endpoint: view.Inventory.Endpoint, Done: action.Done}
	for i := range ended {
		r.VMs = append(r.VMs, poweredOf(view, &ended[i]))
	}
	r.Dry = r.Sent(power.Planned)
	switch {
	case r.Sent(power.Failed), r.Sent(power.Left):
		r.Exit = exitError
	case r.Sent(power.Refused):
		r.Exit = exitStop
	}
	r.Next = view.Grants(action, ended)
	return r
}

func poweredOf(view *operate.View, o *operate.One) report.Powered {
	out := report.Powered{
		Stack: o.Stack, Key: o.Key, Container: o.IsContainer(), Member: o.Member, Name: o.Name, VMID: o.VMID(), Node: o.Node(),
		Was: o.Was, Result: o.Result, Text: o.Text, Seconds: o.Took.Seconds(), Warnings: o.Warnings,
	}
	for _, fix := range o.Fix {
		out.Fix = append(out.Fix, view.Step(fix))
	}
	if p := o.Point; p != nil {
		out.Checkpoint = &report.Checkpoint{Name: p.Name, Time: p.Time.Format(time.RFC3339), Repairs: p.Repairs, Leaves: p.Leaves,
			Detaches: p.Detaches, Returns: p.Returns}
	}
	return out
}
