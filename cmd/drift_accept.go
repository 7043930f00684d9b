package cmd

import (
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/adopt"
	"stackgen/internal/finding"
	"stackgen/internal/report"
	"stackgen/internal/session"
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
	for _, a := range plan.Accepted {
		_ = report.Printf(e.errOut, "%s: the spec says what the VM has: %s.\n", a.VM, strings.Join(a.Properties, ", "))
	}
	switch n := len(plan.Changes); {
	case n > 0:
		_ = report.Printf(e.errOut, "%s written. Next:\n  stackgen render && stackgen drift\n", report.Count(n, "spec"))
	case left.Total == 0:
		_ = report.Printf(e.errOut, "Nothing to write.\n")
	}
	return exit(left.Exit)
}

// notRendered reports whether a difference is that of files that are not rendered: nothing
// was planned.
func notRendered(d *session.Drift) bool {
	for _, f := range d.Findings {
		if f.Kind == finding.Unrendered {
			return true
		}
	}
	return false
}
