// Command cmd replays folders of recordings against the simulator: one line
// per difference, and the figure last.
package main

import (
	"fmt"
	"os"

	"stackgen/internal/pvesim/replay"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: replay DIR...")
		os.Exit(2)
	}
	for _, dir := range os.Args[1:] {
		r, err := replay.Folder(dir)
		if err == nil {
			err = r.Print(os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
