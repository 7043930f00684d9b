package cmd

import (
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/deploy"
	"stackgen/internal/finding"
	"stackgen/internal/live"
	"stackgen/internal/operate"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

func (e *env) applyCommand() *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "check, plan, ask, apply and verify stacks",
		ArgsUsage: "[PATH... | STACK...]",
		Description: "Runs preflight, writes the import files, plans all units, shows what would be\n" +
			"done and asks. Only the answer `yes` applies these plans, through Terragrunt and\n" +
			"the guard. Then it publishes the records of new guests, removes the import files,\n" +
			"records what exists in the lock, and plans again to verify that nothing is left.\n" +
			"Templates are applied first, in a run of their own: VMs are made from them. A\n" +
			"Template is last if it loses a template together with VMs that were made from it.\n" +
			"Run it again after an interrupt or a failure: it does the rest. docs/apply.md\n" +
			"has the details. Exit codes: 0 done, 1 failed, interrupted or not confirmed, 3\n" +
			"blocked: fix the findings first.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be done, and change nothing"},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask"},
			progressFlag(),
			e.verboseFlag(),
		},
		OnUsageError: usageError,
		Action:       e.apply,
	}
}

func (e *env) apply(c *cli.Context) error {
	q, err := e.request(c, "apply")
	if err := errors.Join(err, q.Check()); err != nil {
		return err
	}
	p, err := e.chosen(c, &q)
	if err != nil {
		return err
	}
	if err := q.Whole("apply"); err != nil {
		return err
	}
	templates, rest, last := p.InOrder()
	if rest == nil || templates == nil && last == nil {
		return exitOf(deploy.Apply(c.Context, p, q))
	}
	order := stacksInOrder{templates: templates, rest: rest}
	if last != nil {
		order.last = last.SelectedNames()
		if code, err := deploy.Leaving(c.Context, p, q, order.last); err != nil || code != finding.OK {
			return exitOf(code, err)
		}
	}
	return e.applyInOrder(c, q, &order)
}

// stacksInOrder are the stacks of an apply, in runs of their own.
type stacksInOrder struct {
	templates, rest *project.Project // templates are nil if there are none
	last            []string         // Templates that leave after the rest
}

// applyInOrder applies Templates, what is made from them, and the Templates that leave.
func (e *env) applyInOrder(c *cli.Context, q deploy.Request, order *stacksInOrder) error {
	var created []string // of which a dry run knows that they are not there
	if order.templates != nil {
		q.Stacks, q.Then = order.templates.SelectedNames(), slices.Concat(order.rest.SelectedNames(), order.last)
		if q.DryRun {
			q.Created = &created
		}
		if code, err := deploy.Apply(c.Context, order.templates, q); err != nil || code != finding.OK {
			return exitOf(code, err)
		}
	}
	if code, err := e.applyRest(c, created, order.last); err != nil || code != finding.OK || len(order.last) == 0 {
		return exitOf(code, err)
	}
	if q.DryRun {
		said := "not planned, because their templates leave after the linked clones of them: " + strings.Join(order.last, ", ") + "\n"
		return report.Text(q.Out, said)
	}
	q, err := e.request(c, "apply")
	if err != nil {
		return err
	}
	p, err := e.chosen(c, &q)
	if err != nil {
		return err
	}
	q.Stacks = order.last
	p.Limit(order.last)
	return exitOf(deploy.Apply(c.Context, p, q))
}

// applyRest applies the stacks that are no Templates, with what was recorded of these; without
// those that are made from templates which a dry run has not created.
func (e *env) applyRest(c *cli.Context, missing, last []string) (finding.Severity, error) {
	q, err := e.request(c, "apply")
	if err != nil {
		return finding.Failed, err
	}
	p, err := e.chosen(c, &q)
	if err != nil {
		return finding.Failed, err
	}
	_, rest, _ := p.InOrder()
	q.Stacks, q.Then = nil, last
	var waiting []string
	for _, stack := range rest.SelectedNames() {
		if rest.Lock.MadeFromAny(stack, missing) {
			waiting = append(waiting, stack)
			continue
		}
		q.Stacks = append(q.Stacks, stack)
	}
	if len(waiting) > 0 {
		said := "not looked at, because the Templates are not applied yet: " + strings.Join(waiting, ", ") + "\n"
		if err := report.Text(q.Out, said); err != nil || len(q.Stacks) == 0 {
			return finding.OK, err
		}
		rest.Selected = func(stack string) bool { return slices.Contains(q.Stacks, stack) }
	}
	return deploy.Apply(c.Context, rest, q)
}

// chosen opens the project of a request, limited to what the command line names.
func (e *env) chosen(c *cli.Context, q *deploy.Request) (*project.Project, error) {
	choice, err := choose(c.Args().Slice(), c.StringSlice("member"))
	if err != nil {
		return nil, err
	}
	q.Paths = choice.Paths
	p, err := e.open(q.Paths)
	if err != nil {
		return nil, err
	}
	q.Options = e.options(e.out)
	return p, q.Choose(p, choice.Words, choice.Members, c.Bool("students"))
}

// choose tells paths from names. What cannot be a name is a path that does not exist.
func choose(args, members []string) (operate.Choice, error) {
	choice, err := operate.Choose(args, members)
	isPath := func(w string) bool { return !named.MatchString(w) || strings.HasSuffix(w, ".yaml") }
	if i := slices.IndexFunc(choice.Words, isPath); err == nil && i >= 0 {
		choice.Paths, choice.Words = choice.Words[i:i+1], nil
	}
	return choice, err
}

// named matches what names a stack, or a VM or group of one. A path to a spec looks the same, but
// ends in .yaml.
var named = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*(/[a-z0-9.-]+)?$`)

// request is what apply and destroy have in common.
func (e *env) request(c *cli.Context, command string) (deploy.Request, error) {
	view, err := e.shows(c)
	if err != nil {
		return deploy.Request{}, err
	}
	words := []string{"stackgen", command}
	for _, path := range c.Args().Slice() {
		words = append(words, shell.Word(path))
	}
	line := strings.Join(words, " ") + partFlags(c)
	if c.Bool("yes") {
		line += " --yes"
	}
	return deploy.Request{Line: line, DryRun: c.Bool("dry-run"), Yes: c.Bool("yes"), Terminal: terminal(e.in),
		In: e.in, Out: view.Hold(e.out), ErrOut: view.Hold(e.errOut), View: view}, nil
}

// shows opens the view of a run, as the flag --progress says.
func (e *env) shows(c *cli.Context) (*live.View, error) {
	return live.Open(live.Mode(c.String("progress")), e.errOut, live.Options{
		CI:       os.Getenv("CI") == "true",
		Color:    color(e.errOut),
		Terminal: live.TerminalOf(e.errOut),
	})
}

func progressFlag() cli.Flag {
	modes := live.Modes()
	return oneOf(&cli.StringFlag{Name: "progress", Value: modes[0], Usage: "show the run as `MODE`: " + either(modes)}, modes)
}

// terminal reports whether a person can answer at r.
func terminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && live.IsTerminal(f)
}
