//go:build unix

package real

import (
	"regexp"
	"slices"
	"strings"
)

// A recovery is a step of a refusal: part of its command lines, and the result of the
// apply after them.
type recovery struct {
	line, applied string
	created       []int
}

// recoveryCommand is a command line in a refusal.
var recoveryCommand = regexp.MustCompile(`(?m)^      (\S.*)$`)

// applyRecovery applies, runs the command lines of the refusal, and applies again.
func applyRecovery(w *faultCase, f *fault) {
	r := f.recovery
	output := w.apply().output
	ran := false
	for _, step := range strings.Split(output, "\n  > ") {
		if !strings.Contains(step, r.line) || ran {
			continue
		}
		for _, m := range recoveryCommand.FindAllStringSubmatch(step, -1) {
			w.must(w.run(".", nil, "sh", "-c", m[1]))
			ran = true
		}
	}
	if !ran {
		w.Fatalf("the refusal has no step with %q\n%s", r.line, output)
	}
	w.expectOutcome(outcome{contains: r.applied}, w.apply)
	w.must(w.stackgen("import-blocks"))
	w.settle(w.stackgen("preflight"))
	w.checkEmptyPlan()
	w.checkInvariants(f, slices.Concat(f.created, r.created))
}
