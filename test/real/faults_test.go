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

// TestFaults lets everything happen that the promise is about, to a cluster of
// the simulator and a stack that the real provider made, and then two people go
// on: one applies, one runs import-blocks first. Whatever they do, nothing is
// made twice, nothing destroyed and no guest of somebody else written; and what
// they are told is the table in docs/faults.md.
func TestFaults(t *testing.T) {
	base := newFaultBase(t)
	rows := make([][2]string, len(faults()))
	t.Run("cells", func(t *testing.T) {
		for i, f := range faults() {
			f.cell(t, base, "apply", func(w *faultCell) { rows[i][0] = plainApply(w, f) })
			f.cell(t, base, "import-blocks", func(w *faultCell) { rows[i][1] = importsFirst(w, f) })
			if faultsWays[f.name].word != "" {
				f.cell(t, base, "way-out", func(w *faultCell) { wayOut(w, f) })
			}
			if faultsUnguarded[f.name] != "" {
				f.cell(t, base, "unguarded", func(w *faultCell) { unguarded(w, f) })
			}
		}
	})
	for _, row := range rows {
		if row[0] == "" || row[1] == "" {
			return // it failed, or somebody chose a few of them
		}
	}
	faultTable(t, rows)
}

// cell lets a fault happen to a copy of the world, and then somebody go on.
func (f fault) cell(t *testing.T, base *faultBase, name string, then func(*faultCell)) {
	t.Run(strings.ReplaceAll(f.name, " ", "-")+"/"+name, func(t *testing.T) {
		t.Parallel()
		var seeds []faultSeed
		if f.seed != nil {
			seeds = append(seeds, f.seed)
		}
		w := base.cell(t, seeds...)
		if name == "unguarded" {
			w.off = true
			w.spec(faultSpec+faultLast, true)
		}
		f.happen(w)
		if w.before == nil {
			w.before = w.guests()
		}
		then(w)
	})
}

// plainApply applies, whatever has happened.
func plainApply(w *faultCell, f fault) string {
	out := w.told(f.apply, w.apply)
	if f.apply.word == "" {
		w.settled()
	}
	w.held(slices.Concat(f.made, f.apply.made), f.foreign)
	return out
}

// importsFirst has the import files written, and applies if nothing is refused.
// If something is, an apply all the same must be refused too.
func importsFirst(w *faultCell, f fault) string {
	written := func() faultRun { return w.stackgen("import-blocks") }
	var out string
	if f.imports.word != "" {
		out = w.told(f.imports, written)
		w.told(faultEnd{word: f.imports.word, says: f.imports.says}, w.apply)
	} else {
		w.must(written())
		out = w.told(f.imports, w.apply)
		w.must(written())
		w.settled()
	}
	w.held(slices.Concat(f.made, f.imports.made), f.foreign)
	return out
}

// settled fails unless the plan is empty.
func (w *faultCell) settled() {
	w.Helper()
	r := w.run("stacks/live", nil, "terragrunt", "stack", "run", "plan", "--non-interactive", "--", "-detailed-exitcode")
	if r.code != 0 {
		w.Errorf("the plan is not empty at the end: exit %d\n%s", r.code, r.said)
	}
}

var (
	faultVerdict = regexp.MustCompile(`(STOP|FAIL|wait) +([a-z]+) +live/([a-z0-9-]+).*`)
	faultRefusal = regexp.MustCompile(`STOP live/([a-z0-9-]+): (.*)`)
	faultReason  = regexp.MustCompile(`(?m)^       \S.*$`)
	faultImports = regexp.MustCompile(`stacks/live/imports/.*`)
	faultApplied = regexp.MustCompile(`Apply complete! Resources: (?:(\d+) imported, )?(\d+) added, (\d+) changed, (\d+) destroyed`)
)

// told runs a command and returns what it said, in a line. It fails unless that
// is how it has to end, and unless what is refused has written nothing at all.
func (w *faultCell) told(want faultEnd, run func() faultRun) string {
	w.Helper()
	writes := w.sim.Counters().Writes
	r := run()
	out := faultRight(r.said)
	if r.code != 0 {
		out = faultStop(r.said)
	}
	refused := want.word != ""
	if refused != (r.code != 0) || refused && !strings.HasPrefix(out, "STOP, "+want.word+":") || !strings.Contains(out, want.says) {
		w.Errorf("%s: exit %d, told: %s\nwant %+v\n%s", r.line, r.code, out, want, r.said)
	}
	if n := w.sim.Counters().Writes - writes; refused && n > 0 {
		w.Errorf("%s is refused, and has written %d times", r.line, n)
	}
	return out
}

// faultRight sums up what applies did.
func faultRight(said string) string {
	var sum [4]int
	for _, m := range faultApplied.FindAllStringSubmatch(said, -1) {
		for i := range sum {
			var n int
			_, _ = fmt.Sscan(m[i+1], &n) // nothing imported is not said
			sum[i] += n
		}
	}
	out := fmt.Sprintf("%d imported, %d added, %d changed, %d destroyed", sum[0], sum[1], sum[2], sum[3])
	if sum == [4]int{} {
		return "right: nothing to do"
	}
	return "right: " + out + "; then nothing to do"
}

// faultStop sums up a refusal: its words, what they are about, and the reason of
// the first one. What only waits for import files counts if nothing else stops.
func faultStop(said string) string {
	if m := faultRefusal.FindStringSubmatch(said); m != nil {
		return fmt.Sprintf("STOP, %s: %s", m[1], m[2])
	}
	found := faultVerdict.FindAllStringSubmatchIndex(said, -1)
	hard := slices.DeleteFunc(slices.Clone(found), func(at []int) bool { return said[at[2]:at[3]] == "wait" })
	if len(hard) > 0 {
		found = hard
	}
	var words []string
	about := map[string][]string{}
	reason := "it says no verdict"
	for i, at := range found {
		word, key := said[at[4]:at[5]], said[at[6]:at[7]]
		if i == 0 {
			reason = strings.TrimSpace(faultReason.FindString(said[at[1]:]))
			if len(hard) == 0 {
				reason = faultImports.FindString(said[at[1]:])
			}
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
		if !slices.Contains(about[word], key) {
			about[word] = append(about[word], key)
		}
	}
	var out []string
	for _, word := range words {
		out = append(out, word+" "+strings.Join(about[word], " "))
	}
	return "STOP, " + strings.Join(out, "; ") + ": " + reason
}

// faultTable compares what came out with the documentation.
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
		t.Fatalf("%s has no place for the matrix", file)
	}
	want := before + "<!-- the matrix -->\n" + b.String() + "<!-- end -->\n" + after
	if os.Getenv("UPDATE") != "" {
		check(t, os.WriteFile(file, []byte(want), 0o666))
		return
	}
	if string(body) != want {
		t.Errorf("%s is not what came out; UPDATE=1 writes it. It is\n%s", file, b.String())
	}
}

var faultText = strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;")
