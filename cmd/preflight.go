package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/report"
)

func (e *env) preflightCommand() *cli.Command {
	return &cli.Command{
		Name:      "preflight",
		Usage:     "say what an apply would meet: one verdict for each VM, pool and record",
		ArgsUsage: "[PATH...]",
		Description: "Joins specs, lock, state and cluster, and with --plan also what a plan would\n" +
			"do. State is read from the units' backends unless --state or --plan gives it:\n" +
			"the output of `tofu show -json`, a state file, or a folder made by\n" +
			"--json-out-dir. Exit codes: 0 apply now, 1 not possible, 2 import files are\n" +
			"missing or stale, 3 STOP: do not apply.",
		Flags: append(e.judgeFlags(),
			planFlag(),
			&cli.BoolFlag{Name: "destroy", Usage: "whole stacks are about to be destroyed: refuse if one of their VMs is protected"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text, json, junit, github or markdown"}),
		OnUsageError: usageError,
		Action:       e.preflight,
	}
}

func (e *env) preflight(c *cli.Context) error {
	format := c.String("format")
	if err := oneOf("format", format, "text", "json", "junit", "github", "markdown"); err != nil {
		return err
	}
	j, err := e.prepare(c.Args().Slice())
	if err != nil {
		return err
	}
	if err := j.readPlans(c); err != nil {
		return err
	}
	if err := j.look(c); err != nil {
		return err
	}
	if err := j.imports(); err != nil {
		return err
	}
	j.input.Destroy = c.Bool("destroy")
	verdicts, err := j.judge()
	if err != nil {
		return err
	}
	if j.unrendered {
		verdicts = append(j.behind(finding.Outdated), verdicts...)
	}
	found := report.NewFindings(verdicts, j.notes)
	if j.input.Destroy {
		found.Action = "destroy"
	}
	if err := found.Print(e.out, report.Options{Format: format, Color: color(e.out), Verbose: e.verbose}); err != nil {
		return err
	}
	if found.Exit != finding.OK {
		return exitCode(found.Exit)
	}
	return nil
}

// judge judges everything, plans included. What a plan would do wrong stands
// beside what was found without it.
func (j *judging) judge() ([]finding.Finding, error) {
	verdicts := guard.Judge(j.input)
	var plans []finding.Finding
	for _, u := range j.units() {
		if plan := j.plans[u]; plan != nil {
			more, err := guard.JudgePlan(j.input, verdicts, u, plan)
			if err != nil {
				return nil, fmt.Errorf("cannot judge the plan: %w", err)
			}
			plans = append(plans, more...)
		}
	}
	return guard.Merge(verdicts, plans), nil
}
