package real

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// cloneTime is how long a clone takes in BenchmarkApply.
const cloneTime = 6 * time.Second

// A cloneModel is a stack in BenchmarkApply, and a cluster in which one clone alone takes
// cloneTime.
type cloneModel struct {
	name, clone string
	sim         pvesim.Options
}

func cloneModels() []cloneModel {
	const disk = 2252 << 20 // of the template
	fixed := func(kind string, _ int) (time.Duration, bool) { return cloneTime, kind == "qmclone" }
	return []cloneModel{
		// Clones do not slow each other down.
		{"independent", "linked", pvesim.Options{Durations: fixed}},
		// Copies share the bandwidth of one storage.
		{"one-storage", "full", pvesim.Options{Bandwidth: pvesim.Size(disk / cloneTime.Seconds())}},
	}
}

// BenchmarkApply measures `stackgen apply --yes` of 20 VMs from nothing, by how many are
// created at once: a few figures, and those that `stackgen resolve --explain` advises for
// linked clones and for full ones.
// Then it measures which part of an apply of 21 and 100 VMs is stackgen's own: all the time
// in which neither Terragrunt nor OpenTofu ran, and the time of the guard in Terragrunt's
// hooks, without that of the OpenTofu that it started.
func BenchmarkApply(b *testing.B) {
	for _, m := range cloneModels() {
		b.Run(m.name, func(b *testing.B) {
			for b.Loop() {
				figures, advised := []int{1, 2, 4, 5, 8, 16}, 0
				for _, other := range cloneModels() {
					n := advisedFor(newStackBenchOf(b, other.sim, benchSpec(20, other.clone, 1)))
					figures = append(figures, n)
					if other.name == m.name {
						advised = n
					}
				}
				slices.Sort(figures)
				for _, n := range slices.Compact(figures) {
					took, _ := timedApply(newStackBenchOf(b, m.sim, benchSpec(20, m.clone, n)))
					b.Logf("parallelism %d: %.1f s", n, took.Seconds())
					b.ReportMetric(took.Seconds(), fmt.Sprintf("at-%d-s", n))
				}
				b.ReportMetric(float64(advised), "advised")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	for _, n := range []int{21, 100} {
		b.Run(fmt.Sprintf("own/vms=%d", n), func(b *testing.B) {
			m := cloneModels()[0]
			for b.Loop() {
				g := newStackBenchOf(b, m.sim, benchSpec(n, m.clone, 10))
				took, own := timedApply(g)
				b.ReportMetric(took.Seconds(), "apply-s")
				b.ReportMetric(own.Seconds(), "own-s")
				b.ReportMetric(100*own.Seconds()/took.Seconds(), "own-%")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkContainers measures `stackgen apply --yes` of 30 containers from nothing, five at once, beside
// the least that it can take: the sum of the times of their tasks, which create and start them, divided by five. Their
// addresses are static. With DHCP, the provider waits after each start until the container has one.
func BenchmarkContainers(b *testing.B) {
	const n, atOnce = 30, 5
	times := map[string]time.Duration{"vzcreate": 10 * time.Second, "vzstart": 2 * time.Second}
	spec := fmt.Sprintf("apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 1000-1999\napply: {parallelism: %d}\ndefaults:\n  node: pve1\n"+
		"  containers: {template: \"local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz\"}\ncontainers:\n", atOnce)
	for i := range n {
		spec += fmt.Sprintf("  c%d: {networks: [{bridge: vmbr0, ipv4: 192.168.1.%d/24, gateway: 192.168.1.1}]}\n", i, 100+i)
	}
	tasks := pvesim.Options{Durations: func(kind string, _ int) (time.Duration, bool) { d, ok := times[kind]; return d, ok }}
	for b.Loop() {
		took, own := timedApply(newStackBenchOf(b, tasks, spec))
		least := n * (times["vzcreate"] + times["vzstart"]).Seconds() / atOnce
		b.ReportMetric(took.Seconds(), "apply-s")
		b.ReportMetric(own.Seconds(), "own-s")
		b.ReportMetric(least, "least-s")
		b.ReportMetric(took.Seconds()/least, "apply/least")
	}
	b.ReportMetric(0, "ns/op")
}

func benchSpec(n int, clone string, parallelism int) string {
	spec := fmt.Sprintf("apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 1000-1999\napply: {parallelism: %d}\n"+
		"defaults: {node: pve1, template: 9002, clone: %s, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\nvms:\n", parallelism, clone)
	for i := range n {
		spec += fmt.Sprintf("  m%d: {}\n", i)
	}
	return spec
}

// advisedFor is the figure that stackgen advises for the stack.
func advisedFor(g *stackBench) int {
	g.Helper()
	out := g.run(g.dir, stackgen, "resolve", "--explain")
	found := regexp.MustCompile(`apply: \{parallelism: (\d+)\}`).FindStringSubmatch(out)
	if found == nil {
		g.Fatalf("resolve advises nothing:\n%s", out)
	}
	n, err := strconv.Atoi(found[1])
	check(g, err)
	return n
}

// timedApply applies the stack from nothing. It returns how long that took, and how much of
// it was stackgen's own.
func timedApply(g *stackBench) (took, own time.Duration) {
	g.Helper()
	dir := filepath.Join(g.dir, "timed")
	log := filepath.Join(dir, "log")
	check(g, os.MkdirAll(dir, 0o777))
	for _, name := range []string{"terragrunt", "tofu", "stackgen"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), "testdata/timed/main.go").CombinedOutput(); err != nil {
			g.Fatalf("go build: %v\n%s", err, out)
		}
	}
	path := dir + string(filepath.ListSeparator) + environ(g.tools.Env, "PATH")
	g.tools = g.tools.With("PATH="+path, "TIMED_DIR="+dir, "TIMED_LOG="+log)
	began := time.Now()
	g.run(g.dir, stackgen, "apply", "--yes")
	took = time.Since(began)
	body, err := os.ReadFile(log)
	check(g, err)
	return took, ownTime(g, took, string(body))
}

// ownTime is the part of an apply in which no tool ran, and that of the guard. The log is
// that of testdata/timed.
func ownTime(t testing.TB, took time.Duration, log string) time.Duration {
	t.Helper()
	var tools, guard, inGuard []span
	for line := range strings.Lines(log) {
		var what, from string
		var s span
		if _, err := fmt.Sscan(line, &what, &from, &s.from, &s.to); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case from == "guard":
			inGuard = append(inGuard, s)
		case what == "guard":
			guard = append(guard, s)
		case from == "-":
			tools = append(tools, s)
		}
	}
	if len(tools) == 0 || len(guard) == 0 {
		t.Fatalf("no tool or no guard ran:\n%s", log)
	}
	return took - covered(tools) + covered(guard) - covered(inGuard)
}

// A span is a time from one moment to another, in nanoseconds.
type span struct{ from, to int64 }

// covered is how long at least one of the spans lasted.
func covered(spans []span) time.Duration {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out, end int64
	for _, s := range spans {
		out += max(0, s.to-max(s.from, end))
		end = max(end, s.to)
	}
	return time.Duration(out)
}

// environ is the value of a variable; the last entry counts.
func environ(env []string, name string) (value string) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}
