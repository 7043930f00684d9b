package cmd

import (
	"cmp"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

func (e *env) preflightCommand() *cli.Command {
	return &cli.Command{
		Name:      "preflight",
		Usage:     "check what an apply would do: one verdict for each VM, container, pool and record",
		ArgsUsage: "[PATH... | STACK...]",
		Description: "Joins specs, lock, state and cluster. Then it plans the guests and pools that\n" +
			"exist and that nothing blocks, without a lock and without writing a state: a plan\n" +
			"says what an apply changes. With --no-plan, --inventory or --state, it does not\n" +
			"plan, and the first line says so. State is read from the units' backends unless\n" +
			"--state or --plan gives it: the output of `tofu show -json`, a state file, or a\n" +
			"folder made by --json-out-dir. Exit codes: 0 safe to apply, 1 not possible, 2\n" +
			"import files or rendered files are missing or stale, 3 blocked: do not apply.",
		Flags: e.judgeFlags(
			planFlag(),
			&cli.BoolFlag{Name: "no-plan", Usage: "make no plan: what an apply changes is not looked at"},
			&cli.BoolFlag{Name: "destroy", Usage: "check a destroy of whole stacks: it is blocked if one of their guests is protected"},
			formatFlag("text", "json", "junit", "github", "markdown")),
		OnUsageError: usageError,
		Action:       e.preflight,
	}
}

func (e *env) preflight(c *cli.Context) error {
	p, err := e.openStacks(c, c.Args().Slice())
	if err != nil {
		return err
	}
	s := check.New(p, e.sources(c))
	s.TemplatesLast = true
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	found, err := s.Preflight(ctx, c.Bool("destroy"), !c.Bool("no-plan"))
	if ctx.Err() != nil {
		return errors.New("interrupted; nothing was changed")
	}
	if err != nil {
		return err
	}
	notes := slices.Concat(s.Notes(found.Findings), s.CloneNotes())
	if !c.Bool("destroy") {
		notes = append(notes, s.StartNotes(found.Findings)...)
	}
	r := report.NewFindings(found.Findings, notes)
	r.Endpoint, r.Rollouts = s.Endpoint(), rollouts(p)
	r.Unplanned, r.Blocked = unitNames(found.Unplanned), unitNames(found.Blocked)
	if c.Bool("destroy") {
		r.Action = "destroy"
	}
	options := e.options(e.out)
	options.Format = c.String("format")
	if err := r.Print(e.out, options); err != nil {
		return err
	}
	return exit(r.Exit)
}

// unitNames are units as STACK/UNIT.
func unitNames(units []tf.Unit) []string {
	var out []string
	for _, u := range units {
		out = append(out, u.String())
	}
	return out
}

// rollouts are the rebuilds of the selected stacks that are not done.
func rollouts(p *project.Project) []report.Rollout {
	var out []report.Rollout
	for _, name := range p.SelectedNames() {
		l := p.Lock.Stacks.Get(name)
		if l == nil {
			continue
		}
		r := l.Rollout()
		if r == nil {
			continue
		}
		one := report.Rollout{Stack: name, Done: len(r.Done), All: r.All(),
			Unhealthy: orNone(r.Unhealthy), Begun: orNone(r.Begun), Waiting: orNone(r.Waiting)}
		if t := r.Template; t != nil {
			one.Template = cmp.Or(t.Release, t.Name, strconv.Itoa(t.VMID))
		}
		out = append(out, one)
	}
	return out
}

// orNone is a list as JSON has it: empty, not null.
func orNone(list []string) []string { return append([]string{}, list...) }
