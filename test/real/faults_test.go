//go:build unix

package real

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// faultLevels are the levels of the guard at which every fault is caused.
var faultLevels = []string{"full", "fast"}

// A faultRow is the results of a fault: by level, of an apply and of import-blocks and
// an apply; and without the guard.
type faultRow struct {
	guarded [2][2]string
	off     string
}

// TestFaults injects every fault of the matrix into a simulated cluster with a stack
// that the real provider created. Then one user applies, and another runs
// import-blocks first. No guest may be created twice or destroyed, and no guest
// outside of the stack written. The outputs are the table in docs/dev/faults.md.
//
// All tests together run only the cells of `guard: full`, and only the second user's
// where both end alike; if this test is named, it runs all cells.
func TestFaults(t *testing.T) {
	t.Parallel()
	levels, off := faultLevels, true
	if !strings.Contains(testFilter(), "TestFaults") {
		levels, off = faultLevels[:1], false
		t.Logf("not run: the cells with `guard: fast` and `guard: off`, and plain applies that end as after import-blocks; `make faults` runs them")
	}
	tools := findFaultTools(t)
	stack, pooled := &faultWorld{build: faultStack}, &faultWorld{build: faultStack, pool: true}
	all := faults()
	rows := make([]faultRow, len(all))
	t.Run("cells", func(cells *testing.T) {
		for i := range all {
			f, row := &all[i], &rows[i]
			switch {
			case f.world == nil && f.pool:
				f.world = pooled
			case f.world == nil:
				f.world = stack
			}
			f.world.tools = tools
			if f.byPlan {
				row.guarded[1] = [2]string{notLookedAt, notLookedAt}
			}
			for n, level := range levels {
				if f.byPlan && level == "fast" {
					continue
				}
				if off || !reflect.DeepEqual(f.apply, f.imports) {
					f.cell(t, cells, level, "apply", func(w *faultCase) { row.guarded[n][0] = plainApply(w, f) })
				}
				f.cell(t, cells, level, "import-blocks", func(w *faultCase) { row.guarded[n][1] = importsFirst(w, f) })
			}
			if f.recovery.line != "" {
				f.cell(t, cells, "full", "recovery", func(w *faultCase) { applyRecovery(w, f) })
			}
			if off && f.noHarmRun == "" {
				f.cell(t, cells, "off", "apply", func(w *faultCase) { row.off = applyUnguarded(w, f) })
			}
		}
	})
	faultTable(t, all, rows)
}

// notLookedAt is the result at `guard: fast` of what only a plan shows.
const notLookedAt = "not looked at, because it makes no plan"

// testFilter is the argument of -run.
func testFilter() string { return flag.Lookup("test.run").Value.String() }

// cell injects the fault into a copy of its world with a level of the guard, and runs a
// function on it.
func (f *fault) cell(all, t *testing.T, level, name string, run func(*faultCase)) {
	t.Run(strings.ReplaceAll(f.name, " ", "-")+"/"+level+"/"+name, func(t *testing.T) {
		t.Parallel()
		var seeds []seedChange
		if f.seed != nil {
			seeds = append(seeds, f.seed)
		}
		w := f.world.copy(all, t, seeds...)
		w.level(level)
		f.event(w)
		if w.before == nil {
			w.before = stateOf(w.sim)
		}
		run(w)
	})
}

// applied runs the command of the first column.
func (f *fault) applied(w *faultCase) func() commandResult {
	if f.command != nil {
		return func() commandResult { return f.command(w) }
	}
	return w.apply
}

// outcomes are the outcomes at the level of the guard.
func (f *fault) outcomes(w *faultCase) fastOutcomes {
	if f.fast != nil && w.guard == "fast" {
		return *f.fast
	}
	return fastOutcomes{f.apply, f.imports}
}

// plainApply applies after the fault.
func plainApply(w *faultCase, f *fault) string {
	want := f.outcomes(w).apply
	out := w.expectOutcome(want, f.applied(w))
	if want.verdicts == "" {
		w.checkEmptyPlan()
	}
	w.checkInvariants(f, slices.Concat(f.created, want.created))
	return out
}

// importsFirst runs import-blocks, and applies. If import-blocks refuses, the apply must
// refuse, too.
func importsFirst(w *faultCase, f *fault) string {
	want := f.outcomes(w).imports
	importBlocks := func() commandResult { return w.stackgen("import-blocks") }
	var out string
	if want.verdicts != "" && !want.afterImport {
		out = w.expectOutcome(want, importBlocks)
		w.expectOutcome(outcome{verdicts: want.verdicts, contains: want.contains}, f.applied(w))
	} else {
		w.must(importBlocks())
		out = w.expectOutcome(want, f.applied(w))
		if want.verdicts == "" {
			r := w.stackgen("preflight") // the import files have no effect any more
			w.must(r)
			w.must(importBlocks())
			w.settle(r)
			w.checkEmptyPlan()
		}
	}
	w.checkInvariants(f, slices.Concat(f.created, want.created))
	return out
}

// settle applies once more after an import, if the result of preflight says that this sets
// what only the provider knows. A state that replaces a recorded one must be recorded first.
func (w *faultCase) settle(r commandResult) {
	w.Helper()
	if strings.Contains(r.output, "resolve --new-state live") {
		w.must(w.stackgen("resolve", "--new-state", "live"))
		r = w.stackgen("preflight")
	}
	if strings.Contains(r.output, " settling ") || strings.Contains(r.output, "(in the state only)") {
		w.must(w.apply())
	}
}

// applyUnguarded applies with `guard: off`, and returns the harm that this does. It
// fails unless that is what the row expects, which proves that violations finds harm.
func applyUnguarded(w *faultCase, f *fault) string {
	r := f.applied(w)()
	var harm []string
	for _, v := range w.violations(f, nil) {
		fresh := slices.Concat(f.created, f.apply.created)
		if !strings.HasPrefix(v.what, triesToCreate) && !slices.ContainsFunc(fresh, func(id int) bool { return v.what == fmt.Sprintf("creates %d", id) }) {
			harm = append(harm, v.what)
		}
	}
	got := strings.Join(harm, "; ")
	if got != f.harm {
		w.Errorf("without the guard, the apply %q, want %q: exit %d\n%s", got, f.harm, r.code, r.output)
	}
	switch {
	case got != "":
		return got
	case r.code != 0:
		return "no harm: it fails"
	}
	return "no harm"
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
	faultFinding = regexp.MustCompile(`(blocked|failed|outdated) +([a-z-]+) +(?:live/)?([a-z0-9][a-z0-9./*-]*)(?: ?\S+)*  +(\S.*)`)
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

// faultTable compares the results with the documentation, as far as cells ran. A row
// whose cells did not all run keeps its line.
func faultTable(t *testing.T, all []fault, rows []faultRow) {
	t.Helper()
	file := filepath.Join(repository, "docs", "dev", "faults.md")
	body, err := os.ReadFile(file)
	check(t, err)
	before, rest, found := strings.Cut(string(body), "<!-- the matrix -->\n")
	old, after, ended := strings.Cut(rest, "<!-- end -->\n")
	if !found || !ended {
		t.Fatalf("%s has no markers for the matrix", file)
	}
	update := os.Getenv("UPDATE") != ""
	var b strings.Builder
	fmt.Fprintf(&b, "| what happened | `terragrunt stack run apply` | `stackgen import-blocks`, then apply | apply with `guard: off` |\n|---|---|---|---|\n")
	for i, f := range all {
		var kept string
		for line := range strings.Lines(old) {
			if strings.HasPrefix(line, "| "+f.name+" |") {
				kept = line
			}
		}
		line, complete := rows[i].line(&f)
		switch {
		case complete && !update && line != kept, line != "" && !update && f.fast == nil && !strings.HasPrefix(kept, line):
			t.Errorf("%s differs from the results; UPDATE=1 make faults writes them:\n%s", file, line)
		case complete && update:
			kept = line
		}
		b.WriteString(kept)
	}
	if update {
		check(t, os.WriteFile(file, []byte(before+"<!-- the matrix -->\n"+b.String()+"<!-- end -->\n"+after), 0o666))
	} else if b.String() != old {
		t.Errorf("%s has rows that the matrix does not have; UPDATE=1 make faults removes them", file)
	}
}

// line is the row as the documentation has it, without its last column if only the
// cells of the first level ran, and empty if not even those did.
func (r *faultRow) line(f *fault) (text string, complete bool) {
	cells, complete := r.guarded[0], r.off != "" || f.noHarmRun != ""
	for column := range cells {
		if cells[column] == "" {
			return "", false
		}
		fast := r.guarded[1][column]
		complete = complete && fast != ""
		if fast != "" && fast != cells[column] {
			cells[column] += "; with `guard: fast`: " + fast
		}
	}
	if cells[1] == cells[0] {
		cells[1] = "the same"
	}
	text = fmt.Sprintf("| %s | %s | %s |", f.name, faultText.Replace(cells[0]), faultText.Replace(cells[1]))
	if complete {
		text += " " + cmp.Or(r.off, "not run: "+f.noHarmRun) + " |\n"
	}
	return text, complete
}

var faultText = strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;")
