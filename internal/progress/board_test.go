package progress

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func target(kind Kind, key string) Target { return Target{Kind: kind, Stack: "lab", Key: key} }

func newVM(key string, vmid int) Item {
	item := Item{Target: target(VM, key), Action: Create, Clone: true, Agent: true}
	item.VMID, item.Node = vmid, "pve1"
	return item
}

// A script is a sequence of events, one a line:
//
//	AT began|working|ended|failed KIND KEY [ACTION]
//	AT problem KIND KEY TEXT
//	AT task VMID TYPE [EXIT [LINE]], where EXIT is - for a running task
func play(t *testing.T, b *Board, script string) {
	t.Helper()
	for line := range strings.Lines(script) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var at float64
		if _, err := fmt.Sscan(f[0], &at); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		e := Event{At: at, Type: Type(f[1])}
		switch e.Type {
		case Worked:
			e.Target = Target{Kind: VM}
			if _, err := fmt.Sscan(f[2], &e.VMID); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			e.Task = Task{UPID: f[3], Type: strings.TrimRight(f[3], "0123456789")}
			if len(f) > 4 && f[4] != "-" {
				e.Task.Exit = strings.ReplaceAll(f[4], "_", " ")
			}
			if len(f) > 5 {
				e.Task.Line = strings.Join(f[5:], " ")
			}
		case Problem:
			e.Target, e.Text = target(Kind(f[2]), f[3]), strings.Join(f[4:], " ")
		case Summary:
			e.Target, e.Counts = Target{Kind: Unit, Stack: "lab"}, Counts{Operation: f[2]}
		default:
			e.Target, e.Action = target(Kind(f[2]), f[3]), Create
			if len(f) > 4 {
				e.Action = Action(f[4])
			}
		}
		b.Add(e)
	}
}

// rows are the rows of a board in short: key, phase, percentage, begin and end.
func rows(b *Board) string {
	var out strings.Builder
	for _, r := range b.Rows {
		fmt.Fprintf(&out, "%s: %s", r.Key, r.Phase)
		if r.Percent >= 0 {
			fmt.Fprintf(&out, " %.1f%%", r.Percent)
		}
		fmt.Fprintf(&out, " %g-%g", r.Began, r.Ended)
		if r.Error != "" {
			fmt.Fprintf(&out, " %q", r.Error)
		}
		out.WriteString("\n")
	}
	return out.String()
}

func TestBoard(t *testing.T) {
	change := Item{Target: target(VM, "web01"), Action: Change}
	change.VMID = 101
	move, destroy, adopted := change, change, change
	move.Action, destroy.Action, adopted.Action = Move, Destroy, Import
	start := change
	start.Action, start.Planned = Start, true
	silent := newVM("web01", 101)
	silent.Agent = false
	tests := []struct {
		name   string
		items  []Item
		script string
		want   string
	}{
		{"nothing has happened", []Item{newVM("web01", 101)}, "", "web01: queued -1--1\n"},
		{"a clone", []Item{newVM("web01", 101)}, "1 began vm web01\n2 task 101 qmclone - transferred 1.2 GiB of 4.0 GiB (30.50%)", "web01: cloning 30.5% 1--1\n"},
		{"a clone that says nothing new keeps its percentage", []Item{newVM("web01", 101)},
			"1 began vm web01\n2 task 101 qmclone - transferred 1.2 GiB of 4.0 GiB (30.50%)\n3 task 101 qmclone", "web01: cloning 30.5% 1--1\n"},
		{"the clone is done", []Item{newVM("web01", 101)}, "1 began vm web01\n2 task 101 qmclone - (1.2 GiB transferred (30.50%)\n3 task 101 qmclone OK", "web01: configuring 1--1\n"},
		{"a resize", []Item{newVM("web01", 101)}, "1 began vm web01\n2 task 101 resize", "web01: configuring 1--1\n"},
		{"a start", []Item{newVM("web01", 101)}, "1 began vm web01\n2 task 101 qmstart", "web01: starting 1--1\n"},
		{"the agent", []Item{newVM("web01", 101)}, "1 began vm web01\n2 task 101 qmstart OK", "web01: waiting for the agent 1--1\n"},
		{"no agent", []Item{silent}, "1 began vm web01\n2 task 101 qmstart OK", "web01: starting 1--1\n"},
		{"ready", []Item{newVM("web01", 101)}, "1 began vm web01\n9 ended vm web01", "web01: ready 1-9\n"},
		{"a clone that the command made itself is configured", []Item{newVM("web01", 101)}, "1 began vm web01 change\n9 ended vm web01 change", "web01: done 1-9\n"},
		{"without a beginning", []Item{newVM("web01", 101)}, "9 ended vm web01", "web01: ready 9-9\n"},
		{"only tasks", []Item{newVM("web01", 101)}, "2 task 101 qmclone\n5 task 101 qmstart OK", "web01: waiting for the agent 2--1\n"},
		{"only progress", []Item{newVM("web01", 101)}, "11 working vm web01", "web01: cloning 11--1\n"},
		{"an older task comes late", []Item{newVM("web01", 101)}, "1 began vm web01\n5 task 101 qmstart\n6 task 101 qmclone OK", "web01: starting 1--1\n"},
		{"a task after the end", []Item{newVM("web01", 101)}, "1 began vm web01\n5 ended vm web01\n6 task 101 qmstart", "web01: ready 1-5\n"},
		{"a second beginning", []Item{newVM("web01", 101)}, "1 began vm web01\n5 ended vm web01\n6 began vm web01 change", "web01: ready 1-5\n"},
		{"a migration starts the VM on the other node", []Item{move}, "1 task 101 qmstart\n1 task 101 qmigrate\n2 task 101 qmstart\n2 task 101 qmstart OK", "web01: moving 1--1\n"},
		{"a task of another VM", []Item{newVM("web01", 101)}, "1 task 999 qmstart", "web01: queued -1--1\n"},
		{"a task that says nothing", []Item{newVM("web01", 101)}, "1 task 101 vncproxy", "web01: queued -1--1\n"},

		{"a failure, and its text later", []Item{newVM("web01", 101)}, "1 began vm web01\n4 failed vm web01\n9 problem vm web01 it is full", `web01: failed 1-4 "it is full"` + "\n"},
		{"the text of the task first", []Item{newVM("web01", 101)}, "1 began vm web01\n2 task 101 qmclone no_space\n4 failed vm web01", `web01: failed 1-4 "no space"` + "\n"},
		{"the tool repeats it", []Item{newVM("web01", 101)}, "1 began vm web01\n2 task 101 qmclone no_space\n4 failed vm web01\n9 problem vm web01 task failed: no space",
			`web01: failed 1-4 "task failed: no space"` + "\n"},
		{"the tool tries again", []Item{newVM("web01", 101)}, "1 began vm web01\n2 task 101 qmclone no_space\n4 ended vm web01", "web01: ready 1-4\n"},
		{"a problem alone", []Item{newVM("web01", 101)}, "3 problem vm web01 wrong token", `web01: failed -1-3 "wrong token"` + "\n"},
		{"a failure after the end", []Item{newVM("web01", 101)}, "1 began vm web01\n2 ended vm web01\n3 problem vm web01 gone", `web01: failed 1-3 "gone"` + "\n"},
		{"the same problem twice", []Item{newVM("web01", 101)}, "3 problem vm web01 full\n3 problem vm web01 full", `web01: failed -1-3 "full"` + "\n"},

		{"what the plan does not have", nil, "1 began vm new\n2 began record new", "new: creating 1--1\nnew: creating 2--1\n"},
		{"a problem of what the plan does not have", nil, "1 problem vm new full", ""},
		{"a record", []Item{{Target: target(Record, "web01"), Action: Create}}, "1 began record web01\n2 ended record web01", "web01: done 1-2\n"},
		{"a pool", []Item{{Target: target(Pool, "lab"), Action: Destroy}}, "1 began pool lab destroy", "lab: destroying 1--1\n"},

		{"a change", []Item{change}, "1 began vm web01 change\n2 task 101 qmshutdown1", "web01: stopping 1--1\n"},
		{"it stopped", []Item{change}, "1 began vm web01 change\n2 task 101 qmshutdown1\n3 task 101 qmshutdown1 OK", "web01: changing 1--1\n"},
		{"it starts while an older task ends", []Item{change}, "1 began vm web01 change\n2 task 101 qmstart2\n3 task 101 qmshutdown1 OK", "web01: starting 1--1\n"},
		{"a disk moves", []Item{change}, "1 began vm web01 change\n2 task 101 qmmove - transferred 1.0 GiB of 4.0 GiB (25.00%)", "web01: changing 25.0% 1--1\n"},
		{"a move", []Item{move}, "1 began vm web01 change\n2 task 101 qmigrate - migration active, transferred 1.0 GiB of 4.0 GiB VM-state", "web01: moving 25.0% 1--1\n"},
		{"a start by a plan", []Item{start}, "1 began vm web01 change", "web01: starting 1--1\n"},
		{"started by a plan", []Item{start}, "1 began vm web01 change\n2 task 101 qmstart OK\n3 ended vm web01 change", "web01: done 1-3\n"},
		{"a destroy", []Item{destroy}, "1 began vm web01 destroy\n2 task 101 qmstop1\n3 task 101 qmstop1 OK\n4 task 101 qmdestroy", "web01: destroying 1--1\n"},
		{"destroyed", []Item{destroy}, "1 began vm web01 destroy\n4 ended vm web01 destroy", "web01: done 1-4\n"},
		{"first half of a replacement", []Item{newVM("web01", 101)}, "1 began vm web01 destroy\n2 ended vm web01 destroy", "web01: queued 1--1\n"},
		{"a replacement", []Item{newVM("web01", 101)}, "1 began vm web01 destroy\n2 ended vm web01 destroy\n3 began vm web01\n9 ended vm web01", "web01: ready 1-9\n"},
		{"an import has no events but the summary", []Item{adopted}, "1 summary plan\n5 summary apply", "web01: done 5-5\n"},
		{"an import of a plan", []Item{adopted}, "1 summary plan", "web01: queued -1--1\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := NewBoard(Plan{Command: "apply", Items: test.items})
			play(t, b, test.script)
			if got := rows(b); got != test.want {
				t.Errorf("got %swant %s", got, test.want)
			}
		})
	}
}

func TestChanged(t *testing.T) {
	b := NewBoard(Plan{Items: []Item{newVM("web01", 101)}})
	at := func(e Event) string {
		var out []string
		for _, c := range b.Add(e) {
			out = append(out, fmt.Sprint(c.Row.Phase, " ", c.Phase))
		}
		return strings.Join(out, ", ")
	}
	began := Event{Type: Began, Target: target(VM, "web01"), Action: Create}
	clone := Event{Type: Worked, Target: Target{Kind: VM, VMID: 101}, Task: Task{UPID: "1", Type: "qmclone", Line: "transferred 1 of 2 (50%)"}}
	for i, test := range []struct {
		e    Event
		want string
	}{{began, "cloning true"}, {began, ""}, {clone, "cloning false"}, {clone, ""}} {
		if got := at(test.e); got != test.want {
			t.Errorf("%d: %q, want %q", i, got, test.want)
		}
	}
}

func TestUnitErrors(t *testing.T) {
	b := NewBoard(Plan{})
	e, ok := Parse("lab", "proxmox-vm", []byte(`{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Error acquiring the state lock","detail":"Lock Info: ID: 7"}}`))
	if !ok {
		t.Fatal("no event")
	}
	b.Add(e)
	b.Add(e)
	if len(b.Errors) != 1 || !strings.Contains(b.UnitTrouble(b.Errors[0]).String(), "unit lab/proxmox-vm failed: another run holds the lock") {
		t.Errorf("%+v", b.Errors)
	}
}

func TestFinish(t *testing.T) {
	b := NewBoard(Plan{Items: []Item{newVM("a", 101), newVM("b", 102), newVM("c", 103)}})
	play(t, b, "1 began vm a\n2 ended vm a\n2 began vm b")
	skipped := b.Finish(9)
	if want := "a: ready 1-2\nb: not done 2-9\nc: not done -1-9\n"; rows(b) != want || len(skipped) != 2 {
		t.Errorf("%s%d", rows(b), len(skipped))
	}
	if got := b.Total(); got != (Total{All: 3, Done: 1, Skipped: 2}) {
		t.Errorf("%+v", got)
	}
}

func TestLeft(t *testing.T) {
	four := []Item{newVM("a", 101), newVM("b", 102), newVM("c", 103), newVM("d", 104)}
	other := slices.Concat(four[:3], []Item{{Target: target(VM, "d"), Action: Destroy}})
	tests := []struct {
		name     string
		items    []Item
		parallel int
		script   string
		now      float64
		want     float64 // -1 for none
	}{
		{"nothing is known", four, 2, "", 0, -1},
		{"none is done", four, 2, "0 began vm a\n0 began vm b", 5, -1},
		{"one by one", four, 1, "0 began vm a\n10 ended vm a\n10 began vm b", 14, 26},
		{"two at a time", four, 2, "0 began vm a\n0 began vm b\n10 ended vm a\n10 ended vm b", 10, 10},
		{"as many as were seen", four, 0, "0 began vm a\n0 began vm b\n10 ended vm a\n10 ended vm b", 10, 10},
		{"a VM that takes longer than others", four, 4, "0 began vm a\n0 began vm b\n0 began vm c\n0 began vm d\n10 ended vm a\n10 ended vm b\n10 ended vm c", 30, -1},
		{"failures do not count", four, 1, "0 began vm a\n1 failed vm a\n1 began vm b", 5, -1},
		{"all are done", four[:1], 1, "0 began vm a\n10 ended vm a", 10, -1},
		{"another action is not known yet", other, 1, "0 began vm a\n10 ended vm a", 10, -1},
		{"a record is no VM", append(four[:1:1], Item{Target: target(Record, "r"), Action: Create}), 1, "0 began vm a\n10 ended vm a", 10, -1},
	}
	for _, test := range tests {
		b := NewBoard(Plan{Items: test.items, Parallel: test.parallel})
		play(t, b, test.script)
		got, ok := b.Left(test.now)
		if ok != (test.want >= 0) || ok && got != test.want {
			t.Errorf("%s: %v, %v", test.name, got, ok)
		}
	}
}

// TestRecordedApply plays a recording of OpenTofu, with the plan that it had.
func TestRecordedApply(t *testing.T) {
	data, err := os.ReadFile("testdata/apply.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	b := NewBoard(Plan{Items: []Item{newVM("linked", 2104), newVM("registry", 123), newVM("web01", 2101), newVM("web02", 2102)}, Again: "stackgen apply"})
	at := 0.0
	for line := range bytes.Lines(data) {
		if e, ok := Parse("lab", "proxmox-vm", line); ok {
			at++
			e.At = at
			b.Add(e)
		}
	}
	var got []string
	for _, r := range b.Rows {
		got = append(got, strings.TrimSpace(string(r.Phase)+" "+b.Trouble(r).String()))
	}
	want := `ready
failed VM registry (VMID 123, node pve1) was not completed: another VM or container has VMID 123 already
ready
failed VM web02 (VMID 2102, node pve1) was not completed: there is no storage nosuch
done`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
