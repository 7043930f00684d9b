package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

func (e *env) guardCommand() *cli.Command {
	return &cli.Command{
		Name:      "guard",
		Usage:     "refuse an apply or destroy of a unit that the specs did not ask for",
		ArgsUsage: "STACK/UNIT -- apply|destroy|exec [ARGUMENT...]",
		Description: "The units' hooks run it in the unit's root module, with the command line of\n" +
			"OpenTofu behind it. It reads the cluster once for all units of a Terragrunt run,\n" +
			"and with `guard: full` it also checks the unit's plan: the saved plan that is\n" +
			"applied, or a plan made for this check. What `terragrunt exec` runs counts as an\n" +
			"apply. It prints what blocks the run and what to do. Exit codes: 0 go on, 1 it\n" +
			"could not be checked, 3 blocked.",
		Flags: e.judgeFlags(planFlag(), &cli.StringFlag{Name: "project", Value: ".", Usage: "the project is in `DIR`"},
			&cli.BoolFlag{Name: "failed", Usage: "the run has failed: forget the VMs that it was about to create and did not make"},
			&cli.BoolFlag{Name: "unanswered", Usage: "with --failed: a request of the run had no answer, so these VMs may still be made: keep them"},
			&cli.BoolFlag{Name: "taken", Usage: "with --failed: another guest had the VMID of a VM: forget also the VMs that are in no state"},
			&cli.StringSliceFlag{Name: "variable", Usage: "the environment sets the variable `NAME` of the unit's module (repeatable)"}),
		OnUsageError: usageError,
		Action:       e.guard,
	}
}

func (e *env) guard(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) < 2 || !slices.Contains([]string{"apply", "destroy", "exec"}, args[1]) {
		return errors.New("usage: stackgen guard STACK/UNIT -- apply|destroy|exec")
	}
	for _, how := range []string{"unanswered", "taken"} {
		if c.Bool(how) && !c.Bool("failed") {
			return fmt.Errorf("--%s says how a run has failed: give --failed, too", how)
		}
	}
	// Every unit of a run would repeat warnings and progress, and Terragrunt repeats
	// what goes to stderr: all that a person needs goes to stdout, once.
	p, err := project.Open([]string{c.String("project")})
	if blocked := (*project.BlockedError)(nil); errors.As(err, &blocked) {
		return e.blocked(e.out, blocked)
	}
	if err != nil {
		return err
	}
	e.folder = p.Elsewhere()
	from := e.sources(c)
	from.Progress = nil
	hook, err := check.NewHook(p, args[0], args[1:], c.StringSlice("variable"), from)
	if err != nil {
		return err
	}
	if c.Bool("failed") {
		return hook.Failed(c.Context, failure(c))
	}
	answer, err := hook.Check(c.Context)
	switch {
	case err != nil || answer.Off:
		return err
	case answer.RefusedBy != "":
		_ = report.Printf(e.out, "stackgen guard refuses the %s of %s: see the findings of %s\n", args[1], args[0], answer.RefusedBy)
		return exitCode(exitStop)
	}
	r := report.NewFindings(answer.Findings, nil)
	if r.Exit == finding.OK {
		if answer.Waits != nil {
			_ = report.Printf(e.errOut, "stackgen guard: %s:\n", answer.Waits.What)
			for _, line := range answer.Waits.Lines {
				_ = report.Printf(e.errOut, "  %s\n", shell.In(e.folder, line.String()))
			}
		}
		return e.permitted(args, answer, r)
	}
	r = report.NewFindings(slices.DeleteFunc(answer.Findings, func(f finding.Finding) bool { return f.Severity == finding.OK }), nil)
	r.Endpoint = hook.Endpoint()
	r.Answer = fmt.Sprintf("stackgen guard refuses the %s of %s: %s", args[1], args[0],
		cmp.Or(r.OtherCluster(), "fix "+report.Count(r.Total, "finding")))
	if err := r.Print(e.out, report.Options{Verbose: e.verbose, Folder: e.folder}); err != nil {
		return err
	}
	_ = report.Printf(e.errOut, "stackgen guard: blocked: fix the findings above\n")
	return exitCode(exitStop)
}

// failure is how a run has failed, as the hook says it.
func failure(c *cli.Context) check.Failure {
	switch {
	case c.Bool("taken"):
		return check.VMIDTaken
	case c.Bool("unanswered"):
		return check.WithoutAnswer
	}
	return check.Answered
}

// permitted prints that a run may go on, which VMs of its unit it restarts or changes
// in what their specs do not say, which devices it moves, and what waits for a restart or for the address of a VM.
func (e *env) permitted(args []string, answer *check.Answer, all *report.Findings) error {
	named := report.NewFindings(slices.DeleteFunc(slices.Clone(answer.Findings), func(f finding.Finding) bool {
		noticed := slices.ContainsFunc(f.Updates, func(u finding.Update) bool { return u.Interrupts || u.SideEffect || u.Moves != "" })
		return len(f.Pending) == 0 && !f.NoAddress && !noticed || f.Stack+"/"+f.Unit != args[0]
	}), nil)
	named.Answer = fmt.Sprintf("stackgen guard: the %s of %s may go on: %s", args[1], args[0], all.Summary())
	return named.Print(e.out, report.Options{Verbose: e.verbose, Folder: e.folder})
}
