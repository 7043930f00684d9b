package live

import (
	"errors"
	"strings"
	"testing"

	"stackgen/internal/progress"
)

// TestSilence: a log says what runs when nothing has happened for a minute, and then
// once a minute.
func TestSilence(t *testing.T) {
	var out strings.Builder
	var items []progress.Item
	for i, key := range []string{"a", "b", "c", "d", "e"} {
		items = append(items, progress.Item{Target: progress.Target{Kind: progress.VM, Stack: "lab", Key: key, VMID: i + 1}, Action: progress.Create, Clone: true})
	}
	b := progress.NewBoard(progress.Plan{Command: "apply", Items: items})
	l := &lines{out: &out}
	for _, item := range items[:4] {
		b.Add(progress.Event{At: 1, Type: progress.Began, Target: item.Target, Action: progress.Create})
	}
	b.Add(progress.Event{At: 2, Type: progress.Worked, Target: progress.Target{Kind: progress.VM, VMID: 1},
		Task: progress.Task{Type: "qmclone", Line: "transferred 1.0 GiB of 3.0 GiB (33.33%)"}})
	for at := 5.0; at < 130; at += 5 {
		l.idle(b, at)
	}
	want := `[  60 s] still running: 0 of 5 VMs done, 4 active, 1 queued; a cloning 33 %, b cloning, c cloning and 1 more
[ 120 s] still running: 0 of 5 VMs done, 4 active, 1 queued; a cloning 33 %, b cloning, c cloning and 1 more
`
	if out.String() != want || l.err != nil {
		t.Errorf("%s%v", out.String(), l.err)
	}
}

// noReader is a writer whose reader is gone.
type noReader struct{}

func (noReader) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

// TestLinesUnread: lines that nobody reads are one error.
func TestLinesUnread(t *testing.T) {
	b := progress.NewBoard(progress.Plan{Command: "apply"})
	l := &lines{out: noReader{}}
	l.begin(b)
	l.note("a", 1)
	l.note("b", 2)
	if err := l.end(b, 0, "", 3); err == nil || strings.Count(err.Error(), "nobody reads") != 1 {
		t.Errorf("%v", err)
	}
}
