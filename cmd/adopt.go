package cmd

import (
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/adopt"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

func (e *env) adoptCommand() *cli.Command {
	return &cli.Command{
		Name:      "adopt",
		Usage:     "write into a spec which guests of the cluster its VMs and containers are",
		ArgsUsage: "[PATH] [KEY=VMID...] [KEY...]",
		Description: "Writes `adopt: {vmid: N}` into the VMs that are named, comments kept, and shows\n" +
			"the change as a diff; of a container also the MAC addresses of its networks. KEY\n" +
			"is the key of a VM or container, or STACK/KEY. --by-name chooses those whose name\n" +
			"exactly one of the cluster has, and lists all others; for an entry without\n" +
			"template, such as `nas: {}`, the key may be the name. --match also writes the\n" +
			"hardware of these, and of those named by KEY alone, and changes their profile\n" +
			"from adopted to default: the next plan changes nothing.\n" +
			"The result is checked before it is written. Exit codes: 0 done, 1 not possible,\n" +
			"3 something is left for you to decide.",
		Flags: e.judgeFlags(
			&cli.BoolFlag{Name: "by-name", Usage: "adopt every VM and container whose name exactly one of the cluster has"},
			&cli.BoolFlag{Name: "match", Usage: "write the hardware that they have; an argument that is no file or folder is a KEY"}),
		OnUsageError: usageError,
		Action:       e.adopt,
	}
}

func (e *env) adopt(c *cli.Context) error {
	request, err := e.adoptRequest(c)
	if err != nil {
		return err
	}
	plan, err := adopt.New(c.Context, request)
	if err != nil {
		return err
	}
	e.folder = plan.Elsewhere()
	if p := plan.Warnings; p != nil {
		if err := report.Problems(e.errOut, e.options(e.errOut), p.Problems, p.Sources); err != nil {
			return err
		}
	}
	if err := e.writeSpecs(plan); err != nil {
		return err
	}
	recorded, undecided, err := plan.Record(c.Context, e.progress)
	if err != nil {
		return err
	}
	return e.reportAdoptions(plan, recorded, undecided)
}

// writeSpecs shows the changes of specs as a diff, and makes them.
func (e *env) writeSpecs(plan *adopt.Plan) error {
	for _, change := range plan.Changes {
		if err := report.Text(e.out, files.Diff(change)); err != nil {
			return err
		}
	}
	return plan.Write()
}

// adoptRequest tells paths, KEY=VMID and KEY apart.
func (e *env) adoptRequest(c *cli.Context) (adopt.Request, error) {
	r := adopt.Request{ByName: c.Bool("by-name"), Match: c.Bool("match"), Sources: e.sources(c)}
	for _, arg := range c.Args().Slice() {
		_, err := os.Stat(arg)
		switch {
		case strings.Contains(arg, "="):
			r.VMIDs = append(r.VMIDs, arg)
		case r.Match && err != nil:
			r.Keys = append(r.Keys, arg)
		default:
			r.Paths = append(r.Paths, arg)
		}
	}
	switch {
	case len(r.VMIDs)+len(r.Keys) == 0 && !r.ByName && r.Match:
		return r, errors.New("say whose hardware to write: KEY, KEY=VMID, or --by-name")
	case len(r.VMIDs)+len(r.Keys) == 0 && !r.ByName:
		return r, errors.New("say what to adopt: KEY=VMID, or --by-name; `stackgen preflight` lists them")
	case !r.ByName && !r.Match && c.IsSet("state"):
		return r, errors.New("--state works with --by-name and --match only")
	}
	return r, nil
}

// reportAdoptions says what was decided, what is left, and what to run next.
func (e *env) reportAdoptions(plan *adopt.Plan, recorded []lock.Recording, undecided []adopt.Adoption) error {
	left := report.NewFindings(plan.Left, nil)
	if err := e.listed(left, "left for you to decide:"); err != nil {
		return err
	}
	absent := report.NewFindings(plan.Absent, nil)
	if err := e.listed(absent, "not in the cluster: "+report.Guests(plan.Absent).String()); err != nil {
		return err
	}
	for _, a := range plan.Adoptions {
		_ = report.Printf(e.errOut, "%s is %d.\n", a.VM, a.VMID)
	}
	e.reportClaims(plan)
	for _, m := range plan.Matches {
		text := "%s: the spec says what %s %d has"
		if m.Adopted {
			text += "; its profile is default now"
		}
		_ = report.Printf(e.errOut, text+".\n", m.VM, m.Kind.Name(), m.VMID)
	}
	unmatched := report.NewFindings(plan.Unmatched, nil)
	if err := e.listed(unmatched, "not written: the hardware of "+report.Guests(plan.Unmatched).String()); err != nil {
		return err
	}
	for _, r := range recorded {
		_ = report.Printf(e.errOut, "%s/%s: what identifies it is recorded in %s.\n", r.Stack, r.Key, lock.File)
	}
	next := "stackgen render && stackgen preflight"
	if len(undecided) > 0 {
		next = "stackgen render && stackgen resolve && stackgen preflight" // the lock has no entry yet to record in
	}
	switch n := len(plan.Changes); {
	case n > 0:
		_ = report.Printf(e.errOut, "%s written. Next:\n  %s\n", report.Count(n, "spec"), shell.In(e.folder, next))
	case len(recorded) == 0:
		_ = report.Printf(e.errOut, "Nothing to write.\n")
	}
	if left.Exit != finding.OK {
		return exit(left.Exit)
	}
	return exit(unmatched.Exit)
}

// reportClaims names the adopted VMs that other projects have, or may have.
func (e *env) reportClaims(plan *adopt.Plan) {
	for _, c := range plan.Claimed {
		if c.Claim != nil {
			_ = report.Printf(e.errOut, "warning: %s: another project manages %s %d, as %s: "+
				"two projects with one %[2]s change and destroy it without seeing each other. "+
				"Forget it there first: `forgotten: [%[5]s]`.\n", c.VM, c.Kind.Name(), c.VMID, c.Claim, c.Claim.Key)
			continue
		}
		_ = report.Printf(e.errOut, "note: %s %d is named as the VMs of a stack %s, which no spec here has. "+
			"If another project has that stack, leave the %[1]s there.\n", c.Kind.Name(), c.VMID, c.Stack)
	}
}

// listed prints findings on standard error, if there are any.
func (e *env) listed(found *report.Findings, answer string) error {
	if found.Total == 0 {
		return nil
	}
	found.Answer = answer
	return found.Print(e.errOut, e.options(e.errOut))
}
