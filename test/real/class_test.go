package real

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/internal/pvesim"
)

// A classroom is a project with a class, the real provider and a simulated cluster.
type classroom struct {
	*project
	sim   *pvesim.Server
	stack string // that apply and touched are about
}

// apply resolves, renders, imports and applies a class, as a teacher does.
func (c *classroom) apply() {
	c.Helper()
	c.step(0, "resolve")
	c.step(0, "render")
	c.step(0, "import-blocks")
	c.sim.ResetLog()
	c.succeeds("stacks/"+c.stack, "terragrunt", "stack", "run", "apply", "--non-interactive")
}

// vms are the decisions for a class.
func (c *classroom) vms(stack string) lock.Ordered[lock.VM] {
	c.Helper()
	l, problems := lock.Read(lock.File, []byte(c.read(lock.File)))
	if l == nil {
		c.Fatal(problems)
	}
	return l.Stacks.Get(stack).VMs
}

// touched fails unless the last apply wrote exactly to these VMs of a class.
func (c *classroom) touched(want ...int) {
	c.Helper()
	var got []int
	for _, v := range c.vms(c.stack) {
		if c.sim.Writes(v.Value.VMID) > 0 {
			got = append(got, v.Value.VMID)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		c.Errorf("the apply wrote to %v, want %v", got, want)
	}
	if n := c.sim.Counters().Writes; len(want) == 0 && n != 0 {
		c.Errorf("the apply sent %d writes, want none", n)
	}
}

// placed fails unless the cluster has every VM of a class on its node, and no other one
// of its range.
func (c *classroom) placed(stack string, first, last, count int) {
	c.Helper()
	want := map[int]string{}
	for _, v := range c.vms(stack) {
		if v.Value.Status == lock.Live {
			want[v.Value.VMID] = v.Value.Node
		}
	}
	got := c.guests(first, last)
	if fmt.Sprint(got) != fmt.Sprint(want) || len(got) != count {
		c.Errorf("the cluster has %d VMs %v, want %d: %v", len(got), got, count, want)
	}
}

// registered writes the outputs of a class, and returns its registration by key. It
// fails unless it has all VMs of the lock, with their VMIDs and with addresses.
func (c *classroom) registered(command, says string) map[string]registered {
	c.Helper()
	c.step(0, command, says)
	var doc struct {
		Class string
		VMs   []registered
	}
	check(c.T, json.Unmarshal([]byte(c.read("registration/"+c.stack+".json")), &doc))
	out := map[string]registered{}
	for _, v := range doc.VMs {
		out[v.Key] = v
	}
	live := 0
	for _, v := range c.vms(c.stack) {
		if v.Value.Status != lock.Live {
			continue
		}
		live++
		got := out[v.Key]
		if got.VMID != v.Value.VMID || got.IPv4 == "" || got.Ordinal != v.Value.Seat || got.Name != c.stack+"-"+v.Key {
			c.Errorf("%s: %+v of %s, which has VMID %d", command, got, v.Key, v.Value.VMID)
		}
	}
	if doc.Class != c.stack || len(doc.VMs) != live {
		c.Errorf("%s: class %q with %d VMs, want %d", command, doc.Class, len(doc.VMs), live)
	}
	return out
}

// guests are the nodes of the guests in a range.
func (c *classroom) guests(first, last int) map[int]string {
	c.Helper()
	w, out := &simulation{t: c.T, sim: c.sim}, map[int]string{}
	for _, x := range w.api("GET", "/cluster/resources?type=vm", nil).([]any) {
		guest := x.(map[string]any)
		if id := int(guest["vmid"].(float64)); id >= first && id <= last {
			out[id] = guest["node"].(string)
		}
	}
	return out
}

// registered is what the test reads of a registration.
type registered struct {
	Key, Name, Node, IPv4, MAC string
	Ordinal, VMID              int
}

// TestClassOfTwenty takes specs/cs101.yaml from nothing in the lock to 21 VMs: the template by its
// name, the clone mode and the nodes are decided by resolve. Then the students get a
// roster, which is sorted: no VM is touched. TestClass has students who leave and join.
func TestClassOfTwenty(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(repository + "/specs/cs101.yaml")
	check(t, err)
	spec := string(body)
	c := &classroom{project: newProject(t, map[string]string{"specs/cs101.yaml": spec}), stack: "cs101"}
	c.sim = c.simulate()
	c.apply()
	c.placed("cs101", 23400, 23499, 21)
	c.noDrift()

	// The outputs of the state are those of the cluster, until somebody migrates a VM that
	// then gets another address.
	before := c.registered("outputs", "wrote the outputs of 1 stack, 21 VMs (cs101): 5 files written, 0 unchanged")
	c.registered("outputs --live", ": 0 files written, 5 unchanged")
	var student *pvesim.Guest
	home := before["student3"].Node
	c.sim.Change(func(s *pvesim.Seed) {
		student = s.Guests[slices.IndexFunc(s.Guests, func(g *pvesim.Guest) bool { return g.VMID == 23403 })]
		student.Node = map[string]string{"pve1": "pve2", "pve2": "pve1"}[home]
		student.Agent.Interfaces = []pvesim.AgentInterface{{Name: "docker0", MAC: "02:42:00:00:00:01", Addresses: []string{"172.17.0.1/16"}},
			{Name: "eth0", MAC: before["student3"].MAC, Addresses: []string{"192.0.2.250/24"}}}
	})
	after := c.registered("outputs --live", ": 5 files written")
	if got := after["student3"]; got.Node == home || got.IPv4 != "192.0.2.250" {
		t.Errorf("student3 is %+v", got)
	}
	c.sim.Change(func(*pvesim.Seed) { student.Node, student.Agent.Interfaces = home, nil })
	if again := c.registered("outputs", ": 5 files written"); !maps.Equal(again, before) {
		t.Errorf("the outputs are %v, want %v", again, before)
	}
	c.step(0, "render --check", "up to date")
	c.step(0, "resolve")

	names := []string{"name;email"}
	for n := range 20 {
		names = append(names, fmt.Sprintf("Student %c;s%d@example.org", 'A'+n, n))
	}
	c.write("specs/roster.csv", strings.Join(names, "\r\n"))
	c.write("specs/cs101.yaml", strings.Replace(spec, "  count: 20 ", "  roster_file: roster.csv ", 1))
	c.apply()
	c.touched()
	slices.Reverse(names[1:])
	c.write("specs/roster.csv", strings.Join(names, "\n"))
	c.step(0, "resolve")
	c.step(0, "render --check", "up to date")
}

// TestTwoTeachers applies two classes of one range of VMIDs from two processes at the same
// time, and destroys one: no request is refused or repeated, and the destroy sends none
// about a VM of the other class, and no write to the template.
func TestTwoTeachers(t *testing.T) {
	t.Parallel()
	const spec = `apiVersion: stackgen/v1
kind: Class
name: NAME
vmids: 300-399
template: 9002
clone: linked
placement: {nodes: [pve1]}
defaults: {started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
teacher: {}
students: {roster: [Ana Prva, Bo, Cy]}
`
	c := &classroom{project: newProject(t, map[string]string{
		"specs/art.yaml": strings.Replace(spec, "NAME", "art", 1), "specs/math.yaml": strings.Replace(spec, "NAME", "math", 1)})}
	c.sim = c.simulate()
	c.render()
	done := make(chan string, 2)
	for _, stack := range []string{"art", "math"} {
		p := c.runner()
		go func() {
			r, err := p.tools.With(attach(t, p.tools, "terragrunt")...).Run(t.Context(), p.dir+"/stacks/"+stack, "terragrunt", "stack", "run", "apply", "--non-interactive")
			if r.Code != 0 || err != nil {
				done <- fmt.Sprintf("%s: exit %d, error %v\n%s", stack, r.Code, err, r.Text())
				return
			}
			if stack == "art" { // its teacher goes on with this project
				check(t, os.CopyFS(c.dir+"/.state/art", os.DirFS(p.dir+"/.state/art")))
			}
			done <- ""
		}()
	}
	for range 2 {
		if failed := <-done; failed != "" {
			t.Fatal(failed)
		}
	}
	c.placed("art", 300, 303, 4)
	c.placed("math", 304, 307, 4)
	clones := 0
	for _, r := range c.sim.Requests() {
		if r.Write && r.Status >= 400 {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, r.Status, r.Reason)
		}
		if strings.HasSuffix(r.Path, "/clone") {
			clones++
		}
	}
	if clones != 8 {
		t.Errorf("%d clones were requested for 8 VMs", clones)
	}

	c.sim.ResetLog()
	c.succeeds("stacks/art", "terragrunt", "stack", "run", "destroy", "--non-interactive")
	c.placed("math", 300, 399, 4)
	if n := c.sim.Writes(9002); n != 0 {
		t.Errorf("the destroy of art sent %d writes to the template", n)
	}
	var others []string
	for _, v := range c.vms("math") {
		others = append(others, strconv.Itoa(v.Value.VMID))
	}
	for _, r := range c.sim.Requests() {
		if r.Write && slices.ContainsFunc(others, func(id string) bool { return strings.Contains(r.Path+"/", "/"+id+"/") }) {
			t.Errorf("the destroy of art sent %s %s", r.Method, r.Path)
		}
	}
}
