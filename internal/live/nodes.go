package live

import (
	"fmt"

	"stackgen/internal/progress"
)

// waits says that a node is down, and which VMs wait for it; empty if none does.
func waits(b *progress.Board, d progress.Down) string {
	active, queued := b.Waiting(d.Name)
	text := d.What() + ": "
	switch {
	case len(active) == 0 && len(queued) == 0:
		return ""
	case len(active) == 0:
		return text + needed(queued)
	case d.Name == "":
		text += progress.Guests(active).String() + " may still be worked on"
	case len(active) == 1:
		text += progress.Guests(active).String() + " waits for it: " + named(b, active)
	default:
		text += progress.Guests(active).String() + " wait for it: " + named(b, active)
	}
	if len(queued) > 0 && d.Name != "" {
		text += "; " + needed(queued) + ", too"
	}
	return text
}

// needed says how many guests that have not begun need a node.
func needed(queued []*progress.Row) string {
	if len(queued) == 1 {
		return progress.Guests(queued).Of("queued ") + " needs it"
	}
	return progress.Guests(queued).Of("queued ") + " need it"
}

// waited reports whether a VM that is not over needs a node.
func waited(b *progress.Board, node string) bool {
	active, queued := b.Waiting(node)
	return len(active)+len(queued) > 0
}

// others reports whether a VM that is not over does not need a node.
func others(b *progress.Board, node string) bool {
	active, queued := b.Waiting(node)
	t := b.Total(progress.VM)
	return t.Active+t.Queued > len(active)+len(queued)
}

// named are a few rows by their names.
func named(b *progress.Board, rows []*progress.Row) string {
	var names []string
	for _, r := range rows[:min(len(rows), few)] {
		names = append(names, name(b, r))
	}
	if n := len(rows) - few; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return and(names)
}

// waiting are the nodes that VMs wait for, one on each line.
func waiting(b *progress.Board) (out []string) {
	for _, d := range b.Down {
		if text := waits(b, d); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// nodeNote is what a person reads when the state of a node has changed: who waits, and what
// to do.
func nodeNote(b *progress.Board, e progress.Event) string {
	for _, d := range b.Down {
		if d.Name != e.Node {
			continue
		}
		text, next := waits(b, d), d.Next()
		if others(b, d.Name) {
			text += "; " + noun(b, progress.VM, "") + "s of other nodes go on"
		}
		text += ". To go on, " + next.What
		for _, l := range next.Lines {
			text += ": `" + l.String() + "`"
		}
		return text
	}
	if e.Node == "" {
		return "the cluster answers again"
	}
	return "node " + e.Node + " answers again"
}
