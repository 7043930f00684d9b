//go:build unix

package real

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"stackgen/internal/pvesim"
)

// feasibleSpec is the stack of which every case breaks one thing.
const feasibleSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live}
vms:
  a:
    node: pve1
    template: {vmid: 9000, node: pve1}
    serial: socket
    vga: {type: serial0}
    disks: [{interface: scsi0, size: 8, datastore: shared}]
    cloud_init: {datastore: shared}
`

// feasibleRights are the privileges that the creation needs, and those that reading the
// cluster needs.
const feasibleRights = "VM.Audit,VM.Clone,VM.Allocate,VM.Config.Disk,VM.Config.CDROM,VM.Config.CPU,VM.Config.Memory,VM.Config.Network," +
	"VM.Config.HWType,VM.Config.Options,VM.Config.Cloudinit,VM.PowerMgmt,VM.Monitor,VM.Migrate,Datastore.AllocateSpace,Datastore.Audit," +
	"Mapping.Use,SDN.Use,SDN.Audit,Pool.Allocate,Pool.Audit,Sys.Audit"

// A feasibleCase is something that a creation needs and that is missing.
type feasibleCase struct {
	what   string                            // is missing
	edits  []string                          // of the spec: pairs of old and new text
	seed   func(*pvesim.Seed)                // changes the cluster
	rights func(*pvesim.Seed) []pvesim.Grant // instead of the role with all privileges on /
	words  map[string]string                 // values of placeholders in the steps
	server string                            // part of the error without the check
	want   string                            // part of the finding
}

// TestFeasibility breaks one thing that the creation of a VM needs, for each row of the
// table in docs/feasibility.md. Without stackgen, the requests of the provider fail.
// preflight names it before anything is written; each way out that it prints is taken in a
// copy of the state; then preflight is 0, and the requests of the provider succeed.
func TestFeasibility(t *testing.T) {
	tools := findFaultTools(t)
	var lock sync.Mutex
	rows := make([]string, len(feasibleCases()))
	t.Run("cases", func(all *testing.T) {
		for i, c := range feasibleCases() {
			all.Run(strings.ReplaceAll(strings.ReplaceAll(c.what, ",", ""), " ", "-"), func(t *testing.T) {
				t.Parallel()
				row := c.run(t, &faultWorld{tools: tools})
				lock.Lock()
				rows[i] = row
				lock.Unlock()
			})
		}
	})
	feasibleTable(t, "creation", "| what is missing | the server says, without the check | preflight says | ways out |\n|---|---|---|---|\n", rows)
}

// enter makes the state of the case in a cluster of its own.
func (c *feasibleCase) enter(t *testing.T, world *faultWorld) *faultCase {
	t.Helper()
	w := world.cell(t, func(s *pvesim.Seed) {
		s.Pools = []*pvesim.Pool{{ID: "live"}}
		s.Roles = []*pvesim.Role{{ID: "all", Privileges: strings.Split(feasibleRights, ",")}}
		s.Users = append(s.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: feasibleSecret}}})
		grants := []pvesim.Grant{{Path: "/", To: "ci@pve", Role: "all"}}
		if c.rights != nil {
			grants = c.rights(s)
		}
		for i := range grants {
			s.ACL = append(s.ACL, &grants[i])
		}
		if c.seed != nil {
			c.seed(s)
		}
	})
	w.tools = w.tools.With("PROXMOX_VE_API_TOKEN=ci@pve!t=" + feasibleSecret)
	w.settings("")
	spec := feasibleSpec
	for i := 0; i+1 < len(c.edits); i += 2 {
		if !strings.Contains(spec, c.edits[i]) {
			t.Fatalf("the spec has no %q", c.edits[i])
		}
		spec = strings.Replace(spec, c.edits[i], c.edits[i+1], 1)
	}
	w.spec(spec, true)
	return w
}

const feasibleSecret = "5f3c9a10-7e61-4c55-9a53-00000000f00d"

// run tests one case, and returns its row.
func (c *feasibleCase) run(t *testing.T, world *faultWorld) string {
	failure := "nothing"
	if err := c.enter(t, world).create(); err != nil {
		failure = err.Error()
	}
	if !strings.Contains(failure, c.server) || c.server == "" {
		t.Errorf("without the check, the server says %q, want %q", failure, c.server)
	}
	w := c.enter(t, world)
	r := w.preflight(t, 3)
	if !strings.Contains(r.output, c.want) || !strings.Contains(r.output, "cannot-create") {
		t.Errorf("preflight does not say %q:\n%s", c.want, r.output)
	}
	var steps []string
	ways := waysIn(r.output)
	if len(ways) == 0 {
		t.Fatalf("no way out is printed:\n%s", r.output)
	}
	for i := range ways {
		steps = append(steps, c.take(t, world, i))
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", c.what, faultText.Replace(volatile.ReplaceAllString(failure, "")), faultText.Replace(ways[0].reason), strings.Join(steps, "<br>"))
}

// volatile are parts of errors that differ from run to run.
var volatile = regexp.MustCompile(` at /usr/share\S* line \d+\.?`)

// preflight runs preflight, which must write nothing.
func (w *faultCase) preflight(t *testing.T, code int) commandResult {
	t.Helper()
	before := w.sim.Counters().Writes
	r := w.stackgen("preflight", "--verbose")
	if r.code != code {
		t.Errorf("preflight: exit %d, want %d\n%s", r.code, code, r.output)
	}
	if n := w.sim.Counters().Writes - before; n > 0 {
		t.Errorf("preflight has sent %d writes", n)
	}
	return r
}

// take takes one way out in a copy of the state, and creates the VM.
func (c *feasibleCase) take(t *testing.T, world *faultWorld, i int) string {
	w := c.enter(t, world)
	w.world = world
	h := w.startHost()
	s := &wayState{words: c.words}
	way := waysIn(w.preflight(t, 3).output)[i]
	text := cellOf(&way)
	if way.reads() {
		return text
	}
	if reason := s.take(w, h, &way); reason != "" {
		t.Fatalf("%s\n%s", way.text(), reason)
	}
	w.must(w.stackgen("render"))
	if r := w.preflight(t, 0); r.code != 0 {
		t.Fatalf("after %s", way.text())
	}
	if err := w.create(); err != nil {
		t.Errorf("preflight is 0 after\n%s\nand the creation fails: %v", way.text(), err)
	}
	return text
}

// cellOf is a way in the table: its lines, or its words if it has none.
func cellOf(of *way) string {
	if len(of.lines) == 0 {
		return faultText.Replace(of.what)
	}
	return "`" + strings.Join(strings.Split(faultText.Replace(strings.Join(of.lines, "\n")), "\n"), "`<br>`") + "`"
}

// feasibleTable compares a table with the documentation.
func feasibleTable(t *testing.T, name, head string, rows []string) {
	t.Helper()
	if slices.Contains(rows, "") {
		return // -run selected some, or one failed
	}
	file := filepath.Join(repository, "docs", "feasibility.md")
	body, err := os.ReadFile(file)
	check(t, err)
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(string(body), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no markers for the table", file)
	}
	text := before + begin + head + strings.Join(rows, "") + end + after
	if os.Getenv("UPDATE") != "" {
		check(t, os.WriteFile(file, []byte(text), 0o666))
	} else if text != string(body) {
		t.Errorf("%s differs from the results; UPDATE=1 writes them", file)
	}
}
