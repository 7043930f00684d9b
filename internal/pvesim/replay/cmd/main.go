// Command cmd replays folders of recordings against the simulator. It prints one
// line per difference, and the number of matching exchanges last. With -v it first
// prints the unrecorded steps that it added.
package main

import (
	"flag"
	"fmt"
	"os"

	"stackgen/internal/pvesim/replay"
)

func main() {
	verbose := flag.Bool("v", false, "print the unrecorded steps that were added")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: replay [-v] DIR...")
		os.Exit(2)
	}
	for _, dir := range flag.Args() {
		r, err := replay.Folder(dir)
		if err == nil && *verbose {
			for _, line := range r.Prepared {
				fmt.Println("added: " + line)
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
