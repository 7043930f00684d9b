package cmd

import (
	"cmp"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"stackgen/internal/finding"
	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/internal/selection"
)

// An env is where a command reads from and writes to, and how.
type env struct {
	random, in  io.Reader
	out, errOut io.Writer
	verbose     bool   // --verbose
	folder      string // of the project, if it is not the working directory
}

// open reads a project and decides, and prints its warnings.
func (e *env) open(paths []string) (*project.Project, error) {
	p, err := project.Open(paths)
	if err != nil {
		return nil, err
	}
	e.folder = p.Elsewhere()
	return p, report.Problems(e.errOut, e.options(e.errOut), p.Problems, p.Sources)
}

// openStacks opens the project of a command that works on whole stacks, limited to the paths or
// the stacks that its arguments name.
func (e *env) openStacks(c *cli.Context, args []string) (*project.Project, error) {
	choice, err := choose(args, nil)
	if err != nil {
		return nil, err
	}
	p, err := e.open(choice.Paths)
	if err != nil {
		return nil, err
	}
	names, err := selection.Whole(c.Command.Name, p.Stacks.Stacks, choice.Words)
	p.Limit(names)
	return p, err
}

// locked runs a command while no other command writes the project of some paths.
func (e *env) locked(c *cli.Context, paths []string, out string, run func(*cli.Context) error) error {
	unlock, err := project.LockFolder(c.Context, paths, out, e.progress)
	if err != nil {
		return err
	}
	err = run(c)
	if failed := unlock(); failed != nil {
		_ = report.Error(e.errOut, failed)
		return cmp.Or[error](err, exitCode(exitError))
	}
	return err
}

// blocked prints why a command cannot work on a project.
func (e *env) blocked(w io.Writer, err *project.BlockedError) exitCode {
	p := err.Project
	if report.Problems(w, e.options(w), p.Problems, p.Sources) != nil {
		return exitError
	}
	if !err.Invalid() {
		e.folder = p.Elsewhere()
		return e.refused(w, p.Refusals)
	}
	if err.Then != "" {
		_ = report.Error(w, err)
	}
	return exitError
}

// refused prints why the specs cannot be rendered.
func (e *env) refused(w io.Writer, refusals []finding.Finding) exitCode {
	r := report.NewFindings(refusals, nil)
	r.Action = "render"
	if r.Print(w, e.options(w)) != nil {
		return exitError
	}
	return exitStop
}

// exit ends a command with the exit code of its findings.
func exit(code finding.Severity) error {
	if code == finding.OK {
		return nil
	}
	return exitCode(code)
}

// exitOf is the end of a command that has an exit code or an error.
func exitOf(code finding.Severity, err error) error {
	if err != nil {
		return err
	}
	return exit(code)
}

// progress tells a person what a command is doing.
func (e *env) progress(text string) { _ = report.Printf(e.errOut, "%s\n", text) }

// options say how text is printed to w.
func (e *env) options(w io.Writer) report.Options {
	return report.Options{Color: color(w), Verbose: e.verbose, Folder: e.folder}
}

// color reports whether w is a terminal whose user wants colors.
func color(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
