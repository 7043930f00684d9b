package terratest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	test_structure "github.com/gruntwork-io/terratest/modules/test-structure"

	"stackgen/test/terratest/lab"
)

// suites are all suites. Each has ten VMIDs of the range, by its position.
var suites = []string{"module", "unit", "stack", "integration", "stateloss", "migration", "protected"}

// A suite is a project in its own folder, with its own VMIDs. What it creates is
// removed at the end, also after a failure.
type suite struct {
	*testing.T
	name  string
	stack string // name of its stack, and prefix of every name in it
	dir   string
	first int // of its VMIDs
	last  int
}

// records are the names that records of the suite may have.
func (s *suite) records() []string {
	var names []string
	for _, key := range strings.Split("abcde", "") {
		names = append(names, s.stack+"-"+key)
	}
	return names
}

// begin starts a suite. Its stages are Terratest's and can be skipped.
func begin(t *testing.T, name string) *suite {
	t.Helper()
	t.Parallel()
	place := slices.Index(suites, name)
	if place < 0 {
		t.Fatalf("there is no suite %s", name)
	}
	first := here.cluster.First + 10*place
	s := &suite{T: t, name: name, stack: here.cluster.Prefix + "-" + name, first: first, last: first + 9}
	t.Cleanup(s.count)
	if here.keep == "" {
		s.dir = s.temp("")
	} else {
		s.dir = filepath.Join(here.keep, name)
		s.do(os.MkdirAll(s.dir, 0o755))
	}
	t.Cleanup(func() { test_structure.RunTestStage(t, "teardown", s.teardown) })
	s.write("stackgen.yaml", project)
	return s
}

// reset empties the project. Its VMs must be destroyed already.
func (s *suite) reset() {
	s.Helper()
	s.exist()
	s.do(os.RemoveAll(s.dir))
	s.write("stackgen.yaml", project)
}

// project is the stackgen.yaml of every suite.
const project = "apiVersion: stackgen/v1\nkind: Project\n"

// stage runs a part of the suite, unless SKIP_name is set.
func (s *suite) stage(name string, do func()) {
	s.Helper()
	test_structure.RunTestStage(s.T, name, do)
}

// teardown removes everything that the suite created, through the API, so that it
// does not depend on the project and its state. A passed suite that leaves something
// fails.
func (s *suite) teardown() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	swept, err := here.cluster.Clear(ctx, s.first, s.last, s.stack, s.records()...)
	if err != nil {
		s.Errorf("%s could not be cleared; the sweeper can do so later: %v", s.stack, err)
	}
	if len(swept.Kept) > 0 {
		s.Errorf("%s found what it did not create: %v", s.stack, swept.Kept)
	}
	if len(swept.Removed) > 0 && !s.Failed() {
		s.Errorf("the suite passed and left: %v", swept.Removed)
	}
	if here.keep != "" {
		s.do(os.RemoveAll(s.dir))
	}
}

// counted are the results of this run's suites.
var counted struct {
	sync.Mutex
	passed, failed, skipped []string
}

func (s *suite) count() {
	counted.Lock()
	defer counted.Unlock()
	switch {
	case s.Failed():
		counted.failed = append(counted.failed, s.name)
	case s.Skipped():
		counted.skipped = append(counted.skipped, s.name)
	default:
		counted.passed = append(counted.passed, s.name)
	}
}

// report says how many suites ran, and where.
func report() {
	n := len(counted.passed) + len(counted.failed)
	fmt.Printf("%d of %d suites ran, on: %s. DNS: %s. Passed: %d.", n, len(suites), here.where, here.names, len(counted.passed))
	for _, rest := range []struct {
		what  string
		names []string
	}{{"Failed", counted.failed}, {"Skipped", counted.skipped}} {
		if len(rest.names) > 0 {
			slices.Sort(rest.names)
			fmt.Printf(" %s: %s.", rest.what, strings.Join(rest.names, ", "))
		}
	}
	fmt.Println()
}

// do fails the suite on an error.
func (s *suite) do(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// temp creates a folder that is removed with the suite. Its name is short, because
// the path of a socket has at most 108 characters.
func (s *suite) temp(parent string) string {
	s.Helper()
	dir, err := os.MkdirTemp(parent, s.name+"-")
	s.do(err)
	s.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			s.Error(err)
		}
	})
	return dir
}

func (s *suite) path(path string) string { return filepath.Join(s.dir, filepath.FromSlash(path)) }

func (s *suite) write(path, body string) {
	s.Helper()
	s.do(os.MkdirAll(filepath.Dir(s.path(path)), 0o755))
	s.do(os.WriteFile(s.path(path), []byte(body), 0o644))
}

// context ends with the test, early enough for the suite to clean up before the test
// is killed. After an interrupt the suite stops.
func (s *suite) context() context.Context {
	s.Helper()
	if here.interrupted.Load() {
		s.Fatal("interrupted")
	}
	deadline, ok := s.Deadline()
	if !ok {
		return s.Context()
	}
	margin := min(3*time.Minute, deadline.Sub(here.began)/4)
	ctx, cancel := context.WithDeadline(s.Context(), deadline.Add(-margin))
	s.Cleanup(cancel)
	return ctx
}

// vms returns the suite's VMs on the cluster, by name.
func (s *suite) vms() map[string]vm {
	s.Helper()
	guests, err := here.cluster.Guests(s.context())
	s.do(err)
	found := map[string]vm{}
	for _, g := range guests {
		if g.VMID < s.first || g.VMID > s.last {
			continue
		}
		config, err := here.cluster.Config(s.context(), g)
		s.do(err)
		g.Status, err = here.cluster.Status(s.context(), g)
		s.do(err)
		if _, twice := found[config["name"]]; twice {
			s.Fatalf("there are two VMs named %s", config["name"])
		}
		found[config["name"]] = vm{g, config}
	}
	return found
}

// A vm is a VM of the cluster.
type vm struct {
	lab.Guest
	config lab.Config
}

// key is the last part of a VM's name.
func (s *suite) key(v vm) string { return strings.TrimPrefix(v.config["name"], s.stack+"-") }

// uuid identifies a VM: a re-created one has another.
func (v vm) uuid() string { return v.config.Property("smbios1", "uuid") }

// exist fails unless the suite has exactly these VMs on the cluster, by the last part
// of their names, all tagged and in range. It returns them by that part.
func (s *suite) exist(keys ...string) map[string]vm {
	s.Helper()
	found := map[string]vm{}
	for name, v := range s.vms() {
		found[s.key(v)] = v
		if !slices.Contains(v.config.Tags(), lab.Tag) {
			s.Errorf("%s (%d) has the tags %v, and not %s", name, v.VMID, v.config.Tags(), lab.Tag)
		}
	}
	var got []string
	for key := range found {
		got = append(got, key)
	}
	slices.Sort(got)
	if !slices.Equal(got, keys) {
		s.Fatalf("the cluster has the VMs %v, want %v", got, keys)
	}
	return found
}

// same fails if a VM was re-created.
func (s *suite) same(before, after vm) {
	s.Helper()
	if before.VMID != after.VMID || before.uuid() != after.uuid() || after.uuid() == "" {
		s.Errorf("VM %d (uuid %s) is now %d (uuid %s): it was re-created", before.VMID, before.uuid(), after.VMID, after.uuid())
	}
}

// resolves fails unless the zone has exactly the records of these VMs, each with its
// VM's address. Without a zone it does nothing.
func (s *suite) resolves(keys ...string) {
	s.Helper()
	if here.cluster.Zone == nil {
		return
	}
	for _, key := range strings.Split("abcde", "") {
		var want []string
		if slices.Contains(keys, key) {
			want = []string{address(key)}
		}
		got, err := here.cluster.Zone.Lookup(s.context(), s.stack+"-"+key)
		s.do(err)
		if !slices.Equal(got, want) {
			s.Errorf("%s-%s has the addresses %v in DNS, want %v", s.stack, key, got, want)
		}
	}
}

// address is the address of a VM with a record, in a network for documentation, so that
// it reaches no host.
func address(key string) string { return fmt.Sprintf("198.51.100.%d", 11+int(key[0]-'a')) }

// has fails if the configuration of a VM differs from these pairs of key and value.
func (s *suite) has(v vm, pairs ...string) {
	s.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := v.config[pairs[i]]; got != pairs[i+1] {
			s.Errorf("%s (%d): %s is %q, want %q", v.config["name"], v.VMID, pairs[i], got, pairs[i+1])
		}
	}
}
