package cmd

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/project"
	"stackgen/internal/report"
	"stackgen/schema"
)

// The exit codes of all commands.
const (
	exitDone    = 0 // done, or nothing to say
	exitError   = 1 // it could not be done
	exitDiffers = 2 // something differs; only from commands that check
	exitStop    = 3 // blocked
)

// An exitCode ends a command that has printed everything.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs one command line and returns its exit code. Results go to out,
// progress and problems to errOut. random is where the id of a new project comes from.
func Main(args []string, random, in io.Reader, out, errOut io.Writer) int {
	// A fifth less time for a render of a thousand VMs; one of ten thousand needs 0.6 GiB.
	debug.SetGCPercent(200)
	e := &env{random: random, in: in, out: out, errOut: errOut}
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

func (e *env) app() *cli.App {
	app := &cli.App{
		Name:                 "stackgen",
		Usage:                "render Proxmox VE stacks for OpenTofu and Terragrunt, without surprises",
		Version:              buildVersion(),
		Writer:               e.out,
		ErrWriter:            e.errOut,
		EnableBashCompletion: true,
		HideHelpCommand:      true,
		ExitErrHandler:       func(*cli.Context, error) {}, // only Main exits
		OnUsageError:         usageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c)
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{e.initCommand(), e.validateCommand(), e.renderCommand(), e.schemaCommand(), e.snapshotCommand(),
			e.resolveCommand(), e.preflightCommand(), e.guardCommand(), e.importBlocksCommand(), e.adoptCommand(), e.discoverCommand(),
			e.applyCommand(), e.destroyCommand(), e.rebuildCommand(), e.driftCommand(), e.statusCommand(), e.powerCommand(), e.restartCommand(),
			e.checkpointCommand(), e.resetCommand(), e.consoleCommand(), e.outputsCommand(), e.simCommand(), e.completionCommand(), e.manCommand()},
	}
	for _, command := range app.Commands {
		command.HideHelpCommand = true // `stackgen render help` renders the folder help
	}
	return app
}

func usageError(c *cli.Context, err error, _ bool) error {
	name := "stackgen"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "stackgen" {
		name += " " + c.Command.Name
	}
	near := ""
	if flag, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown && c.Command != nil {
		var names []string
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
		near = nearestOf(strings.TrimLeft(flag, "-"), names, "--")
	}
	if near != "" {
		return fmt.Errorf("%w%s See `%s --help`", err, near, name)
	}
	return fmt.Errorf("%w; see `%s --help`", err, name)
}

// elsewhere are commands of other tools, and what to use.
var elsewhere = map[string]string{
	"check":    "`stackgen validate` checks specs, and `stackgen preflight` what an apply would do",
	"create":   "add the VM or container to a spec; `stackgen apply` creates it",
	"delete":   "list the VM or container under retired: in its spec; `stackgen apply` destroys it",
	"diff":     "`stackgen render --diff` compares files, and `stackgen drift` the cluster",
	"import":   "`stackgen import-blocks` writes the import files, and `stackgen adopt` the spec",
	"plan":     "`stackgen apply --dry-run` shows what an apply would do",
	"reboot":   "`stackgen power reboot STACK/KEY` reboots a guest",
	"refresh":  "every command reads the cluster itself",
	"remove":   "list the VM or container under retired: in its spec; `stackgen apply` destroys it",
	"rollback": "`stackgen reset STACK/KEY` takes a guest back to its checkpoint",
	"shutdown": "`stackgen power shutdown STACK/KEY` shuts a guest down",
	"ssh":      "`stackgen outputs --format ssh` prints a configuration for ssh",
	"start":    "`stackgen power start STACK/KEY` starts a guest",
	"stop":     "`stackgen power stop STACK/KEY` stops a guest",
}

func unknownCommand(c *cli.Context) error {
	name := c.Args().First()
	if text := elsewhere[name]; text != "" {
		return fmt.Errorf("there is no command %q: %s", name, text)
	}
	var names []string
	for _, known := range c.App.Commands {
		names = append(names, known.Names()...)
	}
	if near := nearestOf(name, names, ""); near != "" {
		return fmt.Errorf("there is no command %q%s `stackgen --help` lists them", name, near)
	}
	return fmt.Errorf("there is no command %q; `stackgen --help` lists them", name)
}

// nearestOf asks whether a name was meant that is spelt alike.
func nearestOf(word string, names []string, prefix string) string {
	near := schema.Nearest(word, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean `%s%s`?", prefix, near)
}
