package cmd

import (
	"context"
	"errors"
	"os/signal"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"stackgen/internal/deploy"
	"stackgen/internal/live"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/progress"
	"stackgen/internal/shell"
)

// acted does what was planned, and shows it while it runs.
func (e *env) acted(c *cli.Context, shown *live.View, view *operate.View, r operate.Request, planned []operate.One) ([]operate.One, error) {
	ctx, stop := signal.NotifyContext(c.Context, deploy.Ends()...)
	defer stop()
	plan := progress.Plan{Command: commandOf(c), Parallel: r.AtOnce, Table: c.String("format") == "text"}
	for i := range planned {
		if o := &planned[i]; o.Result == power.Planned {
			plan.Items = append(plan.Items, progress.Item{Target: rowOf(o), Action: progress.Action(r.Action.Name)})
		}
	}
	if len(plan.Items) > 0 {
		shown.Start(plan)
	}
	interrupted := sync.OnceFunc(func() {
		shown.Interrupted("interrupted: no further guest is begun, and what was sent goes on in Proxmox VE")
	})
	defer context.AfterFunc(ctx, interrupted)()
	r.Report = func(o operate.One) { tell(shown, view, r.Action, &o) }
	ended, err := view.Run(ctx, r, planned)
	code, reason := exitError, ""
	if err == nil {
		code = powerReport(view, r.Action, ended).Exit
	}
	if ctx.Err() != nil {
		interrupted()
		code, reason = exitError, "interrupted"
	}
	return ended, errors.Join(err, shown.End(code, reason))
}

// rowOf is the row that shows a VM.
func rowOf(o *operate.One) progress.Target {
	return progress.Target{Kind: progress.VM, Guest: o.Spec.Kind, Stack: o.Stack, Key: o.Key, VMID: o.VMID(), Node: o.Node()}
}

// tell shows what is known now of the action on a VM.
func tell(shown *live.View, view *operate.View, action *power.Action, o *operate.One) {
	event := progress.Event{Target: rowOf(o), Action: progress.Action(action.Name), Text: o.Text}
	switch {
	case o.Result == power.Waiting:
		event.Type = progress.Locked
	case o.Result == power.Sent:
		event.Type = progress.Began
	case o.Result == power.Done, o.Result == power.InState:
		event.Type = progress.Ended
	case o.GoesOn:
		event.Type = progress.GoesOn
	case o.Result == power.Failed:
		event.Type = progress.Problem
	case o.Result == power.Refused:
		event.Type = progress.Declined
	default: // it is not done when the run ends
		return
	}
	var fix []string
	for _, line := range o.Fix {
		fix = append(fix, view.Step(line))
	}
	event.Fix = strings.Join(fix, "\n")
	shown.Event(event)
}

// commandOf is what people call the command: power start, restart.
func commandOf(c *cli.Context) string {
	if c.Command.Name == "power" {
		return "power " + c.Args().First()
	}
	return c.Command.Name
}

// again is the command for the VMs that were not begun. An action that does nothing to VMs that
// are done is repeated as it was given; another one names them.
func again(c *cli.Context, view *operate.View, action *power.Action, ended []operate.One) []string {
	var left []string
	for i := range ended {
		if ended[i].Result == power.Left {
			left = append(left, ended[i].String())
		}
	}
	if len(left) == 0 {
		return nil
	}
	twice := c.Command.Name != "restart" && (action.Reboots() || action.Name == power.Rollback)
	if !twice || len(left) == len(ended) {
		return []string{strings.Join(append([]string{"stackgen", c.Command.Name}, slices.Concat(quoted(c.Args().Slice()), flagsOf(c))...), " ")}
	}
	words := []string{"stackgen", commandOf(c)}
	return []string{view.Step(strings.Join(slices.Concat(words, left, flagsOf(c, "member")), " "))}
}

func quoted(words []string) (out []string) {
	for _, w := range words {
		out = append(out, shell.Word(w))
	}
	return out
}

// flagsOf are the flags that were given, to be repeated, without some.
func flagsOf(c *cli.Context, without ...string) (out []string) {
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(without, name) {
			continue
		}
		switch f.(type) {
		case *cli.BoolFlag:
			if c.Bool(name) {
				out = append(out, "--"+name)
			}
		case *cli.StringSliceFlag:
			for _, value := range c.StringSlice(name) {
				out = append(out, "--"+name, shell.Word(value))
			}
		case *cli.IntFlag, *cli.DurationFlag, *cli.StringFlag:
			out = append(out, "--"+name, shell.Word(c.String(name)))
		}
	}
	return out
}
