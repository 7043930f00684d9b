package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"stackgen/internal/progress"
)

// A Mode is how a run is shown.
type Mode string

// The modes.
const (
	Auto  Mode = "auto" // TTY on a terminal, and otherwise Plain
	TTY   Mode = "tty"
	Plain Mode = "plain"
	JSON  Mode = "json"
)

// Modes are the values of the flag --progress, the default first.
func Modes() []string { return []string{string(Auto), string(TTY), string(Plain), string(JSON)} }

// Options say where and how a run is shown.
type Options struct {
	CI       bool             // CI=true: Auto is Plain even on a terminal
	Color    bool             // colors, on a terminal
	Terminal Terminal         // where the rows are shown; nil for that of the output, if it is one
	Now      func() time.Time // time.Now, except in tests
}

// A Terminal is where rows that change can be shown.
type Terminal interface {
	Size() (width, height int, err error)
}

// A View shows one run. Its methods may be called from several goroutines.
type View struct {
	mu    sync.Mutex
	start time.Time
	now   func() time.Time
	board *progress.Board
	show  renderer
	done  bool
	stop  chan struct{} // of the goroutine of idle
	held  []holder
	down  map[string]bool // nodes of which the view says that they are down
}

// A holder is text for another output, which waits for the end of the run.
type holder struct {
	out  io.Writer
	text []byte
}

// A renderer shows the changes of a board. The view calls it from one goroutine at a
// time.
type renderer interface {
	begin(b *progress.Board)
	changed(b *progress.Board, r *progress.Row, phase bool, at float64)
	failed(b *progress.Board, e progress.UnitError, at float64)
	note(text string, at float64)
	node(b *progress.Board, e progress.Event, at float64) // the state of a node is another one
	end(b *progress.Board, exit int, reason string, at float64) error
	idle(b *progress.Board, at float64) // every few seconds
}

// idleEvery is how often a renderer may say that nothing has happened.
const idleEvery = 5 * time.Second

// Open makes the view of a run. In the mode tty, the output must be a terminal.
func Open(mode Mode, out io.Writer, o Options) (*View, error) {
	v := &View{now: o.Now}
	if v.now == nil {
		v.now = time.Now
	}
	if o.Terminal == nil {
		o.Terminal = TerminalOf(out)
	}
	if mode == Auto {
		mode = Plain
		if o.Terminal != nil && !o.CI {
			mode = TTY
		}
	}
	switch mode {
	case TTY:
		if o.Terminal == nil {
			return nil, fmt.Errorf("--progress tty needs a terminal; use --progress plain")
		}
		v.show = newRows(v, out, o)
	case JSON:
		v.show = &objects{out: out}
	case Plain:
		v.show = &lines{out: out}
	default:
		return nil, fmt.Errorf("there is no progress mode %q", mode)
	}
	return v, nil
}

// Start begins the run: times count from here. What happened before is not shown.
func (v *View) Start(p progress.Plan) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.start = v.now()
	v.board = progress.NewBoard(p)
	v.show.begin(v.board)
	v.stop = make(chan struct{})
	go v.idle()
}

// idle lets the renderer say every few seconds that the run goes on.
func (v *View) idle() {
	tick := time.NewTicker(idleEvery)
	defer tick.Stop()
	for {
		select {
		case <-v.stop:
			return
		case <-tick.C:
			v.mu.Lock()
			if !v.done {
				v.show.idle(v.board, v.at())
			}
			v.mu.Unlock()
		}
	}
}

// at is the time since the start, in seconds.
func (v *View) at() float64 { return v.now().Sub(v.start).Seconds() }

// Event shows that something happened, now. It has the form of a callback of a watcher.
func (v *View) Event(e progress.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.board == nil || v.done {
		return
	}
	e.At = v.at()
	known := len(v.board.Errors)
	if e.Type == progress.NodeState {
		v.node(e)
		return
	}
	for _, c := range v.board.Add(e) {
		v.show.changed(v.board, c.Row, c.Phase, e.At)
	}
	for _, failed := range v.board.Errors[known:] {
		v.show.failed(v.board, failed, e.At)
	}
}

// node shows that the state of a node is another one, if VMs wait for it.
func (v *View) node(e progress.Event) {
	v.board.Add(e)
	down := e.State != progress.Answers
	if down == v.down[e.Node] || down && !waited(v.board, e.Node) {
		return
	}
	if v.down == nil {
		v.down = map[string]bool{}
	}
	v.down[e.Node] = down
	v.show.node(v.board, e, e.At)
}

// Note shows a line that is about no row, such as what the run waits for.
func (v *View) Note(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.board != nil && !v.done {
		v.show.note(text, v.at())
	}
}

// Interrupted shows a line that says that the run begins nothing more. There is no estimate
// any more.
func (v *View) Interrupted(text string) {
	v.mu.Lock()
	if v.board != nil {
		v.board.Ending = true
	}
	v.mu.Unlock()
	v.Note(text)
}

// End ends the run and shows what was done, with the exit code of the command. reason
// says why the run ended early, and is empty otherwise. Without a start, and when it is
// called again, it does nothing. It returns the errors of the output.
func (v *View) End(exit int, reason string) error {
	at, first := v.finish()
	if !first {
		return nil
	}
	err := v.show.end(v.board, exit, reason, at) // which waits for a frame, and that for the lock
	for _, h := range v.held {
		_, failed := h.out.Write(h.text)
		err = errors.Join(err, failed)
	}
	return err
}

// Hold is a writer for what a command prints apart from the run, such as its results.
// What is written while the run is shown appears after its end: on a terminal, it would
// disturb the rows, and in a stream the objects.
func (v *View) Hold(out io.Writer) io.Writer { return &heldWriter{v, out} }

type heldWriter struct {
	view *View
	out  io.Writer
}

func (w *heldWriter) Write(text []byte) (int, error) {
	v := w.view
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.board == nil || v.done {
		return w.out.Write(text)
	}
	v.held = append(v.held, holder{w.out, bytes.Clone(text)})
	return len(text), nil
}

func (v *View) finish() (at float64, first bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.board == nil || v.done {
		return 0, false
	}
	v.done = true
	close(v.stop)
	at = v.at()
	for _, r := range v.board.Finish(at) {
		v.show.changed(v.board, r, true, at)
	}
	return at, true
}

// Board is the state of the run after its end; nil without a start.
func (v *View) Board() *progress.Board { return v.board }
