package test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/cmd"
	"stackgen/internal/lock"
)

// manyVMs returns the specs of several stacks with n VMs each. kind changes every
// VM, so that all stack files of two kinds differ.
func manyVMs(stacks, n int, kind string) map[string]string {
	files := map[string]string{}
	for s := range stacks {
		files[fmt.Sprintf("specs/s%d.yaml", s)] = fmt.Sprintf(`apiVersion: stackgen/v1
kind: Stack
name: s%d
vmids: %d-%d
dns: {zone: example.org, server: 192.0.2.53}
profiles: {p-%s: {ignore_changes: [node_name]}}
defaults: {template: 9000, placement: {nodes: [pve1, pve2]}, description: %s}
groups: {web: {count: %d}}
`, s, 10000+1000*s, 10999+1000*s, kind, kind, n)
	}
	return files
}

func mustRender(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := process(t, dir, append([]string{"render"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("render: %v\n%s", err, out)
	}
}

// TestKilledRender kills renders of a new and of a changed project at random
// moments. The next render must write what an undisturbed one writes.
func TestKilledRender(t *testing.T) {
	before, after := manyVMs(5, 10, "a"), manyVMs(5, 20, "b")
	before["stackgen.lock.yaml"] = lock.Header + "\nversion: 3\nproject: 0f1e2d3c4b5a6978\nstacks: {}\n" // for the same MAC addresses in all rounds
	dir := t.TempDir()
	write(t, dir, before)
	mustRender(t, dir) // also reads the program into memory, before the one that is timed
	fresh := tree(t, dir)
	start := time.Now()
	write(t, dir, after)
	mustRender(t, dir)
	took := time.Since(start)
	changed := tree(t, dir)

	r := rand.New(rand.NewPCG(1, 2))
	killed, touched, round := 0, 0, 0
	for ; round < 16 || touched == 0 && round < 200; round++ { // a busy machine kills many too late
		dir, want := t.TempDir(), fresh
		write(t, dir, before)
		if round%2 == 0 {
			want = changed
			write(t, dir, fresh)
			write(t, dir, after)
		}
		was := tree(t, dir)
		c := process(t, dir, "render")
		check(t, c.Start())
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		moment := time.After(time.Duration(r.Int64N(int64(took))))
		var at func() bool
		if round%4 < 2 { // kill it when a certain file was written
			moment, at = nil, appeared(t, dir, was, want, r)
		}
		if err := kill(c, done, moment, at); err != nil {
			killed++
			if now := tree(t, dir); !maps.Equal(now, was) && !maps.Equal(now, want) {
				touched++
			}
		}
		// Every file has either its old or its new content.
		for path, body := range tree(t, dir) {
			if body != was[path] && body != want[path] && !strings.Contains(path, ".stackgen-tmp-") {
				t.Errorf("round %d: %s has neither its old nor its new content", round, path)
			}
		}
		mustRender(t, dir)
		compare(t, want, tree(t, dir))
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("of %d renders %d were killed, %d of them halfway", round, killed, touched)
	if touched == 0 {
		t.Error("no render was killed halfway")
	}
}

// kill kills a process at a moment or when a condition holds, and returns how it
// ended.
func kill(c *exec.Cmd, done <-chan error, moment <-chan time.Time, at func() bool) error {
	for {
		select {
		case err := <-done:
			return err
		case <-moment:
			_ = c.Process.Kill()
			return <-done
		default:
			if at != nil && at() {
				_ = c.Process.Kill()
				return <-done
			}
			runtime.Gosched()
		}
	}
}

// appeared returns a condition: a file that the render writes, chosen by r, was
// written.
func appeared(t *testing.T, dir string, was, want map[string]string, r *rand.Rand) func() bool {
	t.Helper()
	var news []string
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if was[path] != want[path] {
			news = append(news, path)
		}
	}
	path := filepath.Join(dir, news[r.IntN(len(news))])
	before, _ := os.Stat(path)
	return func() bool {
		now, err := os.Stat(path)
		return err == nil && (before == nil || !os.SameFile(before, now))
	}
}

// TestTwoRendersAtOnce starts two renders into one project, from different specs.
// The project must then hold the files of one of them, never a mixture.
func TestTwoRendersAtOnce(t *testing.T) {
	t.Parallel()
	kinds := []map[string]string{manyVMs(5, 20, "a"), manyVMs(5, 20, "b")}
	from := t.TempDir()
	write(t, from, map[string]string{"a/specs/x": "", "b/specs/x": ""})
	dir := t.TempDir()
	for i, k := range kinds {
		write(t, filepath.Join(from, string(rune('a'+i))), k)
	}
	for round := range 6 {
		var running []*exec.Cmd
		var outs [2]bytes.Buffer
		for i := range kinds {
			// The same stacks, from two sets of specs, into one project.
			c := process(t, filepath.Join(from, string(rune('a'+i))), "render", "--out", dir, "specs")
			c.Stdout, c.Stderr = &outs[i], &outs[i]
			check(t, c.Start())
			running = append(running, c)
		}
		codes := []int{}
		for _, c := range running {
			_ = c.Wait()
			codes = append(codes, c.ProcessState.ExitCode())
		}
		oneRender(t, dir, round)
		if codes[0] != 0 && codes[1] != 0 {
			t.Fatalf("round %d: both failed:\n%s\n%s", round, outs[0].String(), outs[1].String())
		}
		check(t, os.RemoveAll(dir))
		check(t, os.MkdirAll(dir, 0o777))
	}
}

// oneRender checks that all stacks of a project come from the same specs.
func oneRender(t *testing.T, dir string, round int) {
	t.Helper()
	a, b := 0, 0
	for path, body := range tree(t, filepath.Join(dir, "stacks")) {
		if filepath.Base(path) == "terragrunt.stack.hcl" {
			a += len(regexp.MustCompile(`description += "a"`).FindAllString(body, -1))
			b += len(regexp.MustCompile(`description += "b"`).FindAllString(body, -1))
		}
	}
	if a*b != 0 || a+b != 5 { // the VMs of a stack share theirs
		t.Errorf("round %d: %d stacks of one render and %d of another", round, a, b)
	}
	for path := range tree(t, dir) {
		if strings.Contains(path, ".stackgen-tmp-") {
			t.Errorf("round %d: %s was not removed", round, path)
		}
	}
}

// TestSecondRenderWritesNothing checks modification times, which make reads.
func TestSecondRenderWritesNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, manyVMs(3, 10, "a"))
	mustRender(t, dir)
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	before := tree(t, dir)
	for path := range before {
		check(t, os.Chtimes(filepath.Join(dir, path), old, old))
	}
	mustRender(t, dir)
	mustRender(t, dir, "--check")
	compare(t, before, tree(t, dir))
	for path := range before {
		info, err := os.Stat(filepath.Join(dir, path))
		check(t, err)
		if !info.ModTime().Equal(old) {
			t.Errorf("%s was written again", path)
		}
	}
}

// TestVersionAndCompletion needs a process: completion reads os.Args.
func TestVersionAndCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"--version":                               "stackgen version ",
		"--generate-bash-completion":              "validate",
		"rend --generate-bash-completion":         "render",
		"render --generate-bash-completion":       "",
		"render --ch --generate-bash-completion":  "--check",
		"render specs --generate-bash-completion": "",
		"completion --generate-bash-completion":   "fish",
		"completion bash":                         "complete -o bashdefault",
		"completion zsh":                          "#compdef stackgen",
		"completion fish":                         "complete -c stackgen",
		"schema":                                  `"$schema": "https://json-schema.org/draft/2020-12/schema"`,
		"schema --format markdown":                "# ",
		"--help":                                  "completion",
		"render -h":                               "--state-moved",
	} {
		out, err := process(t, t.TempDir(), strings.Fields(line)...).Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("stackgen %s: %v\n%s\nwant %q in it", line, err, out, want)
		}
	}
	var out bytes.Buffer
	if code := cmd.Main([]string{"stackgen", "--version"}, zeros{}, strings.NewReader(""), &out, &out); code != 0 {
		t.Errorf("--version exits %d", code)
	}
}
