//go:build unix

package real

import (
	"regexp"
	"slices"
	"strings"
)

// A faultWay is a way out that a refusal offers: a word in its lines, and what
// the apply does that follows them.
type faultWay struct {
	word, does string
	made       []int
}

// faultsWays are ways out that can be gone without asking anybody.
var faultsWays = map[string]faultWay{
	"VM deleted by hand": {"state rm", "1 added, 0 changed, 0 destroyed", []int{300}},
	"apply failed between a clone and its configuration": {"untaint", "0 added, 1 changed, 0 destroyed", nil},
	"pool gone":                     {"state rm", "1 added, 3 changed, 0 destroyed", nil},
	"stale import file, state lost": {"import-blocks", "4 imported, 0 added, 0 changed, 0 destroyed", nil},
}

// faultLine is a line to run in a refusal.
var faultLine = regexp.MustCompile(`(?m)^         (\S.*)$`)

// wayOut has the apply refused, runs the lines that it offers, and applies again.
func wayOut(w *faultCell, f fault) {
	way := faultsWays[f.name]
	said := w.apply().said
	ran := false
	for _, step := range strings.Split(said, "\n     > ") {
		if !strings.Contains(step, way.word) || ran {
			continue
		}
		for _, m := range faultLine.FindAllStringSubmatch(step, -1) {
			w.must(w.run(".", nil, "sh", "-c", m[1]))
			ran = true
		}
	}
	if !ran {
		w.Fatalf("no way out with %q is offered\n%s", way.word, said)
	}
	w.told(faultEnd{says: way.does}, w.apply)
	if w.must(w.stackgen("import-blocks")); !w.Failed() {
		w.settled()
	}
	w.held(slices.Concat(f.made, way.made), f.foreign)
}
