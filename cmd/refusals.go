package cmd

import (
	"fmt"
	"io"

	"stackgen/internal/lock"
)

// printRefusals says what was refused, and the ways out.
func printRefusals(w io.Writer, refusals []lock.Refusal) {
	for _, r := range refusals {
		fmt.Fprintf(w, "STOP %s: %s.\n", r.Address, r.Message)
		for i, way := range r.Ways {
			fmt.Fprintf(w, "  %d. %s\n", i+1, way.What)
			for _, line := range way.Lines {
				fmt.Fprintf(w, "       %s\n", line)
			}
		}
	}
}
