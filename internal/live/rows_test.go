package live_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"stackgen/internal/live"
	"stackgen/internal/progress"
)

// A safeClock is a clock that a view reads while it draws.
type safeClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *safeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *safeClock) sleep(seconds float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(time.Duration(seconds * float64(time.Second)))
}

// A class is a run of many VMs on a screen.
type class struct {
	*live.View
	t     *testing.T
	s     *screen
	clock *safeClock
	items []progress.Item
}

func newClass(t *testing.T, n, width, height int) *class {
	t.Helper()
	c := &class{t: t, s: newScreen(t, width, height), clock: &safeClock{at: newClock().now}}
	for i := range n {
		item := vm(fmt.Sprintf("student%d", i+1), 2101+i)
		item.Stack, item.Node = "cs101", fmt.Sprintf("pve%d", i%3+1)
		c.items = append(c.items, item)
	}
	for i := range n {
		item := record(fmt.Sprintf("student%d", i+1))
		item.Stack = "cs101"
		c.items = append(c.items, item)
	}
	var err error
	c.View, err = live.Open(live.TTY, c.s, live.Options{Terminal: c.s, Now: c.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	c.Start(progress.Plan{Command: "apply", Again: "stackgen apply specs/cs101.yaml", Items: c.items, Parallel: 10})
	return c
}

func (c *class) began(i int) {
	c.Event(progress.Event{Type: progress.Began, Target: c.items[i].Target, Action: progress.Create})
}

func (c *class) ended(i int) {
	c.Event(progress.Event{Type: progress.Ended, Target: c.items[i].Target, Action: progress.Create})
}

func (c *class) task(i int, kind, exit, line string) {
	c.Event(progress.Event{Type: progress.Worked, Target: progress.Target{Kind: progress.VM, VMID: c.items[i].VMID},
		Task: progress.Task{UPID: kind, Type: kind, Exit: exit, Line: line}})
}

func (c *class) failed(i int) {
	c.Event(progress.Event{Type: progress.Failed, Target: c.items[i].Target, Action: progress.Create})
	c.Event(progress.Event{Type: progress.Problem, Target: c.items[i].Target, Text: "VM clone\nNo space left on device"})
}

// middle plays the run until some VMs are ready, one has failed and some are active.
func (c *class) middle() {
	for i := range 10 {
		c.began(i)
	}
	c.clock.sleep(20)
	for i := range 6 {
		c.task(i, "qmclone", "OK", "")
	}
	c.failed(6)
	c.ended(0)
	c.ended(1)
	for i := range 4 {
		c.began(10 + i)
		c.task(10+i, "qmclone", "", fmt.Sprintf("transferred 1.0 GiB of 3.0 GiB (%d.5%%)", 20*i))
	}
	c.task(2, "qmstart", "", "")
	c.task(3, "qmstart", "OK", "")
	c.clock.sleep(3)
}

// drawn waits until the screen shows a frame that has a text.
func (c *class) drawn(text string) string {
	c.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got := c.s.String(); strings.Contains(got, text) {
			return got
		}
	}
	c.t.Fatalf("the screen never showed %q:\n%s", text, c.s)
	return ""
}

func TestRows(t *testing.T) {
	for _, size := range []struct{ n, width, height int }{{21, 80, 24}, {21, 200, 60}, {100, 80, 24}, {100, 200, 60}, {100, 80, 10}, {21, 40, 6}, {14, 20, 3}} {
		name := fmt.Sprintf("%d-%dx%d", size.n, size.width, size.height)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClass(t, size.n, size.width, size.height)
			c.middle()
			c.drawn("apply 23 s")
			c.s.check(name, 0)
			golden(t, "rows-"+name+".txt", c.s.String())
			if err := c.End(1, "interrupted"); err != nil {
				t.Fatal(err)
			}
			if size == struct{ n, width, height int }{21, 80, 24} {
				golden(t, "rows-end.txt", c.s.String())
			}
		})
	}
}

// TestRowsResize: after every change of the window, the screen has one frame, which
// fits.
func TestRowsResize(t *testing.T) {
	c := newClass(t, 21, 120, 40)
	c.middle()
	c.Note("a line that stays")
	c.drawn("23 s")
	c.drawn("a line that stays")
	for i, size := range [][2]int{{60, 40}, {200, 50}, {80, 24}, {41, 24}, {120, 40}} {
		c.s.resize(size[0], size[1])
		c.clock.sleep(1)
		got := c.drawn(fmt.Sprintf("%d s, about", 24+i))
		name := fmt.Sprint(size)
		if n := strings.Count(got, "student1 "); n != 1 {
			t.Errorf("%s: student1 is shown %d times\n%s", name, n, got)
		}
		c.s.check(name, strings.Count(got, "a line that stays"))
	}
	if err := c.End(0, ""); err != nil {
		t.Fatal(err)
	}
	if got := c.s.String(); strings.Contains(got, "cloning") || !strings.Contains(got, "apply failed after") {
		t.Errorf("at the end, the screen shows\n%s", got)
	}
	if n := strings.Count(c.s.all(), "a line that stays"); n != 1 {
		t.Errorf("the note was written %d times", n)
	}
}

// TestRowsAfterControlC: the terminal writes ^C where the cursor is; the next frame
// begins at the left all the same, has no estimate any more, and the end leaves no rest of
// a frame.
func TestRowsAfterControlC(t *testing.T) {
	c := newClass(t, 14, 80, 24)
	c.middle()
	c.drawn("23 s")
	if _, err := c.s.Write([]byte("^C")); err != nil {
		t.Fatal(err)
	}
	c.Interrupted("interrupted: OpenTofu ends what runs")
	c.clock.sleep(1)
	got := c.drawn("24 s:")
	if strings.Contains(got, "^C") || !strings.HasPrefix(got, "interrupted: OpenTofu ends what runs\n  student1 ") {
		t.Errorf("the screen shows\n%s", got)
	}
	if err := c.End(1, "interrupted"); err != nil {
		t.Fatal(err)
	}
	if err := c.End(1, "interrupted"); err != nil { // a second end does nothing
		t.Fatal(err)
	}
	if got := c.s.String(); strings.Count(got, "apply interrupted after 24 s") != 1 || strings.Contains(got, "  student2 ") {
		t.Errorf("at the end, the screen shows\n%s", got)
	}
}

// TestRowsAreHarmless: a name or a message cannot send a sequence to the terminal.
func TestRowsAreHarmless(t *testing.T) {
	s := newScreen(t, 80, 24)
	clock := &safeClock{at: newClock().now}
	v, err := live.Open(live.TTY, s, live.Options{Terminal: s, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	evil := vm("a\x1b[2J\x07\n\u202eb", 2101)
	evil.Node = "\x1b]0;x\x07"
	v.Start(progress.Plan{Command: "apply", Items: []progress.Item{evil}})
	v.Event(progress.Event{Type: progress.Failed, Target: evil.Target, Action: progress.Create})
	v.Event(progress.Event{Type: progress.Problem, Target: evil.Target, Text: "\x1b[31mred\x1b[?1049h"})
	v.Note("note \x1bc")
	(&class{t: t, s: s}).drawn("note")
	if err := v.End(1, ""); err != nil {
		t.Fatal(err)
	}
	if got := s.String(); strings.ContainsAny(got, "\x1b\x07\u202e") || !strings.Contains(got, "was not completed") {
		t.Errorf("the screen shows %q", got)
	}
}

func TestOpen(t *testing.T) {
	if _, err := live.Open(live.TTY, &strings.Builder{}, live.Options{}); err == nil {
		t.Error("rows without a terminal")
	}
	if _, err := live.Open("dots", &strings.Builder{}, live.Options{}); err == nil {
		t.Error("a mode that does not exist")
	}
	for _, ci := range []bool{true, false} {
		s := newScreen(t, 80, 24)
		v, err := live.Open(live.Auto, s, live.Options{Terminal: s, CI: ci})
		if err != nil {
			t.Fatal(err)
		}
		v.Start(progress.Plan{Command: "apply"})
		if err := v.End(0, ""); err != nil {
			t.Fatal(err)
		}
		if lines := strings.HasPrefix(s.String(), "[   0 s] apply: nothing to do"); lines != ci {
			t.Errorf("CI %v: %s", ci, s)
		}
	}
	if live.TerminalOf(&strings.Builder{}) != nil {
		t.Error("a builder is a terminal")
	}
}
