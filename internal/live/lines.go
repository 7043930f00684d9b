package live

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"stackgen/internal/progress"
	"stackgen/internal/report"
)

// lines show a run as lines for a log: one for each change of a phase, with the
// seconds since the start of the run, and for a record or a pool only one at its end.
// They have no percentages, so that a log has the same lines whenever the same happens.
type lines struct {
	out  io.Writer
	err  error   // the first one
	last float64 // when the last line was written

	scores map[progress.Kind]string // that were written last
	first  map[string]string        // of those that failed for a reason, by the reason
}

// say writes a line.
func (l *lines) say(at float64, text string) {
	l.last = at
	l.err = cmp.Or(l.err, report.Printf(l.out, "[%4d s] %s\n", int(at), text))
}

func (l *lines) begin(b *progress.Board) { l.say(0, b.Plan.Command+": "+plans(b)) }

func (l *lines) changed(b *progress.Board, r *progress.Row, phase bool, at float64) {
	if !phase && r.Phase == progress.Broken && r.Error != "" {
		if t := b.Trouble(r); l.first[t.Reason()] == "" { // of an error that is known only now
			l.say(at, strings.TrimPrefix(l.alike(b, r), ": "))
		}
		return
	}
	if !phase || r.Phase == progress.Skipped && r.Began < 0 && !r.Failed() || r.Kind != progress.VM && !r.Phase.Over() {
		return
	}
	text := name(b, r) + ": " + string(r.Phase)
	switch {
	case r.Phase == progress.Broken:
		text += " after " + duration(r.Elapsed(at)) + l.score(b, r.Kind) + l.alike(b, r)
	case r.Failed():
		text += l.alike(b, r)
	case r.Phase == progress.Continues:
		text += " in Proxmox VE, after " + duration(r.Elapsed(at))
	case r.Phase == progress.AwaitsLock:
		text += ": " + r.Waits
	case r.Phase.Over():
		text += " after " + duration(r.Elapsed(at)) + l.score(b, r.Kind)
		if rest := left(b, at); rest != "" && r.Kind == progress.VM {
			text += ", " + rest
		}
	case r.Kind == progress.VM && r.VMID != 0 && r.Began == at:
		text += fmt.Sprintf(" (%s)", r.Where())
	}
	l.say(at, text)
}

// alike is why a row has failed, and of another one that failed for the same reason only which
// was the first.
func (l *lines) alike(b *progress.Board, r *progress.Row) string {
	text, reason := later, ""
	if r.Error != "" {
		t := b.Trouble(r)
		text, reason = firstLine(t.String()), t.Reason()
	}
	if first, said := l.first[reason]; said {
		if reason == "" {
			return ""
		}
		return ", as " + first
	}
	if l.first == nil {
		l.first = map[string]string{}
	}
	l.first[reason] = name(b, r)
	return ": " + text
}

// score counts what is done of a kind, if that is not what the last line said.
func (l *lines) score(b *progress.Board, kind progress.Kind) string {
	t := b.Total(kind)
	for _, n := range nouns {
		if n.kind != kind {
			continue
		}
		text := fmt.Sprintf(" (%d of %s done)", t.Done, report.Count(t.All, noun(b, n.kind, n.noun)))
		if l.scores[kind] == text {
			return ""
		}
		if l.scores == nil {
			l.scores = map[progress.Kind]string{}
		}
		l.scores[kind] = text
		return text
	}
	return ""
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

func (l *lines) failed(b *progress.Board, e progress.UnitError, at float64) {
	l.say(at, firstLine(b.UnitTrouble(e).String()))
}

func (l *lines) node(b *progress.Board, e progress.Event, at float64) { l.say(at, nodeNote(b, e)) }

func (l *lines) note(text string, at float64) { l.say(at, text) }

// silence is how many seconds a log may have no line: CI systems end jobs that are
// silent for some minutes.
const silence = 60

func (l *lines) idle(b *progress.Board, at float64) {
	if at-l.last < silence {
		return
	}
	var active []string
	for _, r := range b.Rows {
		if !r.Active() {
			continue
		}
		text := fmt.Sprintf("%s %s", name(b, r), r.Phase)
		if r.Percent >= 0 {
			text += fmt.Sprintf(" %.0f %%", r.Percent)
		}
		active = append(active, text)
	}
	text := "still running: " + totals(b)
	if n := len(active); n > few {
		active = append(active[:few:few], fmt.Sprintf("%d more", n-few))
	}
	if len(active) > 0 {
		text += "; " + and(active)
	}
	for _, w := range waiting(b) {
		text += "; " + w
	}
	l.say(at, text)
}

func (l *lines) end(b *progress.Board, exit int, reason string, at float64) error {
	return cmp.Or(l.err, report.Text(l.out, fmt.Sprintf("[%4d s] ", int(at))+summary(b, exit, reason, at)))
}
