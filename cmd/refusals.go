package cmd

import (
	"fmt"
	"io"
	"strings"

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

// harmlessRefusal returns a refusal without secrets and control characters.
func harmlessRefusal(r lock.Refusal) lock.Refusal {
	for i := range r.Ways {
		w := &r.Ways[i]
		w.What = strings.ReplaceAll(visibleLines(w.What), "\n", " ")
		for k := range w.Lines {
			w.Lines[k] = visibleLines(w.Lines[k])
		}
	}
	return r
}
