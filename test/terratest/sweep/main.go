// Command sweep removes what a killed run of the suites left on the cluster that
// PROXMOX_VE_* and STACKGEN_TEST_* name: VMs with the suites' tag in their range of
// VMIDs, and their empty pools. With -n it only prints what it would remove.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"stackgen/test/terratest/lab"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("sweep", flag.ContinueOnError)
	flags.SetOutput(errOut)
	look := flags.Bool("n", false, "only say what would be removed")
	if err := flags.Parse(args); err != nil {
		return 1
	}
	settings, err := lab.Read(os.Getenv)
	if flags.NArg() > 0 {
		err = fmt.Errorf("sweep takes no argument %q", flags.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cluster := lab.Open(settings)
	cluster.DryRun = *look
	swept, err := cluster.Sweep(ctx)
	verb := map[bool]string{false: "removed", true: "would remove"}[*look]
	for _, what := range swept.Removed {
		fmt.Fprintln(out, verb, what)
	}
	for _, what := range swept.Kept {
		fmt.Fprintf(out, "kept %s: it is not the suites'\n", what)
	}
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	fmt.Fprintf(out, "%s %d in %d-%d, kept %d\n", verb, len(swept.Removed), settings.First, settings.Last, len(swept.Kept))
	return 0
}
