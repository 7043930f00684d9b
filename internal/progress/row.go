package progress

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
)

// add applies an event to the row.
func (r *Row) add(e Event) {
	switch e.Type {
	case Problem:
		r.problem(e.Text)
		r.Fix = e.Fix
		if r.Phase != Broken {
			r.over(Broken, e.At)
		}
	case Failed:
		r.begin(e.At)
		r.over(Broken, e.At)
	case Began, Working:
		if !r.Phase.Over() {
			r.begin(e.At)
			r.enter(r.first(e.Action))
		}
	case Ended:
		r.end(e)
	case Locked, Declined, GoesOn:
		r.act(e)
	case Read:
		if r.Phase == Broken {
			r.Reading = e.Reading
		}
	case Worked:
		r.seen.add(e.Task)
		if !r.Phase.Over() {
			r.work(e)
		}
	}
}

// act applies what is said of the action on a VM that exists.
func (r *Row) act(e Event) {
	switch {
	case r.Phase.Over():
	case e.Type == Declined:
		r.Error, r.Fix = e.Text, e.Fix
		r.over(Skipped, e.At)
	case e.Type == GoesOn:
		r.begin(e.At)
		r.over(Continues, e.At)
	default:
		r.begin(e.At)
		r.Phase, r.Waits = AwaitsLock, e.Text
	}
}

// problem adds what the tool says about an error. It may repeat that of the task.
func (r *Row) problem(text string) {
	switch {
	case r.Error == "", r.fromTask && strings.Contains(unwrapped(text), unwrapped(r.Error)):
		r.Error = text
	case !strings.Contains(r.Error, text):
		r.Error += "\n" + text
	}
	r.fromTask = false
}

// Word is what the guests of rows are called: VM, container, or guest if there are both.
func Word(rows []*Row) string {
	return guest.Count(rows, func(r *Row) guest.Kind { return r.Guest }).Word()
}

// first is the phase that a row is in when nothing but its action is known.
func (r *Row) first(a Action) Phase {
	switch {
	case a == Create && r.Kind == VM && r.Clone:
		return Cloning
	case r.Action == Move && a == Change:
		return Moving
	case a == "", r.Planned:
		return base(r.Action)
	}
	return base(a)
}

func (r *Row) begin(at float64) {
	if r.Began < 0 {
		r.Began = at
	}
}

// enter changes the phase, unless a task of the cluster has said more already.
func (r *Row) enter(p Phase) {
	if r.Phase == Queued || r.Phase == AwaitsLock {
		r.Phase, r.Waits = p, ""
	}
}

func (r *Row) over(p Phase, at float64) {
	r.Phase, r.Percent, r.Ended, r.Waits = p, -1, at, ""
	if r.fromTask && p != Broken { // the tool tried again
		r.Error, r.fromTask = "", false
	}
}

// end ends a row, unless only the first half of its replacement is done.
func (r *Row) end(e Event) {
	switch {
	case r.Phase.Over():
	case e.Action == Destroy && r.Action != Destroy:
		r.begin(e.At)
		r.Phase, r.Percent, r.task, r.seen = Queued, -1, "", making{}
	case r.Action == Create && r.Kind == VM && e.Action != Change: // a container that was cloned is configured, and started later
		r.begin(e.At)
		r.over(Ready, e.At)
	default:
		r.begin(e.At)
		r.over(Done, e.At)
	}
}

// work applies what a task of the cluster says about a VM.
func (r *Row) work(e Event) {
	t := e.Task
	if t.Failed() { // the tool decides whether that is the end
		r.begin(e.At)
		r.Percent, r.Error, r.fromTask = -1, t.Exit, true
		return
	}
	running, ended := t.phase(r.Action)
	next := running
	if !t.Running() {
		if next = ended; next == Waiting && !r.Agent {
			next = Starting
		}
	}
	if next == "" || r.Action == Create && next.step() < r.Phase.step() {
		return
	}
	if other := r.task != "" && r.task != t.UPID; other && r.Action != Create && (!t.Running() || next != Moving || r.Phase == Moving) {
		return // an older task than the one that runs, or one that is a part of it: a migration starts the VM
	}
	r.begin(e.At)
	if r.Phase != next {
		r.Percent = -1
	}
	r.Phase, r.task = next, t.UPID
	if p, ok := Percent(t.Line); ok && t.Running() {
		r.Percent = p
	}
	if !t.Running() {
		r.Percent, r.task = -1, ""
	}
}

// A making is what tasks of the cluster say about whether a guest that is created exists.
type making struct{ made, failed bool }

// add applies a task. Every task but that of the creation needs a guest that exists.
func (m *making) add(t Task) {
	creates := slices.Contains([]pve.Operation{pve.Clone, pve.Create}, pve.OperationOf(t.Type))
	switch running, _ := t.phase(Create); {
	case creates && t.Failed():
		m.failed = true
	case creates && !t.Running(), !creates && running != "":
		m.made = true
	}
}
