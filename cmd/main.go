// Package cmd turns command lines into calls, and what comes back into text and
// an exit code: one file for each command. It is where files are found and read;
// what they mean is decided elsewhere.
package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/finding"
	"stackgen/internal/project"
	"stackgen/internal/report"
)

// The exit codes of all commands.
const (
	exitDone    = 0 // done, or nothing to say
	exitError   = 1 // it could not be done
	exitDiffers = 2 // something differs; only from commands that look
	exitStop    = 3 // a guard refused
)

// version is set by the Makefile; otherwise the module's own is used.
var version string

// An exitCode ends a command that has already said everything.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs one command line and returns its exit code. Results go to out,
// progress and problems to errOut.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	// A fifth less time for a render of a thousand VMs; one of ten thousand needs 0.6 GiB.
	debug.SetGCPercent(200)
	e := &env{in: in, out: out, errOut: errOut}
	app := e.app()
	args, err := permute(app, args)
	if err == nil {
		err = app.Run(args)
	}
	code := exitCode(exitDone)
	var blocked *project.BlockedError
	switch {
	case err == nil:
	case errors.As(err, &code):
	case errors.As(err, &blocked):
		code = e.blocked(errOut, blocked)
	default:
		_ = report.Error(errOut, err)
		code = exitError
	}
	return int(code)
}

// An env is where a command reads from and writes to, and how.
type env struct {
	in          io.Reader
	out, errOut io.Writer
	verbose     bool // --verbose
}

// open reads a project and decides, and prints its warnings.
func (e *env) open(paths []string) (*project.Project, error) {
	p, err := project.Open(paths)
	if err != nil {
		return nil, err
	}
	return p, report.Problems(e.errOut, e.options(e.errOut), p.Problems, p.Sources)
}

// blocked prints why a command cannot work on a project.
func (e *env) blocked(w io.Writer, err *project.BlockedError) exitCode {
	p := err.Project
	if report.Problems(w, e.options(w), p.Problems, p.Sources) != nil {
		return exitError
	}
	if !err.Invalid() {
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

// progress tells a person what a command is doing.
func (e *env) progress(text string) { _ = report.Printf(e.errOut, "%s\n", text) }

// options say how text is printed to w.
func (e *env) options(w io.Writer) report.Options {
	return report.Options{Color: color(w), Verbose: e.verbose}
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

func (e *env) app() *cli.App {
	return &cli.App{
		Name:                 "stackgen",
		Usage:                "render Proxmox VE stacks for OpenTofu and Terragrunt, without surprises",
		Version:              buildVersion(),
		Writer:               e.out,
		ErrWriter:            e.errOut,
		EnableBashCompletion: true,
		HideHelpCommand:      true,
		ExitErrHandler:       func(*cli.Context, error) {}, // Main exits, nobody else
		OnUsageError:         usageError,
		CommandNotFound:      nil,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return fmt.Errorf("there is no command %q; `stackgen --help` lists them", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{e.initCommand(), e.validateCommand(), e.renderCommand(), e.schemaCommand(), e.snapshotCommand(),
			e.preflightCommand(), e.guardCommand(), e.importBlocksCommand(), e.adoptCommand(), e.simCommand(), e.completionCommand()},
	}
}

func usageError(c *cli.Context, err error, _ bool) error {
	name := "stackgen"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "stackgen" {
		name += " " + c.Command.Name
	}
	return fmt.Errorf("%w; see `%s --help`", err, name)
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// permute puts a command's flags before its paths, wherever they were given:
// the flag package stops at the first path and would take what follows for
// paths too.
func permute(app *cli.App, args []string) ([]string, error) {
	at := slices.IndexFunc(args[min(1, len(args)):], func(a string) bool { return !strings.HasPrefix(a, "-") }) + 1
	if at == 0 || at >= len(args) || args[len(args)-1] == "--generate-bash-completion" {
		return args, nil
	}
	command := app.Command(args[at])
	if command == nil {
		return args, nil
	}
	var flags, paths []string
	rest := args[at+1:]
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == "--":
			paths = append(paths, rest[i+1:]...)
			i = len(rest)
		case a == "-" || !strings.HasPrefix(a, "-"):
			paths = append(paths, a)
		default:
			flags = append(flags, a)
			if takesValue(command, a) {
				if i++; i >= len(rest) {
					return nil, fmt.Errorf("flag %s needs a value; see `stackgen %s --help`", a, command.Name)
				}
				flags = append(flags, rest[i])
			}
		}
	}
	if len(paths) > 0 {
		paths = append([]string{"--"}, paths...)
	}
	return slices.Concat(args[:at+1], flags, paths), nil
}

// takesValue reports whether the next argument belongs to a flag.
func takesValue(command *cli.Command, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	for _, f := range command.Flags {
		if _, isBool := f.(*cli.BoolFlag); slices.Contains(f.Names(), name) {
			return !isBool
		}
	}
	return false
}
