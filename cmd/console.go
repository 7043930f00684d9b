package cmd

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"stackgen/internal/operate"
	"stackgen/internal/report"
)

func (e *env) consoleCommand() *cli.Command {
	return &cli.Command{
		Name:      "console",
		Usage:     "print the address of the console of a VM or container",
		ArgsUsage: "KEY | STACK/KEY",
		Description: "Prints the address of Proxmox VE's own page with the screen of a guest (noVNC),\n" +
			"on the node where it is now. The page needs a login there, with VM.Console on the\n" +
			"guest. Exit codes: 0 done; 1 not possible; 3 another guest has its VMID.",
		Flags: []cli.Flag{
			memberFlag(),
			&cli.BoolFlag{Name: "open", Usage: "also open it in a browser"},
			inventoryFlag(),
		},
		OnUsageError: usageError,
		Action:       e.console,
	}
}

func (e *env) console(c *cli.Context) error {
	choice, err := operate.Choose(c.Args().Slice(), c.StringSlice("member"))
	if err != nil {
		return err
	}
	if c.Bool("open") && c.IsSet("inventory") {
		return errors.New("--open does not open an address that a file says: remove --inventory")
	}
	if len(choice.Words)+len(choice.Members) == 0 {
		return errors.New("console needs a guest: KEY, STACK/KEY or --member NAME")
	}
	p, err := e.open(choice.Paths)
	if err != nil {
		return err
	}
	view, err := operate.Look(c.Context, p, choice, e.sources(c), false)
	if err != nil {
		return err
	}
	if n := len(view.VMs); n != 1 {
		return fmt.Errorf("console is for one guest, and these are %d; `stackgen status --html FILE` has the links to all of them", n)
	}
	vm := &view.VMs[0]
	if text, fix := vm.Problem(); text != "" {
		if fix != "" {
			text += "\n  > " + view.Step(fix)
		}
		_ = report.Text(e.errOut, "stackgen: "+vm.String()+": "+text+"\n")
		if vm.Holder != nil {
			return exitCode(exitStop)
		}
		return exitCode(exitError)
	}
	if grants := view.ConsoleGrants(vm); len(grants) > 0 {
		text := "note: these credentials lack VM.Console on " + vm.String() + "; who logs in at this address needs it:\n"
		_ = report.Text(e.errOut, text+"  > "+strings.Join(grants, "\n  > ")+"\n")
	}
	address := view.Console(vm)
	if err := report.Printf(e.out, "%s\n", address); err != nil || !c.Bool("open") {
		return err
	}
	return browse(address)
}

// browse opens an address in the user's browser.
func browse(address string) error {
	command, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		command = "open"
	case "windows":
		command, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	if err := exec.Command(command, args...).Run(); err != nil {
		return fmt.Errorf("the browser cannot be opened with %s: %w", command, err)
	}
	return nil
}
