//go:build unix

package real

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stackgen/internal/dnstest"
	"stackgen/internal/engine"
	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

// faultSpec is the stack of every fault: a pool and three VMs on three nodes, one of
// them protected, which faultLast adds. Faults append more.
const faultSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
` + faultPool + `defaults:
  template: {vmid: 9000, node: pve1}
  serial: socket
  vga: {type: serial0}
  disks: [{interface: scsi0, size: 8, datastore: shared}]
  cloud_init: {datastore: shared}
vms:
  a: {node: pve1, networks: [{bridge: vmbr0, mac: "BC:24:11:00:03:00"}]}
  b: {node: pve2}
`

// faultPool is the pool of the stack. Without one a run has one unit instead of two, so only
// the worlds have it that say so.
const faultPool = "pool: {id: live, create: true}\n"

// faultLast is the last VM of the spec. It is separate so that a fault can omit it.
const faultLast = "  c: {node: pve3, profile: protected}\n"

// faultBackup is the folder of a copy of the state from before that VM was created.
const faultBackup = "backup"

// faultSpeed is the speed of the simulated cluster's clock.
const faultSpeed = 20

// A faultWorld is a cluster and a project before a fault. It is built once with the
// real tools, and copied for every cell.
type faultWorld struct {
	build func(*faultCase) // writes the project and applies it
	fresh bool             // built for every cell: something outside of cluster and project belongs to it
	pool  bool             // the stack has its pool

	containers bool // the stack has containers, which are made without a clone

	once  sync.Once
	tools *engine.Tools
	seed  []byte // the content of the cluster
	dir   string // the project with its state
	start time.Time
}

// faultStack is the world of most faults: the stack live, applied.
func faultStack(w *faultCase) {
	w.settings("")
	w.spec(faultSpec, true)
	w.must(w.apply())
	check(w.T, os.CopyFS(filepath.Join(w.dir, faultBackup), os.DirFS(filepath.Join(w.dir, ".state"))))
	w.spec(faultSpec+faultLast, true)
	w.must(w.apply())
	w.must(w.stackgen("preflight"))
}

// A faultCase is a copy of a faultWorld, in which one fault is injected and commands
// run.
type faultCase struct {
	*testing.T
	dir     string
	world   *faultWorld
	sim     *pvesim.Server
	others  []*otherCluster
	tools   *engine.Tools
	before  *clusterState
	slow    atomic.Bool     // clones do not finish
	endless atomic.Bool     // clones do not end before the test
	other   *exec.Cmd       // another apply that runs
	dns     *dnstest.Server // of the stack's records, or nil
	guard   string          // the level of the guard
	rest    string          // of stackgen.yaml
}

// copy is the world for one cell. t is the test of all cells, for which the world is
// built once.
func (b *faultWorld) copy(all, t *testing.T, change ...seedChange) *faultCase {
	t.Helper()
	if b.fresh {
		w := b.cell(t, change...)
		b.build(w)
		return w
	}
	b.once.Do(func() {
		w := b.cell(all)
		b.build(w)
		var seed bytes.Buffer
		check(all, w.sim.Save(&seed))
		saved, err := pvesim.ParseSeed(seed.Bytes())
		check(all, err)
		w.remove("stacks/live/.terragrunt-stack")
		b.seed, b.start, b.dir = seed.Bytes(), saved.Time, w.dir
	})
	if b.dir == "" {
		t.Fatal("the world could not be built")
	}
	return b.cell(t, change...)
}

// cell starts a cluster, and copies the project if it was built.
func (b *faultWorld) cell(t *testing.T, change ...seedChange) *faultCase {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	seed, err := pvesim.DefaultSeed()
	start := time.Now()
	if b.dir != "" {
		check(t, os.CopyFS(dir, os.DirFS(b.dir)))
		seed, err = pvesim.ParseSeed(b.seed)
		start = b.start
	}
	check(t, err)
	for _, c := range change {
		c(seed)
	}
	w := &faultCase{T: t, dir: dir, world: b, guard: "full"}
	w.sim = w.startCluster(seed, start)
	// With its own TMPDIR, a cell does not wait for the provider's lock file of another.
	w.tools = b.tools.With(append(w.sim.Env(), "TMPDIR="+t.TempDir())...)
	return w
}

// guests are the guests of the world as it was built.
func (b *faultWorld) guests() []*pvesim.Guest {
	seed, err := pvesim.ParseSeed(b.seed)
	if err != nil {
		panic(err)
	}
	return seed.Guests
}

// startCluster starts a simulated cluster.
func (w *faultCase) startCluster(seed *pvesim.Seed, start time.Time) *pvesim.Server {
	w.Helper()
	sim, err := pvesim.New(pvesim.Options{Seed: seed, NoAuthDelay: true, Clock: clock.NewScaled(start, faultSpeed), Durations: w.durations})
	check(w.T, err)
	check(w.T, sim.Start("127.0.0.1:0"))
	w.Cleanup(func() {
		if err := sim.Close(); err != nil {
			w.Error(err)
		}
	})
	return sim
}

// connectTo starts another cluster and makes it the one that the environment names.
// Nothing may be written to it.
func (w *faultCase) connectTo(seed *pvesim.Seed) {
	w.Helper()
	sim := w.startCluster(seed, time.Now())
	w.others = append(w.others, &otherCluster{sim, stateOf(sim)})
	w.tools = w.tools.With(sim.Env()...)
}

// durations makes clones take long enough for events during them, and slow ones
// for half a minute of the test. Endless ones, backups and consoles do not end before it.
func (w *faultCase) durations(kind string, _ int) (time.Duration, bool) {
	switch {
	case kind == "vzdump" || kind == "vncproxy" || kind == "qmclone" && w.endless.Load():
		return 24 * time.Hour, true
	case w.slow.Load():
		return 10 * time.Minute, kind == "qmclone"
	}
	return 20 * time.Second, kind == "qmclone"
}

// findFaultTools are the tools of this repository, with stackgen in PATH.
func findFaultTools(t *testing.T) *engine.Tools {
	t.Helper()
	tools := findTools(t)
	return tools.With("PATH=" + filepath.Dir(stackgen) + string(filepath.ListSeparator) + faultEnv(tools, "PATH"))
}

// A commandResult is the result of a command.
type commandResult struct {
	line   string
	code   int
	output string
}

// run runs a program in a folder of the project, in its own process group. If kill is
// set, the group is killed as soon as it returns true.
func (w *faultCase) run(dir string, kill func() bool, name string, args ...string) commandResult {
	w.Helper()
	path, err := w.tools.Path(name)
	if name == "stackgen" {
		path, err = stackgen, nil
	}
	check(w.T, err)
	ctx, cancel := context.WithTimeout(w.Context(), 3*time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = filepath.Join(w.dir, dir), attach(w.T, w.tools, append([]string{name}, args...)...), &out, &errOut
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 10 * time.Second
	check(w.T, c.Start())
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	for kill != nil {
		if kill() {
			check(w.T, c.Cancel())
			killProvider(w.T) // one that tests share is in no group of it, and would go on
			break
		}
		select {
		case err := <-done:
			w.Fatalf("%s ended before it could be killed: %v\n%s%s", name, err, &out, &errOut)
		case <-time.After(10 * time.Millisecond):
		}
	}
	<-done //nolint:errcheck // ProcessState has the exit code
	if ctx.Err() != nil {
		w.Fatalf("%s %s does not end\n%s%s", name, strings.Join(args, " "), &out, &errOut)
	}
	return commandResult{line: name + " " + strings.Join(args, " "), code: c.ProcessState.ExitCode(), output: out.String() + errOut.String()}
}

func (w *faultCase) stackgen(args ...string) commandResult {
	w.Helper()
	return w.run(".", nil, "stackgen", args...)
}

// apply applies the stack with Terragrunt.
func (w *faultCase) apply() commandResult {
	w.Helper()
	return w.run("stacks/live", nil, "terragrunt", "stack", "run", "apply", "--non-interactive")
}

// must fails unless a command succeeded.
func (w *faultCase) must(r commandResult) {
	w.Helper()
	if r.code != 0 {
		w.Fatalf("%s: exit %d\n%s", r.line, r.code, r.output)
	}
}

func (w *faultCase) write(path, body string) {
	w.Helper()
	file := filepath.Join(w.dir, path)
	check(w.T, os.MkdirAll(filepath.Dir(file), 0o777))
	check(w.T, os.WriteFile(file, []byte(body), 0o666))
}

func (w *faultCase) remove(path string) {
	w.Helper()
	check(w.T, os.RemoveAll(filepath.Join(w.dir, path)))
}

// settings writes the settings of the project: the level of the guard, and other lines.
func (w *faultCase) settings(rest string) {
	w.Helper()
	w.rest = rest
	w.write("stackgen.yaml", "apiVersion: stackgen/v1\nkind: Project\nguard: "+w.guard+"\n"+rest)
}

// level changes the level of the guard.
func (w *faultCase) level(guard string) {
	w.Helper()
	if w.guard != guard {
		w.guard = guard
		w.settings(w.rest)
		w.must(w.stackgen("render"))
	}
}

// spec writes the spec, and renders it if render is set.
func (w *faultCase) spec(text string, render bool) {
	w.Helper()
	if w.world == nil || !w.world.pool {
		text = strings.Replace(text, faultPool, "", 1)
	}
	w.write("specs/live.yaml", text)
	if render {
		w.must(w.stackgen("render"))
	}
}

// waitUntil waits for a condition of the cluster.
func (w *faultCase) waitUntil(what string, condition func() bool) {
	w.Helper()
	waitUntil(w.T, what, condition)
}

func waitUntil(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout: %s", what)
		}
	}
}

// get sends a request with the simulator's first token.
func (w *faultCase) get(path string) string {
	w.Helper()
	r := w.sim.Do(w.Context(), pvesim.Request{Method: http.MethodGet, Path: "/api2/json" + path, Header: http.Header{"Authorization": {"PVEAPIToken=" + w.sim.Token()}}})
	if r.Status != 200 {
		w.Fatalf("GET %s: %d %s", path, r.Status, r.Reason)
	}
	return string(r.Body)
}
