package cmd

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/generator"
	"stackgen/internal/disk"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/report"
	"stackgen/schema"
)

func (e *env) importBlocksCommand() *cli.Command {
	return &cli.Command{
		Name:      "import-blocks",
		Usage:     "write the import files for everything that is safe to adopt",
		ArgsUsage: "[PATH...]",
		Description: "Writes stacks/STACK/imports/UNIT.tf for the VMs, pools and records that exist,\n" +
			"are certainly ours and are in no state. Each run writes them anew, and removes\n" +
			"those with nothing to import; they are valid for one apply. What cannot be\n" +
			"adopted is listed and stops nothing else. Exit codes: 0 done, 1 not possible,\n" +
			"2 --check found them out of date, 3 STOP: something must be settled first.",
		Flags: append(e.judgeFlags(),
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit 2 if an import file is out of date"},
			&cli.BoolFlag{Name: "verify", Usage: "then plan the units, and prove that nothing is added, changed or destroyed"},
			&cli.StringFlag{Name: "out", Usage: "`-` prints the import blocks and writes nothing"}),
		OnUsageError: usageError,
		Action:       e.importBlocks,
	}
}

func (e *env) importBlocks(c *cli.Context) (err error) {
	out, check := c.String("out"), c.Bool("check")
	if err := importFlags(c); err != nil {
		return err
	}
	root, err := renderRoot(c)
	if err != nil {
		return err
	}
	if out == "" && !check {
		ctx, cancel := context.WithTimeout(c.Context, lockWait)
		defer cancel()
		unlock, lockErr := disk.Lock(ctx, root, func(message string) { fmt.Fprintln(e.errOut, message) })
		if lockErr != nil {
			return lockErr
		}
		defer func() { err = cmp.Or(err, unlock()) }()
	}
	j, err := e.prepare(c.Args().Slice())
	if err != nil {
		return err
	}
	if err := j.look(c); err != nil {
		return err
	}
	verdicts := guard.Judge(j.input)
	files, err := j.importFiles(verdicts)
	if err != nil {
		return err
	}
	code := exitCode(finding.Exit(verdicts))
	switch {
	case out != "":
		for _, f := range files {
			fmt.Fprintf(e.out, "# %s\n%s", f.Path, f.Body)
		}
	default:
		differs, err := j.writeImports(files, check)
		if err != nil {
			return err
		}
		if check && differs && code == exitDone {
			code = exitDiffers
		}
	}
	if c.Bool("verify") {
		proved, err := j.verify(c.Context, verdicts)
		if err != nil {
			return err
		}
		if !proved {
			code = exitStop
		}
	}
	return j.importReport(verdicts, code)
}

// importFlags refuses flags that exclude each other.
func importFlags(c *cli.Context) error {
	out, check := c.String("out"), c.Bool("check")
	switch {
	case c.IsSet("out") && out != "-":
		return fmt.Errorf("--out takes - only, for standard output; the files' places are fixed")
	case out != "" && check:
		return fmt.Errorf("--check and --out exclude each other")
	case c.Bool("verify") && (check || out != ""):
		return fmt.Errorf("--verify plans with the files that were written; remove --check and --out")
	}
	return nil
}

// importFiles renders the import file of every unit that has something to
// import. A unit that has nothing has no file.
func (j *judging) importFiles(verdicts []finding.Finding) ([]disk.File, error) {
	adoptions := guard.Adoptions(verdicts)
	stacks := map[string]*schema.Stack{}
	for _, s := range j.project.Stacks.Stacks {
		stacks[s.Name] = s
	}
	var out []disk.File
	for _, u := range j.units() {
		var list []generator.Import
		for _, a := range adoptions[u] {
			list = append(list, generator.Import(a))
		}
		if len(list) == 0 {
			continue
		}
		f, err := generator.Imports(stacks[u.Stack], u.Unit, list)
		if err != nil {
			return nil, fmt.Errorf("a defect of stackgen, please report it: %w", err)
		}
		out = append(out, disk.File{Path: f.Path, Body: f.Body})
	}
	return out, nil
}

// writeImports makes the import files what they should be, or with check says
// which are not.
func (j *judging) writeImports(files []disk.File, check bool) (differs bool, err error) {
	var roots []string
	for _, s := range j.project.Stacks.Stacks {
		if j.project.Selected(s.Name) {
			roots = append(roots, "stacks/"+s.Name+"/imports")
		}
	}
	changes, err := disk.Compare(j.project.Root, files, disk.Options{
		Marker:  func(line []byte) bool { return bytes.Contains(line, []byte(generator.Marker)) },
		Managed: func(string) bool { return true },
		Roots:   roots,
	})
	if err != nil {
		return false, err
	}
	if err := report.Changes(j.out, j.project.Root, reported(changes, check, false)); err != nil {
		return false, err
	}
	if check {
		return len(changes) > 0, nil
	}
	// A file that is not ours blocks itself and no other.
	refused := slices.ContainsFunc(changes, func(c disk.Change) bool { return c.Kind == disk.Refused })
	changes = slices.DeleteFunc(changes, func(c disk.Change) bool { return c.Kind == disk.Refused })
	if err := disk.Apply(j.project.Root, changes); err != nil {
		return false, err
	}
	if refused {
		return true, fmt.Errorf("not all import files could be written; see above")
	}
	return len(changes) > 0, nil
}

// importReport prints what is imported, and what is not and why.
func (j *judging) importReport(found []finding.Finding, code exitCode) error {
	imports := 0
	listed := slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool {
		adopted := f.Kind == finding.Adopt && !f.Stops()
		if adopted {
			imports++
		}
		return !adopted && !f.Stops() && f.Kind != finding.Orphan
	})
	var names []string
	for _, s := range j.project.Stacks.Stacks {
		if j.project.Selected(s.Name) {
			names = append(names, s.Name)
		}
	}
	if j.unrendered {
		listed = append(j.behind(finding.Outdated), listed...)
	}
	r := report.NewFindings(listed, j.notes)
	r.Answer = fmt.Sprintf("%s to import in %s", report.Count(imports, "resource"), strings.Join(names, ", "))
	if n := len(listed) - imports; n > 0 {
		r.Answer += fmt.Sprintf("; %s below", report.Count(n, "other finding"))
	}
	if err := r.Print(j.errOut, report.Options{Color: color(j.errOut), Verbose: j.verbose}); err != nil {
		return err
	}
	switch {
	case code == exitDone && j.unrendered:
		return exitCode(exitError) // an apply would not know what was just written
	case code == exitDone:
		return nil
	}
	return code
}
