package live

import (
	"errors"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"stackgen/internal/progress"
	"stackgen/internal/report"
)

// refresh is how often rows are drawn.
const refresh = 200 * time.Millisecond

// mostRows is the height of the highest terminal that is filled.
const mostRows = 400

// rows show a run as rows that change, on a terminal: mpb draws them, in a loop of its
// own, as one bar with a line for the totals and lines above it for VMs.
type rows struct {
	view    *View
	out     io.Writer
	color   bool
	console *console
	mpb     *mpb.Progress
	frame   []string // the lines above the totals, for the frame that is drawn now
}

func newRows(v *View, out io.Writer, o Options) *rows {
	return &rows{view: v, out: out, color: o.Color, console: &console{out: out, terminal: o.Terminal}}
}

func (w *rows) begin(*progress.Board) {
	w.mpb = mpb.New(mpb.WithConsoleWriter(w.console), mpb.WithRefreshRate(refresh))
	above := make([]mpb.BarFiller, mostRows)
	for i := range above { // mpb draws the last one first
		above[mostRows-1-i] = mpb.BarFillerFunc(func(out io.Writer, _ decor.Statistics) error { return w.line(out, i) })
	}
	total := mpb.BarFillerFunc(func(out io.Writer, _ decor.Statistics) error { return w.totals(out) })
	_, _ = w.mpb.Add(0, total, mpb.BarTopExtender(above...), mpb.BarFillerTrim()) // fails only after its end
}

// line draws one of the lines above the totals, of which 0 is the first: the last of
// them is the last line of the frame, and those that the frame does not have are empty,
// so that mpb skips them.
func (w *rows) line(out io.Writer, i int) error {
	if i == 0 {
		w.draw()
	}
	if at := i - (mostRows - len(w.frame)); at >= 0 && at < len(w.frame) {
		_, err := io.WriteString(out, w.frame[at]+"\n")
		return err
	}
	return nil
}

// draw makes the lines of a frame for the size that the terminal has now.
func (w *rows) draw() {
	width, height, _ := w.console.GetTermSize()
	w.view.mu.Lock()
	defer w.view.mu.Unlock()
	if w.view.done {
		w.frame = nil
		return
	}
	w.frame = drawRows(w.view.board, w.view.at(), min(width-1, 200), min(height-2, mostRows), w.color)
}

// totals draws the last line of a frame.
func (w *rows) totals(out io.Writer) error {
	width, _, _ := w.console.GetTermSize()
	w.view.mu.Lock()
	defer w.view.mu.Unlock()
	_, err := io.WriteString(out, fit(totalLine(w.view.board, w.view.at(), width-1), width-1))
	return err
}

// changed does nothing: the next frame shows it.
func (w *rows) changed(*progress.Board, *progress.Row, bool, float64) {}

func (w *rows) idle(*progress.Board, float64) {}

func (w *rows) failed(b *progress.Board, e progress.UnitError, at float64) {
	w.note(firstLine(b.UnitTrouble(e).String()), at)
}

func (w *rows) node(b *progress.Board, e progress.Event, at float64) { w.note(nodeNote(b, e), at) }

// note prints a line above the rows.
func (w *rows) note(text string, _ float64) { w.console.print(report.Line(text) + "\n") }

// end replaces the rows by the summary, which stays on the screen.
func (w *rows) end(b *progress.Board, exit int, reason string, at float64) error {
	w.mpb.Shutdown()
	return errors.Join(w.mpb.Error, w.console.remove(), report.Text(w.out, summary(b, exit, reason, at)))
}
