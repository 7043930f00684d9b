package live_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackgen/internal/live"
	"stackgen/internal/progress"
)

var update = flag.Bool("update", os.Getenv("UPDATE") != "", "write the golden files")

// A clock is set by a script.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) time() time.Time { return c.now }

func (c *clock) sleep(seconds float64) {
	c.now = c.now.Add(time.Duration(seconds * float64(time.Second)))
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

func vm(key string, vmid int) progress.Item {
	return progress.Item{Target: progress.Target{Kind: progress.VM, Stack: "homelab", Unit: "proxmox-vm", Key: key, VMID: vmid, Node: "pve1"},
		Action: progress.Create, Clone: true, Agent: true}
}

func record(key string) progress.Item {
	return progress.Item{Target: progress.Target{Kind: progress.Record, Stack: "homelab", Unit: "dns", Key: key}, Action: progress.Create}
}

// script plays the apply of four VMs and three records: two VMs fail, one of them before
// it is known why, and the record of the other is not made.
func script(v *live.View, c *clock) {
	vms := []progress.Item{vm("web01", 2101), vm("web02", 2102), vm("db", 2103), vm("mail", 2104)}
	records := []progress.Item{record("web01"), record("web02"), record("db")}
	v.Start(progress.Plan{Command: "apply", Again: "stackgen apply specs/homelab.yaml", Items: append(vms, records...), Parallel: 2})
	began := func(i progress.Item) {
		v.Event(progress.Event{Type: progress.Began, Target: i.Target, Action: i.Action})
	}
	ended := func(i progress.Item) {
		v.Event(progress.Event{Type: progress.Ended, Target: i.Target, Action: i.Action})
	}
	task := func(vmid int, kind, exit, line string) {
		v.Event(progress.Event{Type: progress.Worked, Target: progress.Target{Kind: progress.VM, VMID: vmid},
			Task: progress.Task{UPID: kind, Type: kind, Exit: exit, Line: line}})
	}
	c.sleep(1.2)
	began(vms[0])
	began(vms[1])
	c.sleep(1)
	task(2101, "qmclone", "", "transferred 0.0 B of 3.0 GiB (0.00%)")
	task(2102, "qmclone", "", "")
	c.sleep(1)
	task(2101, "qmclone", "", "transferred 1.3 GiB of 3.0 GiB (43.21%)")
	c.sleep(0.5)
	task(2102, "qmclone", "clone failed: unable to create image: No space left on device", "")
	v.Event(progress.Event{Type: progress.Failed, Target: vms[1].Target, Action: progress.Create})
	began(vms[2])
	began(vms[3])
	v.Event(progress.Event{Type: progress.Failed, Target: vms[3].Target, Action: progress.Create})
	c.sleep(4)
	task(2101, "qmclone", "OK", "")
	c.sleep(1)
	task(2101, "qmstart", "", "")
	c.sleep(1)
	task(2101, "qmstart", "OK", "")
	v.Note("the cluster is slow: 2 requests had no answer")
	c.sleep(12)
	ended(vms[0])
	c.sleep(3)
	ended(vms[2])
	v.Event(progress.Event{Type: progress.Problem, Target: vms[1].Target, Text: "VM clone\nAll attempts fail:\n#1: error cloning VM: task \"UPID:pve1:1:2:3:qmclone:9000:root@pam:\" " +
		"failed to complete with exit code: clone failed: unable to create image: No space left on device"})
	v.Event(progress.Event{Type: progress.Problem, Target: vms[3].Target, Text: "unexpected end of JSON input"})
	for _, r := range []progress.Item{records[0], records[2]} {
		began(r)
		c.sleep(0.3)
		ended(r)
	}
}

func play(t *testing.T, mode live.Mode) string {
	t.Helper()
	c := newClock()
	var out bytes.Buffer
	v, err := live.Open(mode, &out, live.Options{Now: func() time.Time { return c.now }})
	if err != nil {
		t.Fatal(err)
	}
	script(v, c)
	if err := v.End(1, ""); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPlain(t *testing.T) { golden(t, "plain.txt", play(t, live.Plain)) }

func TestJSON(t *testing.T) {
	got := play(t, live.JSON)
	for line := range strings.Lines(got) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	golden(t, "stream.jsonl", got)
}

// TestPage: what docs/progress.md shows is from these runs.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/progress.md")
	if err != nil {
		t.Fatal(err)
	}
	for language, run := range map[string]string{"text": play(t, live.Plain), "json": play(t, live.JSON)} {
		_, block, _ := strings.Cut(string(page), "```"+language+"\n")
		block, _, found := strings.Cut(block, "```")
		if !found || block == "" {
			t.Errorf("the page has no block %s", language)
		}
		for line := range strings.Lines(block) {
			if !strings.Contains(run, line) {
				t.Errorf("the run does not print %s", line)
			}
		}
	}
}

// TestHarmless: a message may have a secret, a sequence for a terminal or a command to
// a CI system; no mode prints them.
func TestHarmless(t *testing.T) {
	const secret = "5f3c9a10-7e61-4c55-9a53-0000000000ff"
	for _, mode := range []live.Mode{live.Plain, live.JSON} {
		var out bytes.Buffer
		v, err := live.Open(mode, &out, live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		item := vm("web01", 2101)
		v.Start(progress.Plan{Command: "apply", Items: []progress.Item{item}})
		v.Note("::error::x \x1b[2J")
		v.Event(progress.Event{Type: progress.Problem, Target: item.Target, Text: "PVEAPIToken=root@pam!sim=" + secret + "\n::add-mask::x\n\x1b]0;title\x07"})
		if err := v.End(1, ""); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if strings.Contains(got, secret) || strings.ContainsAny(got, "\x1b\x07") || strings.Contains(got, "\n::") {
			t.Errorf("%s prints %q", mode, got)
		}
		if !strings.Contains(got, "(secret)") {
			t.Errorf("%s prints no message: %q", mode, got)
		}
	}
}

// TestHold: results that are written during the run appear after its end, in order.
func TestHold(t *testing.T) {
	var out bytes.Buffer
	v, err := live.Open(live.Plain, &out, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	results := v.Hold(&out)
	write := func(text string) {
		if _, err := results.Write([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	write("before\n")
	v.Start(progress.Plan{Command: "apply"})
	write("one\n")
	v.Note("a note")
	write("two\n")
	if err := v.End(0, ""); err != nil {
		t.Fatal(err)
	}
	write("after\n")
	if want := "before\n[   0 s] apply: nothing to do\n[   0 s] a note\n[   0 s] apply done after 0 s: nothing to do\none\ntwo\nafter\n"; out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// TestNoStart: a command that ends before its run shows nothing.
func TestNoStart(t *testing.T) {
	var out bytes.Buffer
	v, err := live.Open(live.JSON, &out, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.Note("x")
	v.Event(progress.Event{Type: progress.Began, Target: vm("a", 1).Target})
	if err := v.End(1, ""); err != nil || out.Len() > 0 || v.Board() != nil {
		t.Errorf("%v, %q", err, out.String())
	}
}
