package cmd

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/adopt"
	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

// driftArguments tells paths from the addresses of --accept: what is no file or folder.
func driftArguments(c *cli.Context) (paths, addresses []string, err error) {
	for _, arg := range c.Args().Slice() {
		if _, err := os.Stat(arg); err != nil && c.Bool("accept") {
			addresses = append(addresses, arg)
		} else {
			paths = append(paths, arg)
		}
	}
	for _, flag := range []string{"format", "html", "fail-on"} {
		if c.Bool("accept") && c.IsSet(flag) {
			return nil, nil, errors.New("--accept prints the change of the specs as a diff: leave out --" + flag)
		}
	}
	return paths, addresses, checkBaseline(c)
}

// acceptDrift writes what is real into the specs.
func (e *env) acceptDrift(r adopt.AcceptRequest) error {
	plan, err := adopt.Accept(r)
	if err != nil {
		return err
	}
	if err := e.writeSpecs(plan); err != nil {
		return err
	}
	left := report.NewFindings(plan.Unmatched, nil)
	left.Answer = "not written:"
	if left.Total > 0 {
		if err := left.Print(e.errOut, e.options(e.errOut)); err != nil {
			return err
		}
	}
	for _, line := range acceptedLines(plan.Accepted) {
		_ = report.Printf(e.errOut, "%s\n", line)
	}
	switch n := len(plan.Changes); {
	case n > 0:
		_ = report.Printf(e.errOut, "%s written. Next:\n  %s\n", report.Count(n, "spec"),
			shell.In(e.folder, "stackgen render && stackgen drift"))
	case left.Total == 0:
		_ = report.Printf(e.errOut, "Nothing to write.\n")
	}
	return exit(left.Exit)
}

// acceptedLines say which properties were written, guests with the same ones in one line.
func acceptedLines(accepted []adopt.Accepted) []string {
	const few = 4
	var order []string
	guests := map[string][]string{}
	for _, a := range accepted {
		properties := strings.Join(a.Properties, ", ")
		if guests[properties] == nil {
			order = append(order, properties)
		}
		guests[properties] = append(guests[properties], a.String())
	}
	var out []string
	for _, properties := range order {
		names, text := guests[properties], ": the spec says what it has: "
		if n := len(names); n > 1 {
			text = ": the specs say what they have: "
			if n > few+1 {
				names = append(names[:few:few], fmt.Sprintf("and %d more", n-few))
			}
		}
		out = append(out, strings.Join(names, ", ")+text+properties+".")
	}
	return out
}

// notRendered reports whether a difference is that of files that are not rendered: nothing
// was planned.
func notRendered(d *check.Drift) bool {
	for _, f := range d.Findings {
		if f.Kind == finding.Unrendered {
			return true
		}
	}
	return false
}
