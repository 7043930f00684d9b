package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
)

// inventoryFlag is for every command that reads the cluster.
func inventoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "inventory", Usage: "read the cluster from the snapshot in `FILE`", Action: notEmpty("inventory", "a file")}
}

// judgeFlags are for every command that compares specs with the cluster and states.
func (e *env) judgeFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		inventoryFlag(),
		stateFlag(),
		e.verboseFlag(),
	}, more...)
}

// stateFlag is for every command that reads states.
func stateFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "state", Usage: "read a unit's state from `STACK/UNIT=FILE`, or all states from a folder"}
}

func planFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "plan", Usage: "also check a unit's plan from `STACK/UNIT=FILE`, or all plans from a folder"}
}

func (e *env) verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Usage: "print every finding on its own, with all evidence", Destination: &e.verbose}
}

// formatFlag offers formats, the first of which is the default.
func formatFlag(formats ...string) cli.Flag {
	return oneOf(&cli.StringFlag{Name: "format", Value: formats[0], Usage: "print " + either(formats)}, formats)
}

// oneOf limits a flag to some values.
func oneOf(f *cli.StringFlag, values []string) cli.Flag {
	f.Action = func(_ *cli.Context, value string) error {
		if slices.Contains(values, value) {
			return nil
		}
		return fmt.Errorf("--%s takes one of %s; this is %q", f.Name, strings.Join(values, ", "), value)
	}
	return f
}

func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// notEmpty refuses a flag without a value.
func notEmpty(flag, what string) func(*cli.Context, string) error {
	return func(_ *cli.Context, value string) error {
		if value == "" {
			return fmt.Errorf("--%s needs %s", flag, what)
		}
		return nil
	}
}

// sources are what the flags say about where to read.
func (e *env) sources(c *cli.Context) check.Sources {
	return check.Sources{
		Inventory: c.String("inventory"),
		States:    c.StringSlice("state"),
		Plans:     c.StringSlice("plan"),
		Progress:  e.progress,
	}
}
