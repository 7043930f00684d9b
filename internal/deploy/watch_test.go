package deploy

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stackgen/internal/progress"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// The token of a user without Sys.Audit.
const (
	ciToken  = "ci@pve!t"
	ciSecret = "5f3c9a10-7e61-4c55-9a53-000000000002"
)

// A lab is a simulated cluster in real time, and the events of a watcher.
type lab struct {
	t   *testing.T
	sim *pvesim.Server

	mu     sync.Mutex
	events []progress.Event
}

func newLab(t *testing.T, o pvesim.Options) *lab {
	t.Helper()
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: ciSecret}}})
	for _, role := range []string{"PVEVMAdmin", "PVEDatastoreUser", "PVESDNUser"} {
		seed.ACL = append(seed.ACL, &pvesim.Grant{Path: "/", Type: "user", To: "ci@pve", Role: role})
	}
	o.Seed, o.NoAuthDelay = seed, true
	l := &lab{t: t}
	if l.sim, err = pvesim.New(o); err != nil {
		t.Fatal(err)
	}
	if err := l.sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.sim.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// config connects with a token.
func (l *lab) config(token string) *proxmox.Config {
	l.t.Helper()
	env := map[string]string{"PROXMOX_VE_ENDPOINT": l.sim.URL() + "/", "PROXMOX_VE_API_TOKEN": token, "PROXMOX_VE_INSECURE": "true"}
	c, err := proxmox.Configure(func(name string) string { return env[name] }, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return &c
}

// post starts a task, as another program would.
func (l *lab) post(token, path string, form ...string) {
	l.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	h := http.Header{}
	h.Set("Authorization", "PVEAPIToken="+token)
	h.Set("Content-Type", "application/x-www-form-urlencoded")
	r := l.sim.Do(context.Background(), pvesim.Request{Method: "POST", Path: "/api2/json" + path, Header: h, Body: []byte(values.Encode())})
	if r.Status != 200 {
		l.t.Fatalf("%s: %d %s", path, r.Status, r.Reason)
	}
}

func (l *lab) tell(e progress.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// texts are the events in short, without repetitions.
func (l *lab) texts() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out strings.Builder
	before := ""
	for _, e := range l.events {
		text := fmt.Sprintf("%s %s\n", e.Type, e.Key)
		if e.Type == progress.Worked {
			exit := e.Task.Exit
			if e.Task.Running() {
				exit = "running"
			}
			if _, ok := progress.Percent(e.Task.Line); ok && e.Task.Running() {
				exit += " with a percentage"
			}
			text = fmt.Sprintf("%d %s %s\n", e.VMID, e.Task.Type, exit)
		}
		if text != before {
			out.WriteString(text)
		}
		before = text
	}
	return out.String()
}

// waits waits for an event.
func (l *lab) waits(text string) {
	l.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(l.texts(), text) {
			return
		}
	}
	l.t.Fatalf("%q was not reported, but\n%s", text, l.texts())
}

// listOfTasks is the end of the path of a request for the tasks of the cluster.
const listOfTasks = "/cluster/tasks"

// reads waits until the tasks of the cluster were read a number of times.
func (l *lab) reads(times int) {
	l.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		n := 0
		for _, r := range l.sim.Requests() {
			if strings.HasSuffix(r.Path, listOfTasks) {
				n++
			}
		}
		if n >= times {
			return
		}
	}
	l.t.Fatalf("the tasks were not read %d times", times)
}

// slow lets clones take a second and a half.
func slow() pvesim.Options {
	return pvesim.Options{Durations: func(kind string, _ int) (time.Duration, bool) { return 1500 * time.Millisecond, kind == "qmclone" }}
}

// TestWatchTasks: the tasks of the run's VMs are reported, clones with percentages
// although their tasks have the VMID of the template; older tasks and those of others
// are not.
func TestWatchTasks(t *testing.T) {
	for _, who := range []string{"root", "ci"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, slow())
			token := l.sim.Token()
			if who == "ci" { // sees no task in the list of the cluster
				token = ciToken + "=" + ciSecret
			}
			l.post(token, "/nodes/pve1/qemu/9000/clone", "newid", "300", "full", "0")
			time.Sleep(1600 * time.Millisecond)
			l.post(token, "/nodes/pve1/qemu/300/status/start")
			time.Sleep(300 * time.Millisecond)
			w := Watch(context.Background(), Watched{Cluster: l.config(token), VMIDs: []int{300, 301, 302}, Nodes: []string{"pve1"}, every: 50 * time.Millisecond}, l.tell)
			time.Sleep(300 * time.Millisecond)
			l.post(token, "/nodes/pve1/qemu/9000/clone", "newid", "301", "full", "1")
			l.post(token, "/nodes/pve1/qemu/9000/clone", "newid", "999", "full", "1")
			l.waits("301 qmclone running with a percentage\n")
			l.waits("301 qmclone OK\n")
			l.post(token, "/nodes/pve1/qemu/301/status/start")
			l.waits("301 qmstart OK\n")
			if missed := w.Stop(); missed != (Missed{}) {
				t.Errorf("missed %+v", missed)
			}
			if got := l.texts(); strings.Contains(got, "999 ") || strings.Contains(got, "300 ") || strings.Contains(got, "9000 ") {
				t.Errorf("reported\n%s", got)
			}
		})
	}
}

// TestWatchRequests: what the watcher costs the cluster is bounded, and a clone of
// somebody else is looked at only until its target is known.
func TestWatchRequests(t *testing.T) {
	l := newLab(t, slow())
	token := l.sim.Token()
	const every = 100 * time.Millisecond
	began := time.Now()
	w := Watch(context.Background(), Watched{Cluster: l.config(token), VMIDs: []int{301}, Nodes: []string{"pve1"}, every: every}, l.tell)
	l.post(token, "/nodes/pve1/qemu/9000/clone", "newid", "301", "full", "1")
	l.post(token, "/nodes/pve1/qemu/9000/clone", "newid", "999", "full", "1")
	l.reads(8)
	w.Stop()
	most := int(time.Since(began)/every) + 2 // the first one, and that which Stop ends
	lists, logs := 0, map[string]int{}
	for _, r := range l.sim.Requests() {
		switch {
		case strings.HasSuffix(r.Path, listOfTasks):
			lists++
		case strings.HasSuffix(r.Path, "/log"):
			logs[r.Path]++
		}
	}
	if lists > most || len(logs) != 2 {
		t.Errorf("%d lists, at most %d are expected; logs %v", lists, most, logs)
	}
	counts := slices.Sorted(maps.Values(logs))
	if len(counts) == 2 && (counts[1] > lists || counts[0] > 3) {
		t.Errorf("%d lists, logs %v", lists, logs)
	}
}

// TestWatchWithoutCluster: a request that a cluster refuses is counted.
func TestWatchWithoutCluster(t *testing.T) {
	l := newLab(t, pvesim.Options{})
	wrong := l.config("root@pam!sim=5f3c9a10-7e61-4c55-9a53-00000000000f")
	w := Watch(context.Background(), Watched{Cluster: wrong, VMIDs: []int{301}, every: 20 * time.Millisecond}, l.tell)
	l.reads(2) // the first one was answered, then
	if missed := w.Stop(); missed.Requests == 0 || missed.Files != 0 {
		t.Errorf("missed %+v", missed)
	}
}

// TestWatchEvents: events that OpenTofu wrote before the end are reported, however late.
func TestWatchEvents(t *testing.T) {
	l := newLab(t, pvesim.Options{})
	dir := t.TempDir()
	w := Watch(context.Background(), Watched{Events: []UnitEvents{{"lab", filepath.Join(dir, "events")}}}, l.tell)
	recorded, err := os.ReadFile("../progress/testdata/apply.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "events"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "events", "proxmox-vm.jsonl"), recorded, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Stop()
	if got := l.texts(); strings.Count(got, "\n") != 14 || !strings.Contains(got, "began web01\n") || !strings.HasSuffix(got, "problem web02\n") {
		t.Errorf("reported\n%s", got)
	}
}
