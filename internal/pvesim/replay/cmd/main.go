// Command cmd replays folders of recordings against the simulator. It prints a
// table of the families of recordings, and every difference with its reason. It
// fails if a difference has no reason, and with -all if a reason explains nothing.
// With -v it first prints the unrecorded steps that it added.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"stackgen/internal/pvesim/replay"
)

func main() {
	verbose := flag.Bool("v", false, "print the unrecorded steps that were added")
	all := flag.Bool("all", false, "the folders are all that there are reasons for: fail if one explains nothing")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: replay [-v] [-all] DIR...")
		os.Exit(2)
	}
	r, err := replay.Folders(flag.Args()...)
	if err == nil && *verbose {
		for _, line := range r.Prepared {
			fmt.Println("added: " + line)
		}
	}
	if err == nil {
		err = r.Print(os.Stdout)
	}
	if n := 0; err == nil {
		if n = len(r.Unexplained()); n > 0 {
			err = fmt.Errorf("%d differences have no reason", n)
		}
	}
	if err == nil && *all {
		for _, reason := range replay.Unused(r.Differences) {
			err = errors.Join(err, fmt.Errorf("explains nothing: %s", reason))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
