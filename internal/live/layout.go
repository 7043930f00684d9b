package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"stackgen/internal/progress"
	"stackgen/internal/report"
)

// long is how many seconds a record or a pool may take before it is shown.
const long = 2

// shown are the rows of a board that fit into so many lines, in the order of the plan,
// and a line that says how many rows are missing. All VMs are shown where there is
// room; otherwise those that are active or have failed, and then those of them that
// fit: what is active counts more. Records and pools are shown if they fail or take
// long.
func shown(b *progress.Board, at float64, lines int) (list []*progress.Row, more string) {
	var all, some, active []*progress.Row
	for _, r := range b.Rows {
		isVM := r.Kind == progress.VM
		busy := r.Active() && (isVM || r.Elapsed(at) >= long)
		if isVM || busy || r.Failed() {
			all = append(all, r)
		}
		if busy || r.Failed() {
			some = append(some, r)
		}
		if isVM && busy {
			active = append(active, r)
		}
	}
	switch {
	case len(all) <= lines:
		return all, ""
	case len(some) <= lines:
		return some, ""
	case lines < 1:
		return nil, ""
	}
	list = fitting(some, active, lines-1)
	return list, fmt.Sprintf("  and %d more that are active or failed", len(some)-len(list))
}

// fitting are at most so many of some rows, in their order: those of them that are active,
// and if these leave room, the first ones of the others.
func fitting(some, active []*progress.Row, most int) (list []*progress.Row) {
	room := most - len(active)
	if room <= 0 {
		return active[:most]
	}
	for _, r := range some {
		isActive := slices.Contains(active, r)
		if isActive || room > 0 {
			list = append(list, r)
		}
		if !isActive {
			room--
		}
	}
	return list
}

// drawRows are the lines of a board for a terminal of this width. There are at most so
// many lines as the height.
func drawRows(b *progress.Board, at float64, width, height int, color bool) []string {
	below, shared := reasons(b, width, height/4)
	list, more := shown(b, at, height-len(below))
	c := newColumns(b, list, width)
	out := make([]string, 0, len(list)+1+len(below))
	for _, r := range list {
		out = append(out, paint(fit(c.line(b, r, at, shared[r.Target]), width), r.Phase, color))
	}
	if more != "" {
		out = append(out, fit(more, width))
	}
	for _, text := range below {
		out = append(out, paint(text, progress.Broken, color))
	}
	return out
}

// reasons are at most so many lines below the rows: the nodes that VMs wait for, and each
// reason for which several VMs have failed. The rows of shared do not repeat it.
func reasons(b *progress.Board, width, most int) (lines []string, shared map[progress.Target]bool) {
	shared = map[progress.Target]bool{}
	add := func(text string) bool {
		more := wrap(report.Line(text), width)
		if len(lines)+len(more) > most {
			return false
		}
		lines = append(lines, more...)
		return true
	}
	for _, text := range waiting(b) {
		add(text)
	}
	var failed []progress.Trouble
	for _, r := range b.Rows {
		if r.Kind == progress.VM && r.Phase == progress.Broken {
			failed = append(failed, b.Trouble(r))
		}
	}
	for _, g := range progress.Group(failed) {
		if len(g) > 1 && add(fmt.Sprintf("%s failed: %s", g.Guests(), cmp.Or(g[0].Why, firstLine(strings.TrimSpace(g[0].Text)), later))) {
			for _, t := range g {
				shared[t.Item.Target] = true
			}
		}
	}
	return lines, shared
}

// wrap breaks a text into at most two lines that are not wider than the terminal.
func wrap(text string, width int) []string {
	first := runewidth.Truncate(text, max(width, 0), "")
	if first == text {
		return []string{text}
	}
	if i := strings.LastIndexByte(first, ' '); i > 0 {
		first = first[:i]
	}
	return []string{first, fit("  "+strings.TrimLeft(text[len(first):], " "), width)}
}

// columns are the widths of the columns of all rows.
type columns struct {
	name, vm, phase, bar int
}

// The widths of columns. A percentage and a time have fixed widths.
const (
	mostName   = 48
	leastName  = 8
	leastBar   = 10
	mostBar    = 40
	percent    = 5 // " 43 %"
	elapsed    = 11
	gaps       = 5 * 2
	wideEnough = 110 // columns from which the VMID and the node of VMs are shown
)

func newColumns(b *progress.Board, list []*progress.Row, width int) columns {
	c := columns{phase: runewidth.StringWidth(string(progress.Waiting))}
	for _, r := range list {
		c.name = max(c.name, runewidth.StringWidth(report.Line(name(b, r))))
		if width >= wideEnough {
			c.vm = max(c.vm, runewidth.StringWidth(where(r)))
		}
	}
	room := width - c.vm - c.phase - percent - elapsed - gaps
	c.name = min(c.name, mostName, max(room, leastName)) // names tell rows apart, and bars do not
	c.bar = room - c.name
	if c.bar = min(c.bar, mostBar); c.bar < leastBar {
		c.bar = 0
	}
	return c
}

// where are the VMID and the node of a VM.
func where(r *progress.Row) string {
	if r.Kind != progress.VM || r.VMID == 0 {
		return ""
	}
	return report.Line(strings.TrimSpace(fmt.Sprintf("%d %s", r.VMID, r.Node)))
}

// line is one row: name, VM, phase, bar, percentage, time. A row that has failed has
// the reason in place of the bar, unless it shares it with others.
func (c columns) line(b *progress.Board, r *progress.Row, at float64, shared bool) string {
	out := "  " + runewidth.FillRight(shorten(report.Line(name(b, r)), c.name), c.name) + "  "
	if c.vm > 0 {
		out += pad(where(r), c.vm) + "  "
	}
	time := ""
	if r.Began >= 0 {
		time = duration(r.Elapsed(at))
	}
	if r.Failed() {
		text := string(r.Phase)
		if r.Phase == progress.Broken {
			text += " after " + time
		}
		if shared {
			return out + text
		}
		return out + report.Line(text+": "+cmp.Or(b.Trouble(r).Why, firstLine(strings.TrimSpace(r.Error)), later))
	}
	out += pad(string(r.Phase), c.phase) + "  "
	if c.bar > 0 {
		out += pad(cmp.Or(report.Line(r.Waits), bar(r, c.bar)), c.bar) + " "
	}
	text := ""
	if r.Percent >= 0 {
		text = fmt.Sprintf("%3.0f %%", r.Percent)
	}
	return strings.TrimRight(out+pad(text, percent)+" "+fmt.Sprintf("%*s", elapsed, time), " ")
}

// bar shows a percentage.
func bar(r *progress.Row, width int) string {
	if r.Percent < 0 {
		return ""
	}
	full := min(int(r.Percent/100*float64(width-2)), width-2)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-2-full) + "]"
}

// totalLine says how long the run took and may take, and counts what is done.
func totalLine(b *progress.Board, at float64, width int) string {
	time := b.Plan.Command + " " + duration(at)
	if rest := left(b, at); rest != "" {
		time += ", " + rest
	}
	if text := time + ": " + totals(b); runewidth.StringWidth(text) <= width {
		return text
	}
	var done []string
	for _, n := range nouns {
		if t := b.Total(n.kind); t.All > 0 {
			done = append(done, fmt.Sprintf("%d/%d %ss", t.Done, t.All, n.noun))
		}
	}
	text := time + ": " + strings.Join(done, ", ") + " done"
	if failed := b.Total().Failed; failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

// fit is a text that is not wider than the terminal.
func fit(text string, width int) string { return runewidth.Truncate(text, max(width, 0), "...") }

// shorten is a name that is not wider than a column. Names of one class begin alike and end
// with what tells them apart: what is left out is in the middle.
func shorten(name string, width int) string {
	const cut = "..."
	if runewidth.StringWidth(name) <= width || width <= len(cut) {
		return fit(name, width)
	}
	end := []rune(name)
	for runewidth.StringWidth(string(end)) > (width-len(cut))/2 {
		end = end[1:]
	}
	return runewidth.Truncate(name, width-len(cut)-runewidth.StringWidth(string(end)), "") + cut + string(end)
}

func pad(text string, width int) string { return runewidth.FillRight(fit(text, width), width) }

// paint colors a line by its phase.
func paint(text string, p progress.Phase, color bool) string {
	code := map[progress.Phase]string{progress.Broken: "31", progress.Ready: "32", progress.Done: "32", progress.Queued: "2"}[p]
	if !color || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
