//go:build unix

package real

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFaults injects every fault of the matrix into a simulated cluster with a stack
// that the real provider created. Then one user applies, and another runs
// import-blocks first. No guest may be created twice or destroyed, and no guest
// outside of the stack written. The outputs are the table in docs/faults.md.
func TestFaults(t *testing.T) {
	base := newFaultTemplate(t)
	rows := make([][2]string, len(faults()))
	t.Run("cells", func(t *testing.T) {
		for i, f := range faults() {
			f.cell(t, base, "apply", func(w *faultCase) { rows[i][0] = plainApply(w, f) })
			f.cell(t, base, "import-blocks", func(w *faultCase) { rows[i][1] = importsFirst(w, f) })
			if recoveries[f.name].line != "" {
				f.cell(t, base, "recovery", func(w *faultCase) { applyRecovery(w, f) })
			}
			if harmWithoutGuard[f.name] != "" {
				f.cell(t, base, "unguarded", func(w *faultCase) { applyUnguarded(w, f) })
			}
		}
	})
	for _, row := range rows {
		if row[0] == "" || row[1] == "" {
			return // a cell failed, or -run selected some of them
		}
	}
	faultTable(t, rows)
}

// cell injects the fault into a copy of the cluster and the project, and runs a function on it.
func (f fault) cell(t *testing.T, base *faultTemplate, name string, run func(*faultCase)) {
	t.Run(strings.ReplaceAll(f.name, " ", "-")+"/"+name, func(t *testing.T) {
		t.Parallel()
		var seeds []seedChange
		if f.seed != nil {
			seeds = append(seeds, f.seed)
		}
		w := base.cell(t, seeds...)
		if name == "unguarded" {
			w.guardOff = true
			w.spec(faultSpec+faultLast, true)
		}
		f.event(w)
		if w.before == nil {
			w.before = w.guests()
		}
		run(w)
	})
}

// plainApply applies after the fault.
func plainApply(w *faultCase, f fault) string {
	out := w.expectOutcome(f.apply, w.apply)
	if f.apply.verdicts == "" {
		w.checkEmptyPlan()
	}
	w.checkInvariants(slices.Concat(f.created, f.apply.created), f.foreign)
	return out
}

// importsFirst runs import-blocks, and applies. If import-blocks refuses, the apply must
// refuse, too.
func importsFirst(w *faultCase, f fault) string {
	importBlocks := func() commandResult { return w.stackgen("import-blocks") }
	var out string
	if f.imports.verdicts != "" {
		out = w.expectOutcome(f.imports, importBlocks)
		w.expectOutcome(outcome{verdicts: f.imports.verdicts, contains: f.imports.contains}, w.apply)
	} else {
		w.must(importBlocks())
		out = w.expectOutcome(f.imports, w.apply)
		w.must(importBlocks())
		w.checkEmptyPlan()
	}
	w.checkInvariants(slices.Concat(f.created, f.imports.created), f.foreign)
	return out
}

// checkEmptyPlan fails unless the plan is empty.
func (w *faultCase) checkEmptyPlan() {
	w.Helper()
	r := w.run("stacks/live", nil, "terragrunt", "stack", "run", "plan", "--non-interactive", "--", "-detailed-exitcode")
	if r.code != 0 {
		w.Errorf("the plan is not empty at the end: exit %d\n%s", r.code, r.output)
	}
}

var (
	// A line of a report: severity, kind, address, what else is known of it, and
	// the reason after two spaces.
	faultFinding = regexp.MustCompile(`(blocked|failed|outdated) +([a-z-]+) +live/([a-z0-9-]+)(?: ?\S+)*  +(\S.*)`)
	faultApplied = regexp.MustCompile(`Apply complete! Resources: (?:(\d+) imported, )?(\d+) added, (\d+) changed, (\d+) destroyed`)
)

// expectOutcome runs a command and returns its output as one line. It fails unless that
// is the expected outcome, or if a refused command has written.
func (w *faultCase) expectOutcome(want outcome, run func() commandResult) string {
	w.Helper()
	writes := w.sim.Counters().Writes
	r := run()
	out := summarizeApplies(r.output)
	if r.code != 0 {
		out = summarizeRefusal(r.output)
	}
	refused := want.verdicts != ""
	if refused != (r.code != 0) || refused && !strings.HasPrefix(out, "blocked, "+want.verdicts+":") || !strings.Contains(out, want.contains) {
		w.Errorf("%s: exit %d, output: %s\nwant %+v\n%s", r.line, r.code, out, want, r.output)
	}
	if n := w.sim.Counters().Writes - writes; refused && n > 0 {
		w.Errorf("%s was refused after %d writes", r.line, n)
	}
	return out
}

// summarizeApplies adds up the results of the units' applies.
func summarizeApplies(output string) string {
	var sum [4]int
	for _, m := range faultApplied.FindAllStringSubmatch(output, -1) {
		for i := range sum {
			var n int
			_, _ = fmt.Sscan(m[i+1], &n) // "imported" is optional
			sum[i] += n
		}
	}
	out := fmt.Sprintf("%d imported, %d added, %d changed, %d destroyed", sum[0], sum[1], sum[2], sum[3])
	if sum == [4]int{} {
		return "right: nothing to do"
	}
	return "right: " + out + "; then nothing to do"
}

// summarizeRefusal is a refusal as one line: its kinds, their keys, and the first
// reason. What is outdated counts only if nothing else blocks.
func summarizeRefusal(output string) string {
	found := faultFinding.FindAllStringSubmatch(output, -1)
	blocked := slices.DeleteFunc(slices.Clone(found), func(m []string) bool { return m[1] == "outdated" })
	if len(blocked) > 0 {
		found = blocked
	}
	if len(found) == 0 {
		return "blocked, without a finding"
	}
	var kinds []string
	keys := map[string][]string{}
	for _, m := range found {
		kind, key := m[2], m[3]
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		if !slices.Contains(keys[kind], key) {
			keys[kind] = append(keys[kind], key)
		}
	}
	var out []string
	for _, kind := range kinds {
		out = append(out, kind+" "+strings.Join(keys[kind], " "))
	}
	return "blocked, " + strings.Join(out, "; ") + ": " + found[0][4]
}

// faultTable compares the results with the documentation.
func faultTable(t *testing.T, rows [][2]string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "| what happened | `terragrunt stack run apply` | `stackgen import-blocks`, then apply |\n|---|---|---|\n")
	for i, f := range faults() {
		if rows[i][1] == rows[i][0] {
			rows[i][1] = "the same"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.name, faultText.Replace(rows[i][0]), faultText.Replace(rows[i][1]))
	}
	file := filepath.Join(repository, "docs", "faults.md")
	body, err := os.ReadFile(file)
	check(t, err)
	before, rest, found := strings.Cut(string(body), "<!-- the matrix -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end -->\n")
	if !found || !ended {
		t.Fatalf("%s has no markers for the matrix", file)
	}
	want := before + "<!-- the matrix -->\n" + b.String() + "<!-- end -->\n" + after
	if os.Getenv("UPDATE") != "" {
		check(t, os.WriteFile(file, []byte(want), 0o666))
		return
	}
	if string(body) != want {
		t.Errorf("%s differs from the results; UPDATE=1 writes them:\n%s", file, b.String())
	}
}

var faultText = strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;")
