package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
	"stackgen/internal/report"
)

// baselineDays is how long an entry of a baseline is valid without --expires.
const baselineDays = 30

// checkBaseline refuses flags of a baseline that would be ignored.
func checkBaseline(c *cli.Context) error {
	add := c.Bool("baseline-add")
	switch {
	case add && c.String("baseline") == "":
		return errors.New("--baseline-add needs --baseline FILE, the file to write")
	case add && c.String("reason") == "":
		return errors.New("--baseline-add needs --reason TEXT: why the differences may stay")
	case !add && (c.IsSet("reason") || c.IsSet("expires")):
		return errors.New("--reason and --expires work with --baseline-add only")
	case add && c.Bool("accept"):
		return errors.New("use --accept or --baseline-add, not both")
	case c.Bool("accept") && c.IsSet("fail-on"):
		return errors.New("--fail-on works without --accept only")
	}
	if day := c.String("expires"); day != "" && !check.IsDate(day) {
		return errors.New("--expires takes a day such as 2026-12-31")
	} else if day != "" && day < time.Now().Format(time.DateOnly) {
		return fmt.Errorf("--expires %s has passed, so the differences would count at once: name a later day, or leave it out for %d days",
			day, baselineDays)
	}
	return nil
}

// baseline marks the differences that the baseline knows, or writes them into it.
func (e *env) baseline(c *cli.Context, d *check.Drift) error {
	file := c.String("baseline")
	if file == "" || notRendered(d) {
		return nil
	}
	now := time.Now()
	r := check.Baseline{
		File:    file,
		Today:   now.Format(time.DateOnly),
		Add:     c.Bool("baseline-add"),
		Reason:  c.String("reason"),
		Expires: c.String("expires"),
	}
	if r.Add && r.Expires == "" {
		r.Expires = now.AddDate(0, 0, baselineDays).Format(time.DateOnly)
	}
	added, err := d.Apply(r)
	if wrong := (*check.BaselineError)(nil); errors.As(err, &wrong) {
		if err := report.Problems(e.errOut, e.options(e.errOut), wrong.Problems, wrong.Sources); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if r.Add {
		_ = report.Printf(e.errOut, "%s written into %s, until %s.\n", report.Count(added, "difference"), file, r.Expires)
	}
	return nil
}
