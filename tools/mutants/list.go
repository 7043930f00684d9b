package main

import (
	"fmt"
	"os"
	"strings"
)

// areas are the parts of the product code that faults are drawn from.
var areas = []string{"tf", "guard", "effect", "hardware", "cluster", "lock", "drift", "deploy", "generator", "discover", "adopt"}

// header is the first line of a list.
const header = "id\tfile\tfunction\tkind\tnth\ttext\tsuite\tpackage\ttest"

// readLists reads lists of faults, one a line.
func readLists(paths []string) ([]fault, error) {
	var out []fault
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for n, line := range strings.Split(strings.TrimSuffix(string(body), "\n"), "\n") {
			c := strings.Split(line, "\t")
			if len(c) != 9 {
				return nil, fmt.Errorf("%s:%d: %d columns, want 9", path, n+1, len(c))
			}
			if line != header {
				out = append(out, fault{ID: c[0], File: c[1], Func: c[2], Kind: c[3], Nth: c[4], Text: c[5], Suite: c[6], Package: c[7], Test: c[8]})
			}
		}
	}
	return out, nil
}

func (f fault) row() string {
	return strings.Join([]string{f.ID, f.place(), f.Suite, f.Package, f.Test}, "\t")
}

// gone says that the code of the fault has changed.
func (f fault) gone() error {
	return fmt.Errorf("%s: %s in %s has no %q (%s, number %s) any more: draw another fault", f.ID, f.Func, f.File, f.Text, f.Kind, f.Nth)
}
