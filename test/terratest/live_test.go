package terratest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"stackgen/internal/dnstest"
	"stackgen/test/terratest/lab"
	"stackgen/test/terratest/simulator"
)

// A liveRun is a separate simulated cluster, and suites in a process that knows it only
// through environment variables, like a real one.
type liveRun struct {
	*testing.T
	sim     *simulator.Simulator
	cluster *lab.Cluster
	log     string
	temp    string // must be empty after the suites
	env     map[string]string
}

// byHand are the variables for testdata/cluster.yaml.
var byHand = map[string]string{
	"STACKGEN_LIVE": "1", "STACKGEN_TEST_NODE": "alpha", "STACKGEN_TEST_NODE2": "beta", "STACKGEN_TEST_TEMPLATE": "777", "STACKGEN_TEST_STORAGE": "fast",
	"STACKGEN_TEST_BRIDGE": "vmbr7", "STACKGEN_TEST_VMIDS": "40000-40099", "STACKGEN_TEST_PREFIX": "nightly",
}

func live(t *testing.T) *liveRun {
	t.Helper()
	if here.where != "simulator" {
		t.Skip("what a live run does is proven on a simulator")
	}
	t.Parallel()
	l := &liveRun{T: t, log: filepath.Join(t.TempDir(), "requests"), env: map[string]string{}}
	var err error
	l.temp, err = os.MkdirTemp(here.temp, "sgt-") // short: the path of a socket has at most 108 characters
	l.do(err)
	t.Cleanup(func() { l.do(os.RemoveAll(l.temp)) })
	sim, err := simulator.Start("--seed", filepath.Join("testdata", "cluster.yaml"), "--log", l.log)
	l.do(err)
	l.sim = sim
	t.Cleanup(func() { l.do(sim.Stop()) })
	zone, err := dnstest.Start(t.Context(), dnstest.Options{Zone: "nightly.test"})
	l.do(err)
	t.Cleanup(func() { l.do(zone.Close()) })
	for _, variables := range []map[string]string{byHand, sim.Env, records2136(zone)} {
		for name, value := range variables {
			l.env[name] = value
		}
	}
	settings, err := lab.Read(func(name string) string { return l.env[name] })
	l.do(err)
	l.cluster = lab.Open(settings)
	return l
}

func (l *liveRun) do(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// command is a program in the environment of a live run, in its own session.
func (l *liveRun) command(name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(l.Context(), name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "STACKGEN_") && !strings.HasPrefix(e, "PROXMOX_") && !strings.HasPrefix(e, "DNS_") {
			c.Env = append(c.Env, e)
		}
	}
	c.Env = append(c.Env, "TMPDIR="+l.temp)
	for name, value := range l.env {
		c.Env = append(c.Env, name+"="+value)
	}
	return c
}

// suites runs suites, which must end with an exit code and an output that contains all
// of these. It fails if they leave a file or a process.
func (l *liveRun) suites(code int, which string, says ...string) {
	l.Helper()
	binary, err := os.Executable()
	l.do(err)
	c := l.command(binary, "-test.run", which, "-test.timeout", "10m")
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		l.Fatal(err)
	}
	if got := c.ProcessState.ExitCode(); got != code {
		l.Errorf("%s: exit %d, want %d\n%s", which, got, code, out)
	}
	for _, text := range says {
		if !strings.Contains(string(out), text) {
			l.Errorf("%s: the output lacks: %s\n%s", which, text, out)
		}
	}
	left, err := os.ReadDir(l.temp)
	l.do(err)
	if len(left) > 0 {
		l.Errorf("%s left %v", which, left)
	}
	if pids := session(c.Process.Pid); len(pids) > 0 {
		l.Errorf("%s left the processes %v", which, pids)
	}
}

// session lists the processes of a session, on systems with /proc.
func session(id int) []string {
	var found []string
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // of its name
		if fields := strings.Fields(rest); len(fields) > 3 && fields[3] == strconv.Itoa(id) && fields[0] != "Z" {
			found = append(found, filepath.Base(filepath.Dir(stat)))
		}
	}
	return found
}

// everything is the content of the cluster, with the configuration of each guest.
func (l *liveRun) everything() map[string]any {
	l.Helper()
	all := map[string]any{}
	guests, err := l.cluster.All(l.Context())
	l.do(err)
	for _, g := range guests {
		config, err := l.cluster.Config(l.Context(), g)
		l.do(err)
		all[fmt.Sprint(g.VMID)] = config
	}
	pools, err := l.cluster.Call(l.Context(), http.MethodGet, "/pools", nil)
	l.do(err)
	all["pools"] = string(pools)
	for _, name := range []string{"stack", "integration", "protected"} {
		for _, key := range strings.Split("abcde", "") {
			addresses, err := l.cluster.Zone.Lookup(l.Context(), "nightly-"+name+"-"+key)
			l.do(err)
			all["record "+name+"-"+key] = addresses
		}
	}
	return all
}

var guestPath = regexp.MustCompile(`/qemu/([0-9]+)`)

// writes fails if a write went to a VM outside of the range, except clones of the
// template. It returns the number of writes.
func (l *liveRun) writes() int {
	l.Helper()
	file, err := os.Open(l.log)
	l.do(err)
	defer func() { _ = file.Close() }()
	writes, lines := 0, bufio.NewScanner(file)
	for lines.Scan() {
		var r struct{ Method, Path string }
		l.do(json.Unmarshal(lines.Bytes(), &r))
		if r.Method == http.MethodGet || strings.Contains(r.Path, "/_sim/") {
			continue
		}
		writes++
		m := guestPath.FindStringSubmatch(r.Path)
		if m == nil || strings.HasSuffix(r.Path, "/777/clone") {
			continue
		}
		if id, err := strconv.Atoi(m[1]); err != nil || id < l.cluster.First || id > l.cluster.Last {
			l.Errorf("%s %s goes to a VM outside of %d-%d", r.Method, r.Path, l.cluster.First, l.cluster.Last)
		}
	}
	l.do(lines.Err())
	return writes
}
