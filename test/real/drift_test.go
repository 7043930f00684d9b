//go:build unix

package real

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/finding"
)

// TestDriftTable causes everything that a plan can show on one stack, and runs drift once
// for all of it: the real provider makes the plans. A few more runs are for what spoils a
// unit. It prints the table of cases and verdicts, which docs/dev/drift-cases.md has.
func TestDriftTable(t *testing.T) {
	t.Parallel()
	world := &faultWorld{tools: findFaultTools(t)}
	w := newDriftWorld(world.cell(t, otherBridge), driftCases())
	w.happen()
	live := w.drift()
	for i := range w.cases {
		w.check(&w.cases[i], live.of(w.cases[i].changedKey()))
	}
	for _, f := range live.Findings {
		if !slices.ContainsFunc(w.cases, func(c driftCase) bool { return slices.Contains(c.keys(), f.Key) }) {
			t.Errorf("no case: %+v", f)
		}
	}
	plans := w.plans()
	if given := w.drift("--plan", plans); !slices.Equal(w.lines(given.Findings), w.lines(live.Findings)) {
		t.Errorf("drift says something else about the same plans from a file:\n%s\nand before:\n%s", strings.Join(w.lines(given.Findings), "\n"), strings.Join(w.lines(live.Findings), "\n"))
	}
	w.covers(plans, live)
	w.oneOpinion("--plan", plans)
	more := slices.Concat(w.edited(plans), w.unsigned(), []driftCase{w.offline()})
	table := driftTable(append(w.cases, more...))
	t.Logf("\n%s", table)
	compareDocs(t, "dev/drift-cases.md", table)
}

// drift runs drift, which something blocks. It must not write anywhere.
func (w *driftWorld) drift(args ...string) *driftReport {
	w.Helper()
	was := w.files()
	w.sim.ResetLog()
	r := w.stackgen(append([]string{"drift", "--format", "json"}, args...)...)
	if r.code != 3 {
		w.Fatalf("drift: exit %d, want 3\n%s", r.code, r.output)
	}
	if n := w.sim.Counters().Writes; n != 0 {
		w.Errorf("drift made %d writes", n)
	}
	is := w.files()
	for path, body := range was {
		if is[path] != body {
			w.Errorf("drift changed %s", path)
		}
	}
	for path := range is {
		if _, known := was[path]; !known {
			w.Errorf("drift left %s", path)
		}
	}
	var out driftReport
	check(w.T, json.NewDecoder(strings.NewReader(r.output)).Decode(&out))
	return &out
}

// files are all files of the project, by their path. A unit that Terragrunt generates may
// stay where there was one.
func (w *driftWorld) files() map[string]string {
	w.Helper()
	out := map[string]string{}
	check(w.T, filepath.Walk(w.dir, func(path string, info os.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.IsDir() && info.Name() == ".terragrunt-stack":
			return filepath.SkipDir
		case info.IsDir():
			return nil
		}
		body, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, w.dir+"/")] = string(body)
		return err
	}))
	return out
}

// plans plans the stack, and returns the folder of the plans as JSON.
func (w *driftWorld) plans() string {
	w.Helper()
	dir := w.TempDir()
	w.must(w.run("stacks/live", nil, "terragrunt", "stack", "run", "plan", "--non-interactive", "--json-out-dir", dir))
	return dir
}

// check compares what drift says about a case with what it should.
func (w *driftWorld) check(c *driftCase, found []finding.Finding) {
	w.Helper()
	c.says = w.lines(found)
	if !slices.Equal(c.says, c.want) {
		w.Errorf("%s:\n\t%s\nwant\n\t%s", c.name, strings.Join(c.says, "\n\t"), strings.Join(c.want, "\n\t"))
	}
}

// lines are findings as the cases have them; those that differ in their attribute only are
// one line.
func (w *driftWorld) lines(found []finding.Finding) (out []string) {
	w.Helper()
	seen := map[string]int{}
	for _, f := range found {
		if f.Change == nil {
			w.Fatalf("no change: %+v", f)
		}
		key := fmt.Sprintf("%s %s %s", f.Kind, map[finding.Severity]string{finding.OK: "ok", finding.Outdated: "safe", finding.Blocked: "blocked", finding.Failed: "failed"}[f.Severity], f.Change.Cause)
		by := ""
		if len(f.Change.By) > 0 {
			by = " by " + f.Change.By[0].Task + " of " + f.Change.By[0].User
		}
		attribute := f.Change.Attribute
		if attribute == "" {
			attribute = "all of it"
			key += " " // is a line of its own
		}
		if at := f.Change.At; at != nil {
			attribute += "@" + w.textAt(at, f.Key)
		}
		i, known := seen[key+by]
		if !known {
			seen[key+by] = len(out)
			out = append(out, strings.TrimSpace(key)+": "+attribute+by)
			continue
		}
		out[i] = strings.TrimSuffix(out[i], by) + ", " + attribute + by
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(rankOf(a)-rankOf(b), strings.Compare(a, b)) })
	return out
}

// rankOf orders lines by their severity, the worst first.
func rankOf(line string) int {
	return slices.Index([]string{"blocked", "failed", "safe", "ok"}, strings.Fields(line)[1])
}

// textAt is the text of a spec at a position: VM if it is the VM itself.
func (w *driftWorld) textAt(at *finding.Place, vm string) string {
	w.Helper()
	body, err := os.ReadFile(filepath.Join(w.dir, at.File))
	check(w.T, err)
	lines := strings.Split(string(body), "\n")
	if at.Line > len(lines) || at.Column > len(lines[at.Line-1]) {
		w.Fatalf("the spec has no %s", at)
	}
	text := lines[at.Line-1][at.Column-1:]
	if strings.HasPrefix(text, vm+":") {
		return "VM"
	}
	text = strings.TrimSpace(text[:strings.IndexAny(text+",", ",}")])
	return text[:min(len(text), 24)]
}
