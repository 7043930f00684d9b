package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/files"
	"stackgen/internal/outputs"
	"stackgen/internal/register"
	"stackgen/internal/render"
	"stackgen/internal/report"
)

func (e *env) outputsCommand() *cli.Command {
	return &cli.Command{
		Name:      "outputs",
		Usage:     "write registrations and inventories from the outputs of applied stacks",
		ArgsUsage: "[PATH... | STACK...]",
		Description: "Writes for each stack, from its state, five files for other programs: a\n" +
			"registration as JSON and CSV, an Ansible inventory, a configuration of ssh, and\n" +
			"lines for /etc/hosts (docs/outputs.md). outputs.registration in the spec names\n" +
			"the JSON file; the others are beside it. Without it, the files are\n" +
			"registration/STACK.json and so on. Without PATH, only stacks whose specs have\n" +
			"outputs.registration are written, or all stacks if none has it. --live asks the\n" +
			"cluster for nodes and addresses. Exit codes: 0 done, 1 not possible, such as a\n" +
			"stack that was not applied; then no file of any stack is written. 3 a file that\n" +
			"stackgen did not write, or that was changed since, is in the way.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "live", Usage: "ask the cluster for the node and address of each guest"},
			inventoryFlag(),
			stateFlag(),
			oneOf(&cli.StringFlag{Name: "format", Usage: "print json, csv, ansible, ssh or hosts of one stack, and write nothing"},
				[]string{"json", "csv", "ansible", "ssh", "hosts"}),
		},
		OnUsageError: usageError,
		Before: func(c *cli.Context) error {
			if c.IsSet("inventory") && !c.Bool("live") {
				return errors.New("--inventory replaces the cluster, which only --live reads: add --live")
			}
			return nil
		},
		Action: e.outputs,
	}
}

func (e *env) outputs(c *cli.Context) error {
	p, err := e.openStacks(c, c.Args().Slice())
	if err != nil {
		return err
	}
	stacks, all := register.Wanted(p), register.Selected(p)
	if c.Args().Present() || len(stacks) == 0 {
		stacks = all
	}
	if len(stacks) == 0 {
		return p.NoSpecs()
	}
	if c.IsSet("format") && len(stacks) > 1 {
		return fmt.Errorf("--format prints one stack, and these are %s: name the spec of one", strings.Join(stacks, ", "))
	}
	o, err := register.Read(c.Context, register.Request{Project: p, Stacks: stacks, Live: c.Bool("live"), Sources: e.sources(c)})
	if err != nil {
		return err
	}
	if c.IsSet("format") {
		return e.printOutputs(o, c.String("format"))
	}
	changes, err := o.Write(c.Context, e.progress)
	var refused *files.RefusedError
	if errors.As(err, &refused) {
		_ = report.Error(e.errOut, err)
		return exitCode(exitStop)
	}
	if err != nil {
		return err
	}
	r := report.Outputs{
		Root: p.Root, Stacks: o.Stacks, VMs: o.VMs, Containers: o.Containers, Files: len(o.Files),
		Changes: render.Changes(changes, false, false), Warnings: o.Warnings,
		Skipped: slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(stacks, name) }),
	}
	return r.Print(e.out, e.errOut)
}

// printOutputs prints one format.
func (e *env) printOutputs(o *register.Outputs, format string) error {
	formats := map[string]outputs.Format{
		"json":    outputs.JSON,
		"csv":     outputs.CSV,
		"ansible": outputs.Ansible,
		"ssh":     outputs.SSH,
		"hosts":   outputs.Hosts,
	}
	if err := report.Warnings(e.errOut, o.Warnings); err != nil {
		return err
	}
	body := o.Body(formats[format])
	if format == "json" {
		return report.JSON(e.out, body)
	}
	return report.Data(e.out, body)
}
