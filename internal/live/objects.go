package live

import (
	"cmp"
	"io"
	"math"

	"stackgen/internal/finding"
	"stackgen/internal/progress"
	"stackgen/internal/report"
)

// version is that of the stream of JSON objects: it changes when a field changes its
// meaning or goes. docs/progress.md describes the fields.
const version = 1

// objects show a run as JSON objects, one a line.
type objects struct {
	out io.Writer
	err error
}

// A head begins every object.
type head struct {
	Event string  `json:"event"`
	Time  float64 `json:"time"` // seconds since the start
}

// A target is what an object is about.
type target struct {
	Stack string `json:"stack"`
	Unit  string `json:"unit,omitempty"`
	Key   string `json:"key,omitempty"`
	VMID  int    `json:"vmid,omitempty"`
	Node  string `json:"node,omitempty"`
}

func newTarget(t progress.Target) target {
	return target{Stack: t.Stack, Unit: t.Unit, Key: t.Key, VMID: t.VMID, Node: t.Node}
}

// A planned is one row of the start.
type planned struct {
	target
	Action string `json:"action"`
}

type started struct {
	head
	Version int       `json:"version"`
	Command string    `json:"command"`
	VMs     []planned `json:"vms"`
	Records []planned `json:"records"`
	Pools   []planned `json:"pools"`
}

// A row is a change of a VM, record or pool.
type row struct {
	head
	target
	Action  string   `json:"action"`
	Phase   string   `json:"phase"`
	Percent *float64 `json:"percent,omitempty"`
	Elapsed float64  `json:"elapsed"`
	Done    int      `json:"done"`
	Failed  int      `json:"failed"`
	Total   int      `json:"total"`
	Left    *float64 `json:"left,omitempty"`
}

// A step is one thing to do about an error.
type step struct {
	What  string   `json:"what"`
	Lines []string `json:"lines"`
}

type failure struct {
	head
	target
	Kind    string   `json:"kind"`
	What    string   `json:"what"`
	Why     string   `json:"why,omitempty"`
	Off     bool     `json:"off,omitempty"`
	Taken   []string `json:"taken,omitempty"`
	Left    []string `json:"left,omitempty"`
	Next    []step   `json:"next"`
	Message string   `json:"message"`
}

type noted struct {
	head
	Text string `json:"text"`
}

// A node is one that is down, or answers again. Waiting are the VMs that need it.
type node struct {
	head
	Node    string   `json:"node,omitempty"`
	State   string   `json:"state"`
	Text    string   `json:"text"`
	Waiting []target `json:"waiting"`
	Next    []step   `json:"next"`
}

type count struct {
	Total   int `json:"total"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	NotDone int `json:"not_done"`
}

type ended struct {
	head
	Exit    int    `json:"exit"`
	Reason  string `json:"reason,omitempty"`
	VMs     count  `json:"vms"`
	Records count  `json:"records"`
	Pools   count  `json:"pools"`
}

func (o *objects) begin(b *progress.Board) {
	s := started{
		head: head{Event: "start"}, Version: version, Command: b.Plan.Command,
		VMs: []planned{}, Records: []planned{}, Pools: []planned{},
	}
	lists := map[progress.Kind]*[]planned{progress.VM: &s.VMs, progress.Record: &s.Records, progress.Pool: &s.Pools}
	for _, r := range b.Rows {
		if list := lists[r.Kind]; list != nil {
			*list = append(*list, planned{newTarget(r.Target), string(r.Action)})
		}
	}
	write(o, s)
}

func (o *objects) changed(b *progress.Board, r *progress.Row, phase bool, at float64) {
	t := b.Total(r.Kind)
	out := row{head: head{string(r.Kind), tenths(at)}, target: newTarget(r.Target), Action: string(r.Action), Phase: string(r.Phase),
		Elapsed: tenths(r.Elapsed(at)), Done: t.Done, Failed: t.Failed, Total: t.All}
	if r.Percent >= 0 {
		out.Percent = &r.Percent
	}
	if seconds, ok := b.Left(at); ok {
		seconds = max(tenths(seconds), 0.1)
		out.Left = &seconds
	}
	if phase || r.Phase != progress.Broken {
		write(o, out)
	}
	if r.Failed() && r.Error != "" {
		o.trouble(r.Target, b.Trouble(r), at)
	}
}

func (o *objects) failed(b *progress.Board, e progress.UnitError, at float64) {
	o.trouble(e.Target, b.UnitTrouble(e), at)
}

func (o *objects) trouble(about progress.Target, t progress.Trouble, at float64) {
	f := failure{
		head: head{"error", tenths(at)}, target: newTarget(about), Kind: string(about.Kind),
		What: t.What, Why: t.Why, Next: []step{}, Message: t.Text,
	}
	if t.Read != nil && t.Item.Action == progress.Change {
		f.Off, f.Taken, f.Left = t.Read.Off, t.Read.Taken, t.Read.Left
	}
	for _, s := range t.Next {
		f.Next = append(f.Next, newStep(s))
	}
	if t.Again != "" {
		f.Next = append(f.Next, step{What: "continue", Lines: []string{t.Again}})
	}
	write(o, f)
}

func (o *objects) note(text string, at float64) { write(o, noted{head{"note", tenths(at)}, text}) }

func (o *objects) node(b *progress.Board, e progress.Event, at float64) {
	out := node{
		head: head{"node", tenths(at)}, Node: e.Node, State: cmp.Or(string(e.State), "answers"),
		Text: nodeNote(b, e), Waiting: []target{}, Next: []step{},
	}
	for _, d := range b.Down {
		if d.Name != e.Node {
			continue
		}
		active, queued := b.Waiting(d.Name)
		for _, r := range append(active, queued...) {
			out.Waiting = append(out.Waiting, newTarget(r.Target))
		}
		out.Next = append(out.Next, newStep(d.Next()))
	}
	write(o, out)
}

func newStep(s finding.Step) step {
	out := step{What: s.What, Lines: []string{}}
	for _, l := range s.Lines {
		out.Lines = append(out.Lines, l.String())
	}
	return out
}

func (o *objects) idle(*progress.Board, float64) {}

func (o *objects) end(b *progress.Board, exit int, reason string, at float64) error {
	of := func(k progress.Kind) count {
		t := b.Total(k)
		return count{t.All, t.Done, t.Failed, t.Skipped + t.Continues}
	}
	write(o, ended{
		head: head{"end", tenths(at)}, Exit: exit, Reason: reason,
		VMs: of(progress.VM), Records: of(progress.Record), Pools: of(progress.Pool),
	})
	return o.err
}

// write writes an object on a line of its own, at once.
func write[T any](o *objects, value T) {
	o.err = cmp.Or(o.err, report.JSONLine(o.out, value))
}

// tenths are seconds with one digit after the point.
func tenths(seconds float64) float64 { return math.Round(seconds*10) / 10 }
