package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/check"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/render"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

func (e *env) importBlocksCommand() *cli.Command {
	return &cli.Command{
		Name:      "import-blocks",
		Usage:     "write the import files for everything that is safe to adopt",
		ArgsUsage: "[PATH... | STACK...]",
		Description: "Writes stacks/STACK/imports/UNIT.tf for the guests, pools and records that exist,\n" +
			"certainly belong to the specs and are in no state. Each run replaces the files,\n" +
			"and removes those with nothing to import; they are valid for one apply. What\n" +
			"cannot be adopted is listed and blocks nothing else. Exit codes: 0 done, 1 not\n" +
			"possible, 2 --check found them out of date, 3 blocked: fix the findings first.",
		Flags: e.judgeFlags(
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit 2 if an import file is out of date"},
			&cli.BoolFlag{Name: "verify", Usage: "then plan the units, and prove that nothing is added, changed or destroyed"},
			&cli.StringFlag{Name: "out", Usage: "`-` prints the import blocks and writes nothing"}),
		OnUsageError: usageError,
		Before:       importFlags,
		Action: func(c *cli.Context) error {
			if c.IsSet("out") || c.Bool("check") {
				return e.importBlocks(c)
			}
			choice, err := choose(c.Args().Slice(), nil)
			if err != nil {
				return err
			}
			return e.locked(c, choice.Paths, "", e.importBlocks)
		},
	}
}

// importFlags refuses flags that exclude each other.
func importFlags(c *cli.Context) error {
	toStdout, only := c.IsSet("out"), c.Bool("check")
	switch {
	case toStdout && c.String("out") != "-":
		return errors.New("--out takes - only, for standard output; the paths of the files are fixed")
	case toStdout && only:
		return errors.New("--check and --out exclude each other")
	case c.Bool("verify") && (only || toStdout):
		return errors.New("--verify plans with the files that were written; remove --check and --out")
	}
	return nil
}

func (e *env) importBlocks(c *cli.Context) error {
	toStdout, only := c.IsSet("out"), c.Bool("check")
	p, err := e.openStacks(c, c.Args().Slice())
	if err != nil {
		return err
	}
	s := check.New(p, e.sources(c))
	imports, err := s.Imports(c.Context)
	if err != nil {
		return err
	}
	if toStdout {
		err = e.printFiles(imports.Files)
	} else {
		err = report.Changes(e.out, p.Root, render.Changes(imports.Changes, only, false))
	}
	if err != nil {
		return err
	}
	if !toStdout && !only {
		if err := s.WriteImports(imports.Changes); err != nil {
			return err
		}
	}
	proved := true
	if c.Bool("verify") && imports.Count() > 0 {
		if proved, err = e.verify(c, s, imports.Findings); err != nil {
			return err
		}
	}
	r := importFindings(c, s, imports)
	if err := r.Print(e.errOut, e.options(e.errOut)); err != nil {
		return err
	}
	switch {
	case !proved:
		return exitCode(exitStop)
	case finding.Exit(imports.Findings) != finding.OK:
		return exit(finding.Exit(imports.Findings))
	case only && len(imports.Changes) > 0:
		return exitCode(exitDiffers)
	case imports.Unrendered != nil:
		return exitCode(exitError) // an apply would not know what was just written
	}
	return nil
}

// printFiles prints files, each below its path.
func (e *env) printFiles(written []files.File) error {
	for _, f := range written {
		if err := report.Text(e.out, "# "+f.Path+"\n"+string(f.Body)); err != nil {
			return err
		}
	}
	return nil
}

// importFindings are the findings of import files, and what is to import.
func importFindings(c *cli.Context, s *check.Session, imports *check.Imports) *report.Findings {
	listed := imports.Listed()
	r := report.NewFindings(listed, s.Notes(imports.Findings))
	r.Endpoint = s.Endpoint()
	r.About = fmt.Sprintf("%s to import in %s", report.Count(imports.Count(), "resource"), strings.Join(s.Project.SelectedNames(), ", "))
	if n := len(listed) - imports.Count(); n > 0 && r.Exit == finding.OK {
		r.About += fmt.Sprintf("; %s below", report.Count(n, "other finding"))
	}
	if c.Bool("verify") && imports.Count() == 0 {
		r.About += "; --verify made no plan"
	}
	if change := r.Changed(); change != "" {
		r.About += "; " + change
	}
	if r.Exit == finding.OK {
		r.Answer = r.About
	}
	return r
}

// verify plans the units, and reports whether the plans do the imports and nothing
// else.
func (e *env) verify(c *cli.Context, s *check.Session, findings []finding.Finding) (proved bool, err error) {
	plans, err := s.PlanImports(c.Context, findings)
	if err != nil {
		return false, err
	}
	proved = true
	for _, p := range plans {
		proved = proved && p.Exact()
		if p.Failed != nil {
			_ = report.Printf(e.out, "%s: the plan failed: %s\n", p.Unit, p.Failed)
			continue
		}
		text := fmt.Sprintf("%s: %d to import, %d to add, %d to change, %d to destroy", p.Unit, p.Imports,
			p.Counts[tf.Create], p.Counts[tf.Update], p.Counts[tf.Delete])
		if n := p.Counts[tf.Forget]; n > 0 {
			text += fmt.Sprintf(", %d to forget", n)
		}
		if p.Settles > 0 {
			text += fmt.Sprintf("; %d settling", p.Settles)
		}
		for _, line := range p.Changes {
			text += "\n  " + line
		}
		if p.Imports != p.Want {
			text += fmt.Sprintf("\n  the import file has %d: run `stackgen render`, then run this command again", p.Want)
		}
		if err := report.Text(e.out, text+"\n"); err != nil {
			return false, err
		}
	}
	return proved, nil
}
