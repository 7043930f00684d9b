// Command cmd replays folders of recordings against the simulator: one line
// per difference, and the figure last. With -v it first says which unrecorded
// steps it made up for.
package main

import (
	"flag"
	"fmt"
	"os"

	"stackgen/internal/pvesim/replay"
)

func main() {
	verbose := flag.Bool("v", false, "say which unrecorded steps were made up for")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: replay [-v] DIR...")
		os.Exit(2)
	}
	for _, dir := range flag.Args() {
		r, err := replay.Folder(dir)
		if err == nil && *verbose {
			for _, line := range r.Prepared {
				fmt.Println("prepared: " + line)
			}
		}
		if err == nil {
			err = r.Print(os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
