package real

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackgen/internal/engine"
	"stackgen/internal/pvesim"
)

// BenchmarkGuard measures runs that change nothing, of a stack of 50 and of 300 VMs,
// without the guard and with each of its levels: a plain `stack run apply`, and a
// plan that is saved and then applied. It reports seconds, and the ratios to the
// runs without the guard.
func BenchmarkGuard(b *testing.B) {
	for _, n := range []int{50, 300} {
		b.Run(fmt.Sprintf("vms=%d", n), func(b *testing.B) {
			g := newStackBench(b, n)
			g.terragrunt("apply")
			b.Run("plain", func(b *testing.B) {
				g.compare(b, func() { g.terragrunt("apply") })
			})
			b.Run("saved", func(b *testing.B) {
				plans := filepath.Join(b.TempDir(), "plans")
				g.compare(b, func() {
					g.terragrunt("plan", "--out-dir", plans)
					g.terragrunt("apply", "--out-dir", plans)
				})
			})
		})
	}
}

// BenchmarkPreflight measures preflight of 3, 50 and 300 VMs that exist, in which nothing changes,
// with a plan and without one. It reports the fewest seconds of each.
func BenchmarkPreflight(b *testing.B) {
	for _, n := range []int{3, 50, 300} {
		b.Run(fmt.Sprintf("vms=%d", n), func(b *testing.B) {
			g := newStackBench(b, n)
			g.terragrunt("apply")
			seconds := map[string]float64{}
			for b.Loop() {
				for name, args := range map[string][]string{"plan": {"preflight"}, "no-plan": {"preflight", "--no-plan"}} {
					began := time.Now()
					g.run(g.dir, stackgen, args...)
					if took := time.Since(began).Seconds(); seconds[name] == 0 || took < seconds[name] {
						seconds[name] = took
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for name, took := range seconds {
				b.ReportMetric(took, name+"-s")
			}
		})
	}
}

// A stackBench is a stack for a simulated cluster.
type stackBench struct {
	testing.TB
	dir   string
	tools *engine.Tools
}

func newStackBench(b *testing.B, n int) *stackBench {
	spec := "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 1000-1999\npool: {id: live, create: true}\n" +
		"defaults: {node: pve1, template: 9002, clone: linked, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\nvms:\n"
	for i := range n {
		spec += fmt.Sprintf("  m%d: {}\n", i)
	}
	g := newStackBenchOf(b, pvesim.Options{NoAuthDelay: true}, spec)
	g.level("off")
	return g
}

// newStackBenchOf renders a spec named live for a cluster.
func newStackBenchOf(b *testing.B, o pvesim.Options, spec string) *stackBench {
	g := &stackBench{TB: b, dir: b.TempDir(), tools: findTools(b)}
	sim, err := pvesim.New(o)
	check(b, err)
	check(b, sim.Start("127.0.0.1:0"))
	b.Cleanup(func() { _ = sim.Close() })
	g.tools = g.tools.With(append(sim.Env(), "PATH="+filepath.Dir(stackgen)+string(filepath.ListSeparator)+os.Getenv("PATH"))...)
	check(b, os.MkdirAll(filepath.Join(g.dir, "specs"), 0o777))
	check(b, os.WriteFile(filepath.Join(g.dir, "specs", "live.yaml"), []byte(spec), 0o666))
	g.run(g.dir, stackgen, "render")
	return g
}

// level renders the project with a level of the guard.
func (g *stackBench) level(level string) {
	check(g, os.WriteFile(filepath.Join(g.dir, "stackgen.yaml"), []byte("apiVersion: stackgen/v1\nkind: Project\nguard: "+level+"\n"), 0o666))
	g.run(g.dir, stackgen, "render")
	g.terragrunt("plan") // the first run after a render initialises the units again
}

func (g *stackBench) terragrunt(args ...string) {
	g.run(filepath.Join(g.dir, "stacks", "live"), "terragrunt", append([]string{"stack", "run", "--non-interactive"}, args...)...)
}

// run runs a program, which must succeed, and returns what it printed.
func (g *stackBench) run(dir, name string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	r, err := g.tools.Run(ctx, dir, name, args...)
	if err != nil || r.Code != 0 {
		g.Fatalf("%s %s: exit %d, %v\n%s", name, strings.Join(args, " "), r.Code, err, r.Text())
	}
	return r.Text()
}

// compare runs something with each level of the guard.
func (g *stackBench) compare(b *testing.B, run func()) {
	seconds := map[string]float64{}
	levels := []string{"off", "fast", "full"}
	for b.Loop() {
		for _, level := range levels {
			g.level(level)
			began := time.Now()
			run()
			seconds[level] += time.Since(began).Seconds()
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, level := range levels {
		b.ReportMetric(seconds[level]/float64(b.N), level+"-s")
	}
	for _, level := range levels[1:] {
		b.ReportMetric(seconds[level]/seconds["off"], level+"/off")
	}
}

// BenchmarkSize measures the unit of 100, 300 and 500 VMs: plans that create all of
// them, change nothing and import all of them, and the applies. It reports the fewest
// seconds of each.
func BenchmarkSize(b *testing.B) {
	for _, n := range []int{100, 300, 500} {
		b.Run(fmt.Sprintf("vms=%d", n), func(b *testing.B) {
			seconds := map[string]float64{}
			var names []string
			for b.Loop() {
				g := newStackBench(b, n)
				units := filepath.Join(g.dir, "stacks", "live", ".terragrunt-stack")
				g.run(filepath.Join(units, "proxmox-pool"), "terragrunt", "apply", "-auto-approve")
				measure := func(name string, args ...string) {
					began := time.Now()
					g.run(filepath.Join(units, "proxmox-vm"), "terragrunt", args...)
					took := time.Since(began).Seconds()
					if before, again := seconds[name]; !again {
						names, seconds[name] = append(names, name), took
					} else {
						seconds[name] = min(took, before)
					}
				}
				measure("plan-s", "plan", "-refresh=false")
				measure("apply-s", "apply", "-auto-approve")
				measure("empty-s", "plan")
				check(b, os.RemoveAll(filepath.Join(g.dir, ".state")))
				g.run(g.dir, stackgen, "import-blocks")
				measure("import-plan-s", "plan")
				measure("import-s", "apply", "-auto-approve")
			}
			b.ReportMetric(0, "ns/op")
			for _, name := range names {
				b.ReportMetric(seconds[name], name)
			}
		})
	}
}
