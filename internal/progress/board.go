package progress

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
)

// A Row is one VM, pool or record of a run, as it is now.
type Row struct {
	Item
	Phase   Phase
	Percent float64  // of a copy that runs; below 0 if it is not known
	Began   float64  // seconds since the start of the run; below 0 before that
	Ended   float64  // below 0 before that
	Error   string   // the message of the tool, or of the task that failed, as it is
	Waits   string   // what a VM waits for in the phase AwaitsLock
	Fix     string   // commands after an action on a VM that failed or was declined, one a line
	Reading *Reading // nil if nothing was read since

	seen     making // by tasks
	task     string // the task that the phase is from
	fromTask bool   // Error is that of a task, and the tool has not said anything yet
}

// Elapsed is how many seconds a row took, or has taken now.
func (r *Row) Elapsed(now float64) float64 {
	switch {
	case r.Began < 0:
		return 0
	case r.Ended >= 0:
		return max(r.Ended-r.Began, 0)
	}
	return max(now-r.Began, 0)
}

// Active reports whether something happens to the row now.
func (r *Row) Active() bool { return r.Began >= 0 && !r.Phase.Over() }

// A UnitError is an error of a unit that is about none of its rows.
type UnitError struct {
	Target
	Text string
}

// A Board is the state of a run.
type Board struct {
	Plan   Plan
	Rows   []*Row
	Errors []UnitError // of units
	Ending bool        // the run was interrupted: it begins nothing more
	Down   []Down      // nodes that VMs need and that do not answer

	index map[Target]*Row // by kind, stack and key
	vmids map[int]*Row
	most  int // VMs that were active at the same time
}

// NewBoard is the board of a run in which nothing has happened. Its rows are ordered by
// stack and, within one, as people count: student2 before student10.
func NewBoard(p Plan) *Board {
	b := &Board{Plan: p, index: map[Target]*Row{}, vmids: map[int]*Row{}}
	for _, item := range p.Items {
		b.add(item)
	}
	slices.SortStableFunc(b.Rows, func(x, y *Row) int {
		return cmp.Or(strings.Compare(x.Stack, y.Stack), natural.Compare(x.Key, y.Key))
	})
	return b
}

// id is what a row is found by: its unit may be named in several ways.
func (t Target) id() Target { return Target{Kind: t.Kind, Stack: t.Stack, Key: t.Key} }

func (b *Board) add(item Item) *Row {
	if r := b.index[item.id()]; r != nil {
		return r
	}
	r := &Row{Item: item, Phase: Queued, Percent: -1, Began: -1, Ended: -1}
	b.Rows = append(b.Rows, r)
	b.index[item.id()] = r
	if item.Kind == VM && item.VMID != 0 {
		b.vmids[item.VMID] = r
	}
	return r
}

// Row is the row of a target, or nil. A target of a task is found by its VMID.
func (b *Board) Row(t Target) *Row {
	if t.Key == "" && t.VMID != 0 {
		return b.vmids[t.VMID]
	}
	return b.index[t.id()]
}

// A Changed is a row that an event changed, and whether its phase is another one now.
type Changed struct {
	*Row
	Phase bool
}

// Add makes an event part of the board, and returns the rows that it changed. Events
// may come late, twice, in another order, or not at all: a row that is over changes
// only by its failure.
func (b *Board) Add(e Event) []Changed {
	switch {
	case e.Type == NodeState:
		b.setNode(e)
		return nil
	case e.Type == Summary:
		return b.imported(e)
	case e.Kind == Unit:
		b.addError(e)
		return nil
	}
	r := b.Row(e.Target)
	if r == nil && e.Type != Worked && e.Type != Problem && e.Type != Read {
		r = b.add(Item{Target: e.Target, Action: e.Action}) // the plan does not have it
	}
	if r == nil {
		b.addError(e)
		return nil
	}
	before := *r
	r.add(e)
	before.seen = r.seen // it shows nothing new
	b.most = max(b.most, b.activeVMs())
	if *r == before {
		return nil
	}
	return []Changed{{r, r.Phase != before.Phase}}
}

// imported ends the imports of a unit whose apply is complete: OpenTofu reports none of
// them on its own.
func (b *Board) imported(e Event) []Changed {
	var out []Changed
	for _, r := range b.Rows {
		if e.Counts.Operation == "apply" && r.Action == Import && r.Stack == e.Stack && r.Unit == e.Unit && !r.Phase.Over() {
			r.begin(e.At)
			r.over(Done, e.At)
			out = append(out, Changed{r, true})
		}
	}
	return out
}

// addError records an error of a unit, once.
func (b *Board) addError(e Event) {
	u := UnitError{Target: e.Target, Text: e.Text}
	if e.Type == Problem && !slices.Contains(b.Errors, u) {
		b.Errors = append(b.Errors, u)
	}
}

func (b *Board) activeVMs() int {
	n := 0
	for _, r := range b.Rows {
		if r.Kind == VM && r.Active() {
			n++
		}
	}
	return n
}

// Finish ends the run: rows that are not over are not done.
func (b *Board) Finish(at float64) []*Row {
	var out []*Row
	for _, r := range b.Rows {
		if !r.Phase.Over() {
			r.over(Skipped, at)
			out = append(out, r)
		}
	}
	return out
}

// Guests counts rows of guests.
func Guests(rows []*Row) guest.Tally {
	return guest.Count(rows, func(r *Row) guest.Kind { return r.Guest })
}
