package live_test

import (
	"bytes"
	"strings"
	"testing"

	"stackgen/internal/live"
	"stackgen/internal/progress"
)

// acts plays a start of six VMs that is interrupted: one is done, one waited for a lock and
// failed, one was refused, one goes on, and two were not begun.
func acts(v *live.View, c *clock, table bool) {
	var items []progress.Item
	for i, key := range []string{"a", "b", "c", "d", "e", "f"} {
		target := vm(key, 2101+i).Target
		target.Unit = ""
		items = append(items, progress.Item{Target: target, Action: "start"})
	}
	v.Start(progress.Plan{Command: "power start", Items: items, Parallel: 4, Table: table})
	says := func(i int, of progress.Type, text string) {
		v.Event(progress.Event{Target: items[i].Target, Action: "start", Type: of, Text: text})
	}
	says(0, progress.Began, "")
	says(1, progress.Locked, "it is locked (backup)")
	c.sleep(2)
	says(0, progress.Ended, "started")
	says(2, progress.Declined, "another guest has its VMID now: nothing was sent")
	says(1, progress.Began, "")
	says(3, progress.Began, "")
	c.sleep(1)
	v.Event(progress.Event{Target: items[1].Target, Action: "start", Type: progress.Problem, Text: "no space left on device", Fix: "stackgen power start homelab/b"})
	v.Interrupted("interrupted: no further VM is begun")
	says(3, progress.GoesOn, "interrupted; its task goes on")
}

func playActs(t *testing.T, mode live.Mode, table bool) string {
	t.Helper()
	c := newClock()
	var out bytes.Buffer
	v, err := live.Open(mode, &out, live.Options{Now: c.time})
	if err != nil {
		t.Fatal(err)
	}
	acts(v, c, table)
	if err := v.End(1, "interrupted"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestActionsPlain: the log of an action on VMs that exist names what waits, what was not begun,
// and what goes on. A command that prints a table of the VMs does not name them twice.
func TestActionsPlain(t *testing.T) {
	lines := `[   0 s] power start: start 6 VMs
[   0 s] a: starting (VMID 2101, node pve1)
[   0 s] b: waiting for its lock: it is locked (backup)
[   2 s] a: done after 2 s (1 of 6 VMs done), about 4 s left
[   2 s] c: not done: VM c (VMID 2103, node pve1) was not started: another guest has its VMID now: nothing was sent
[   2 s] b: starting
[   2 s] d: starting (VMID 2104, node pve1)
[   3 s] b: failed after 3 s: VM b (VMID 2102, node pve1) was not started: no space left on device
[   3 s] interrupted: no further VM is begun
[   3 s] d: goes on in Proxmox VE, after 1 s
[   3 s] power start interrupted after 3 s: 1 of 6 VMs done, 1 failed, 3 not done, 1 going on in Proxmox VE
`
	if got := playActs(t, live.Plain, true); got != lines {
		t.Errorf("got\n%s", got)
	}
	details := `  VM c (VMID 2103, node pve1) was not started: another guest has its VMID now: nothing was sent
  VM b (VMID 2102, node pve1) was not started: no space left on device
    to go on:
      stackgen power start homelab/b
  not done: VMs e and f
  going on in Proxmox VE: VM d
`
	got := playActs(t, live.Plain, false)
	for line := range strings.Lines(lines + details) {
		if !strings.Contains(got, line) {
			t.Errorf("no line %sin\n%s", line, got)
		}
	}
}

// TestActionsJSON: objects of actions have the same fields as those of an apply.
func TestActionsJSON(t *testing.T) {
	got := playActs(t, live.JSON, false)
	for _, want := range []string{
		`{"event":"start","time":0,"version":1,"command":"power start","vms":[{"stack":"homelab","key":"a","vmid":2101,"node":"pve1","action":"start"},`,
		`"key":"b","vmid":2102,"node":"pve1","action":"start","phase":"waiting for its lock","elapsed":0,"done":0,"failed":0,"total":6}`,
		`"key":"c","vmid":2103,"node":"pve1","kind":"vm","what":"VM c (VMID 2103, node pve1) was not started","next":[],"message":"another guest has its VMID now: nothing was sent"}`,
		`"next":[{"what":"to go on","lines":["stackgen power start homelab/b"]}],"message":"no space left on device"}`,
		`"key":"d","vmid":2104,"node":"pve1","action":"start","phase":"goes on","elapsed":1,`,
		`{"event":"end","time":3,"exit":1,"reason":"interrupted","vms":{"total":6,"done":1,"failed":1,"not_done":4}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestActionsRows: a row says what the VM waits for, and why it was not begun.
func TestActionsRows(t *testing.T) {
	c, s := newClock(), newScreen(t, 140, 24)
	v, err := live.Open(live.TTY, s, live.Options{Terminal: s, Now: c.time})
	if err != nil {
		t.Fatal(err)
	}
	item := progress.Item{Target: progress.Target{Kind: progress.VM, Stack: "lab", Key: "a", VMID: 300, Node: "pve1"}, Action: "shutdown"}
	other := item
	other.Key, other.VMID = "b", 301
	v.Start(progress.Plan{Command: "power shutdown", Items: []progress.Item{item, other}, Table: true})
	v.Event(progress.Event{Target: item.Target, Type: progress.Locked, Text: "it is locked (backup)"})
	v.Event(progress.Event{Target: other.Target, Type: progress.Declined, Text: "it is paused"})
	rows := &class{t: t, s: s, View: v}
	got := rows.drawn("waiting for its lock")
	for _, want := range []string{"it is locked (backup)", "not done: it is paused", "power shutdown 0 s: 0 of 2 VMs done, 1 active, 1 not done"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if err := v.End(3, ""); err != nil {
		t.Fatal(err)
	}
	if got := s.String(); strings.Contains(got, "waiting for its lock") || !strings.Contains(got, "power shutdown not done after 0 s: 0 of 2 VMs done, 2 not done") {
		t.Errorf("%s", got)
	}
}
