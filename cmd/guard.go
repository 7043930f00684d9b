package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/engine"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/schema"
)

func (e *env) guardCommand() *cli.Command {
	return &cli.Command{
		Name:      "guard",
		Usage:     "refuse an apply or destroy of a unit that would do what nobody asked for",
		ArgsUsage: "STACK/UNIT -- apply|destroy [ARGUMENT...]",
		Description: "What the units' hooks run, in the unit's root module, with the command line of\n" +
			"OpenTofu behind it. Looks at the cluster once for all units of a Terragrunt run,\n" +
			"and with `guard: full` also judges the unit's plan: the one that is to be\n" +
			"applied, or one made for this. Prints what stops it and what to do. Exit codes:\n" +
			"0 go on, 1 it could not be found out, 3 STOP.",
		Flags: append(e.judgeFlags(), planFlag(),
			&cli.StringFlag{Name: "project", Value: ".", Usage: "the project is in `DIR`"}),
		OnUsageError: usageError,
		Action:       e.guard,
	}
}

// A guarded is one unit's apply or destroy.
type guarded struct {
	*judging
	unit guard.UnitID
	args []string // of OpenTofu, its command first
	seen seen     // what all units of the Terragrunt run share, and
	file string   // where; empty if they do not

	errOut io.Writer // for the one line that Terragrunt repeats several times
}

func (e *env) guard(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) < 2 || !slices.Contains([]string{"apply", "destroy"}, args[1]) {
		return fmt.Errorf("usage: stackgen guard STACK/UNIT -- apply|destroy")
	}
	j, err := e.openQuietly(c.String("project"))
	if err != nil {
		return err
	}
	j.tools = engine.Inherited(os.Environ())
	g := &guarded{judging: j, args: args[1:], errOut: e.errOut}
	if err := g.choose(args[0]); err != nil {
		return err
	}
	if err := g.readPlans(c); err != nil {
		return err
	}
	level := g.stack().Guard
	if level == "off" {
		return nil
	}
	misled, err := g.misled()
	switch {
	case err != nil:
		return err
	case misled != nil:
		return g.stop([]finding.Finding{*misled})
	}
	if err := g.lookOnce(c); err != nil {
		return err
	}
	if err := g.imports(); err != nil {
		return err
	}
	// A unit that is retired may be destroyed alone, whatever its stack holds.
	retired := g.project.Lock.Stacks.Get(g.unit.Stack).Units.Get(g.unit.Unit).Status == lock.Retired
	g.input.Destroy, g.input.Running = g.args[0] == "destroy" && !retired, true
	verdicts := guard.Judge(g.input)
	switch {
	case finding.Exit(verdicts) != finding.OK || g.outdated():
		// It is not planned: some of this would keep a plan waiting.
		if g.refusedBefore() {
			return exitCode(exitStop)
		}
		return firstError(g.refuse(), g.answer(verdicts))
	case level == "full" && !g.records():
		if verdicts, err = g.judgePlan(c.Context); err != nil {
			return err
		}
	}
	return g.answer(verdicts)
}

// outdated reports whether the spec asks for more than was rendered. A destroy
// does not ask for what is not there.
func (g *guarded) outdated() bool { return g.unrendered && g.args[0] != "destroy" }

// openQuietly is prepare without the warnings, which render has shown: every unit
// of a run would repeat them. Problems go to stdout, because Terragrunt repeats
// stderr.
func (e *env) openQuietly(dir string) (*judging, error) {
	p, err := project.Open([]string{dir})
	if blocked := (*project.BlockedError)(nil); errors.As(err, &blocked) {
		return nil, e.printBlocked(e.out, blocked)
	}
	if err != nil {
		return nil, err
	}
	return newJudging(&env{in: e.in, out: e.out, errOut: io.Discard, verbose: e.verbose}, p)
}

// choose limits everything to the stack of the unit.
func (g *guarded) choose(id string) error {
	stack, unit, _ := strings.Cut(id, "/")
	g.unit = guard.UnitID{Stack: stack, Unit: unit}
	if !slices.Contains(g.units(), g.unit) {
		return g.noUnit(id)
	}
	g.project.Selected = func(name string) bool { return name == stack }
	g.input.Selected = g.project.Selected
	return g.rendered()
}

func (g *guarded) stack() *schema.Stack {
	return g.project.Stacks.Stacks[slices.IndexFunc(g.project.Stacks.Stacks, func(s *schema.Stack) bool { return s.Name == g.unit.Stack })]
}

// records reports whether the unit holds DNS records. Their destroy is judged by
// what it would leave behind, not by its plan.
func (g *guarded) records() bool {
	return g.unit.Unit != lock.UnitVM && g.unit.Unit != lock.UnitPool
}

// judgePlan judges everything anew with the unit's plan, and with the state that
// it was made from.
func (g *guarded) judgePlan(ctx context.Context) ([]finding.Finding, error) {
	if g.plans[g.unit] != nil {
		return g.judge()
	}
	body, failed := g.planned(ctx)
	if body == nil {
		return nil, fmt.Errorf("%s cannot be planned, so nothing is known of what it would do: %w", g.unit, failed)
	}
	if err := g.plan(g.unit, "the plan of "+g.unit.String(), body); err != nil {
		return nil, err
	}
	return g.judge()
}

// planned is the plan as JSON: the saved one that is to be applied, or one made
// in the same way as the apply would make it.
func (g *guarded) planned(ctx context.Context) (body []byte, err error) {
	if file := savedPlan(g.args); file != "" {
		return g.tools.Show(ctx, ".", file)
	}
	extra, err := planArgs(g.args, os.Getenv("TF_CLI_ARGS_"+g.args[0]))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "stackgen-plan-")
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, os.RemoveAll(dir)) }()
	// The user's own arguments for plans are for plans of the user's own.
	return g.tools.With("TF_CLI_ARGS_plan=").PlanIn(ctx, ".", filepath.Join(dir, "plan"), extra...)
}

// answer lets the run go on, or says why not. An import file that is not right
// stops it too: nobody is there to run import-blocks in between.
func (g *guarded) answer(verdicts []finding.Finding) error {
	if g.outdated() {
		verdicts = append(g.behind(finding.Blocked), verdicts...)
	}
	found := report.NewFindings(verdicts, nil)
	if found.Exit == finding.OK {
		return report.Printf(g.out, "stackgen guard: the %s of %s may go on: %s\n", g.args[0], g.unit, found.Summary())
	}
	return g.stop(slices.DeleteFunc(found.Findings, func(f finding.Finding) bool { return f.Severity == finding.OK }))
}

// stop ends the run. Terragrunt repeats what goes to stderr.
func (g *guarded) stop(fs []finding.Finding) error {
	found := report.NewFindings(fs, nil)
	found.Answer = fmt.Sprintf("stackgen guard refuses the %s of %s: fix %s", g.args[0], g.unit, report.Count(len(fs), "finding"))
	if err := found.Print(g.out, report.Options{Verbose: g.verbose}); err != nil {
		return err
	}
	_ = report.Printf(g.errOut, "stackgen guard: blocked: fix the findings above\n")
	return exitCode(exitStop)
}
