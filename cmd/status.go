package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
	"stackgen/internal/deploy"
	"stackgen/internal/live"
	"stackgen/internal/lock"
	"stackgen/internal/operate"
	"stackgen/internal/report"
	"stackgen/internal/selection"
)

func (e *env) statusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Aliases:   []string{"list"},
		Usage:     "list the VMs and containers as they are now: power, address, changes that wait",
		ArgsUsage: "[PATH... | STACK | STACK/KEY | STACK/GROUP...]",
		Description: "One line for each guest: its key, member, VMID, node, power, address, uptime, the\n" +
			"entries of its configuration that wait for a restart, the template that it was\n" +
			"made from, and its checkpoint. It reads the cluster and no state. Without a\n" +
			"configured cluster it says what the lock knows. --html writes one page with links\n" +
			"to the consoles. One whose VMID another guest has is listed with what to do. Exit\n" +
			"codes: 0 done, 1 not possible.",
		Flags: []cli.Flag{
			memberFlag(),
			&cli.BoolFlag{Name: "watch", Usage: "print it again every five seconds, until an interrupt"},
			&cli.StringFlag{Name: "html", Usage: "also write it as one page into `FILE`", Action: notEmpty("html", "a file")},
			inventoryFlag(),
			formatFlag("text", "json", "csv"),
		},
		OnUsageError: usageError,
		Before: func(c *cli.Context) error {
			if c.Bool("watch") && (c.IsSet("inventory") || c.String("format") != "text" || c.IsSet("html")) {
				return errors.New("--watch reads the cluster again and again, and prints text: remove --inventory, --format and --html")
			}
			return nil
		},
		Action: e.status,
	}
}

// watchEvery is the time between two lists of --watch.
const watchEvery = 5 * time.Second

func (e *env) status(c *cli.Context) error {
	choice, err := operate.Choose(c.Args().Slice(), c.StringSlice("member"))
	if err != nil {
		return err
	}
	if !c.Bool("watch") {
		return e.printStatus(c.Context, c, choice)
	}
	ctx, stop := signal.NotifyContext(c.Context, deploy.Ends()...)
	defer stop()
	for {
		if err := e.printStatus(ctx, c, choice); err != nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

// printStatus looks once.
func (e *env) printStatus(ctx context.Context, c *cli.Context, choice operate.Choice) error {
	p, err := e.open(choice.Paths)
	if err != nil {
		return err
	}
	sources := e.sources(c)
	if c.Bool("watch") {
		sources.Progress = nil
	}
	view, err := operate.Look(ctx, p, choice, sources, true)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	r := statusReport(view)
	if view.Inventory != nil {
		addCheckpoints(r, view.Points(ctx, sources.Inventory != ""))
	}
	if file := c.String("html"); file != "" {
		write := func(w io.Writer) error { return r.Print(w, report.Options{Format: "html"}) }
		if err := check.WritePage(file, write); err != nil {
			return err
		}
	}
	options := e.options(e.out)
	options.Format = c.String("format")
	if f, ok := e.out.(*os.File); ok && c.Bool("watch") && live.IsTerminal(f) { // the former list stays until this one is there
		_, _ = io.WriteString(e.out, "\x1b[H\x1b[2J") // the top of an empty screen
	}
	return r.Print(e.out, options)
}

// statusReport is what is known of the VMs.
func statusReport(view *operate.View) *report.Status {
	r := &report.Status{}
	if inv := view.Inventory; inv != nil {
		r.Endpoint, r.Taken = inv.Endpoint, inv.Taken
	} else {
		r.Notes = append(r.Notes, "no cluster is configured, so this is what "+lock.File+" knows; set PROXMOX_VE_ENDPOINT and the credentials")
	}
	for i := range view.VMs {
		r.VMs = append(r.VMs, nowOf(view, &view.VMs[i]))
	}
	return r
}

// addCheckpoints adds the checkpoints of VMs.
func addCheckpoints(r *report.Status, points map[string]operate.Checkpoint) {
	for i := range r.VMs {
		v := &r.VMs[i]
		p, has := points[v.Stack+"/"+v.Key]
		if v.Checkpoint = p.Name; has && !p.Time.IsZero() {
			v.CheckpointTime = p.Time.Format(time.RFC3339)
		}
	}
}

// nowOf is what is known of one VM.
func nowOf(view *operate.View, vm *selection.VM) report.Now {
	out := report.Now{Stack: vm.Stack, Key: vm.Key, Container: vm.IsContainer(), Member: vm.Member, Name: vm.Name, VMID: vm.VMID(),
		Node: vm.Node(), Power: "not read"}
	if vm.Entry != nil {
		if t := cmp.Or(vm.Entry.MadeFrom, vm.Entry.Template); t != nil {
			out.Template = cmp.Or(t.Name, fmt.Sprint(t.VMID))
		}
		if len(vm.Entry.Addresses) > 0 {
			out.Address = vm.Entry.Addresses[0]
		}
	}
	out.Problem, out.Fix = vm.Problem()
	out.Fix = view.Step(out.Fix)
	g := vm.Guest
	switch {
	case view.Inventory == nil:
		return out
	case g == nil:
		out.Power, out.Address = problemWord(vm), ""
		return out
	}
	out.Power, out.Lock, out.Uptime, out.Console = string(operate.StateOf(g)), g.Lock, g.Uptime, view.Console(vm)
	if g.Config != nil {
		out.Agent = g.Config.Agent
		if len(g.Config.Address) > 0 {
			out.Address = g.Config.Address[0]
		}
	}
	out.Pending = operate.Waits(g)
	return out
}

// problemWord is one word for a VM without a guest.
func problemWord(vm *selection.VM) string {
	switch {
	case vm.Unproven():
		return "unproven"
	case vm.Holder != nil && len(vm.Gaps) == 0:
		return "conflict"
	case len(vm.Gaps) > 0:
		return "unknown"
	}
	return "missing"
}
