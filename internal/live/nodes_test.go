package live_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"stackgen/internal/live"
	"stackgen/internal/progress"
)

// onNodes are VMs on three nodes in turn, cloned from a template on pve1.
func onNodes(n int) (items []progress.Item) {
	for i := range n {
		item := vm(fmt.Sprintf("student%d", i+1), 2101+i)
		item.Stack, item.Node, item.From = "cs101", fmt.Sprintf("pve%d", i%3+1), "pve1"
		items = append(items, item)
	}
	return items
}

func down(v *live.View, node string, state progress.State, why string) {
	v.Event(progress.Event{Type: progress.NodeState, Target: progress.Target{Kind: progress.Unit, Node: node}, State: state, Text: why})
}

// A nodeRun plays a run in which nodes do not answer for a while.
func nodeRun(v *live.View, c *clock) {
	items := onNodes(6)
	v.Start(progress.Plan{Command: "apply", Again: "stackgen apply", Items: items})
	for _, item := range items[:5] {
		v.Event(progress.Event{Type: progress.Began, Target: item.Target, Action: progress.Create})
	}
	ended := func(i int) {
		v.Event(progress.Event{Type: progress.Ended, Target: items[i].Target, Action: progress.Create})
	}
	c.sleep(20)
	ended(0)
	v.Event(progress.Event{Type: progress.Worked, Target: progress.Target{Kind: progress.VM, VMID: 2104}, Task: progress.Task{UPID: "x", Type: "qmclone", Exit: "OK"}})
	c.sleep(12)
	down(v, "pve2", progress.Offline, "")
	down(v, "pve9", progress.Offline, "") // nobody waits for it
	c.sleep(8)
	down(v, "pve3", progress.Silent, "Connection refused")
	c.sleep(12)
	down(v, "pve2", progress.Answers, "")
	down(v, "pve9", progress.Answers, "")
	ended(1)
	ended(3)
	v.Event(progress.Event{Type: progress.Failed, Target: items[2].Target, Action: progress.Create})
	v.Event(progress.Event{Type: progress.Problem, Target: items[2].Target,
		Text: "VM clone\nerror while waiting for task \"UPID:pve3:1:2:3:qmclone:9000:root@pam:\" to complete: received an HTTP 595 response - Reason: Connection refused"})
}

// TestNodesPlain: a log names a node that does not answer, why, who waits for it, and what to
// do; an error that comes from it says so.
func TestNodesPlain(t *testing.T) { golden(t, "nodes.txt", playNodes(t, live.Plain)) }

func playNodes(t *testing.T, mode live.Mode) string {
	t.Helper()
	c := newClock()
	var out bytes.Buffer
	v, err := live.Open(mode, &out, live.Options{Now: func() time.Time { return c.now }})
	if err != nil {
		t.Fatal(err)
	}
	nodeRun(v, c)
	if err := v.End(1, ""); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestNodesJSON(t *testing.T) {
	var got []string
	for line := range strings.Lines(playNodes(t, live.JSON)) {
		var o struct {
			Event, Node, State string
			Waiting            []struct{ Key string }
			Next               []struct{ Lines []string }
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		if o.Event == "node" {
			got = append(got, fmt.Sprint(o.Node, " ", o.State, " ", o.Waiting, o.Next))
		}
	}
	want := "pve2 offline [{student2} {student5}] [{[pvecm status]}]\npve3 silent [{student3} {student6}] [{[systemctl restart pvedaemon pveproxy]}]\npve2 answers [] []"
	if strings.Join(got, "\n") != want {
		t.Errorf("the objects are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// TestRowsReasons: on a terminal, what several VMs fail from or wait for is said once, below
// the rows.
func TestRowsReasons(t *testing.T) {
	c := newClass(t, 21, 80, 24)
	for i := range 20 {
		c.began(i)
	}
	c.clock.sleep(2)
	for i := range 12 {
		c.Event(progress.Event{Type: progress.Failed, Target: c.items[i].Target, Action: progress.Create})
		c.Event(progress.Event{Type: progress.Problem, Target: c.items[i].Target, Text: "received an HTTP 403 response - Reason: Permission check failed (/storage/shared, Datastore.AllocateSpace)"})
	}
	c.failed(12)
	down(c.View, "pve3", progress.Offline, "")
	c.clock.sleep(1)
	c.drawn("apply 3 s")
	c.s.check("", 1)
	golden(t, "rows-reasons.txt", c.s.String())
	if err := c.End(1, ""); err != nil {
		t.Fatal(err)
	}
}

// TestAlike: a log says the reason of 21 failures once, whenever it becomes known.
func TestAlike(t *testing.T) {
	const text = "Permission check failed (/storage/shared, Datastore.AllocateSpace)"
	for name, late := range map[string]bool{"at once": false, "at the end": true} {
		c := newClock()
		var out bytes.Buffer
		v, err := live.Open(live.Plain, &out, live.Options{Now: func() time.Time { return c.now }})
		if err != nil {
			t.Fatal(err)
		}
		items := onNodes(21)
		v.Start(progress.Plan{Command: "apply", Items: items})
		for i := range items {
			if !late {
				v.Event(progress.Event{Type: progress.Worked, Target: progress.Target{Kind: progress.VM, VMID: items[i].VMID}, Task: progress.Task{UPID: fmt.Sprint(i), Type: "qmclone", Exit: text}})
			}
			v.Event(progress.Event{Type: progress.Failed, Target: items[i].Target, Action: progress.Create})
		}
		for i := range items {
			v.Event(progress.Event{Type: progress.Problem, Target: items[i].Target, Text: text})
		}
		before := out.String()
		if err := v.End(1, ""); err != nil {
			t.Fatal(err)
		}
		end := strings.TrimPrefix(out.String(), before)
		if strings.Count(before, "Datastore.AllocateSpace") != 1 || strings.Count(before, "OpenTofu prints the reason") > 1 || strings.Count(before, "failed after 0 s") != 21 {
			t.Errorf("%s: the run prints\n%s", name, before)
		}
		not := map[bool]string{false: "created", true: "completed"}[late] // that the clones have failed is known by their tasks only
		if strings.Count(end, "no privilege") != 1 || !strings.Contains(end, "21 VMs were not "+not+": the token has no privilege") {
			t.Errorf("%s: the end is\n%s", name, end)
		}
	}
}
