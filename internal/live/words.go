package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"stackgen/internal/progress"
	"stackgen/internal/report"
)

// nouns are the kinds of rows as they are counted.
var nouns = []struct {
	kind progress.Kind
	noun string
}{{progress.VM, "VM"}, {progress.Record, "record"}, {progress.Pool, "pool"}}

// noun is what the rows of a kind that a board has are, as they are counted: a row of a VM may be a container.
func noun(b *progress.Board, kind progress.Kind, text string) string {
	if kind != progress.VM {
		return text
	}
	return progress.Guests(slices.DeleteFunc(slices.Clone(b.Rows), func(r *progress.Row) bool { return r.Kind != progress.VM })).Word()
}

// totals are the counts of a board: 12 of 21 VMs done, 1 failed, 4 active, 4 queued;
// 0 of 21 records done.
func totals(b *progress.Board) string {
	var out []string
	for _, n := range nouns {
		t := b.Total(n.kind)
		if t.All == 0 {
			continue
		}
		text := fmt.Sprintf("%d of %s done", t.Done, report.Count(t.All, noun(b, n.kind, n.noun)))
		for _, more := range []struct {
			n    int
			word string
		}{{t.Failed, "failed"}, {t.Active, "active"}, {t.Queued, "queued"}, {t.Skipped, "not done"}, {t.Continues, "going on in Proxmox VE"}} {
			if more.n > 0 {
				text += fmt.Sprintf(", %d %s", more.n, more.word)
			}
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return "nothing to do"
	}
	return strings.Join(out, "; ")
}

// left is the estimate of a board, or empty while it is not known.
func left(b *progress.Board, at float64) string {
	seconds, ok := b.Left(at)
	if !ok {
		return ""
	}
	return "about " + duration(rounded(seconds)) + " left"
}

// rounded is an estimate without digits that it does not have.
func rounded(seconds float64) float64 {
	switch {
	case seconds < 10:
		return max(math.Ceil(seconds), 1)
	case seconds < 90:
		return math.Ceil(seconds/5) * 5
	}
	return math.Ceil(seconds/60) * 60
}

// duration is a time as people read it: 42 s, 3 min 5 s, 1 h 2 min.
func duration(seconds float64) string {
	s := int(seconds)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600 && s%60 == 0:
		return fmt.Sprintf("%d min", s/60)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
}

// name is what a row is called: its key, and the stack where there are several.
func name(b *progress.Board, r *progress.Row) string {
	text := r.Key
	if r.Kind != progress.VM {
		text = string(r.Kind) + " " + r.Key
	}
	if b.Stacks() > 1 {
		return r.Stack + "/" + text
	}
	return text
}

// rebuild is the word for what is destroyed and created again.
const rebuild = progress.Action("rebuild")

// plans are what a run does: create 21 VMs and 21 records, destroy 1 VM.
func plans(b *progress.Board) string {
	counts := map[progress.Action]map[progress.Kind]int{}
	for _, r := range b.Rows {
		action := r.Action
		if r.Rebuilt {
			action = rebuild
		}
		if counts[action] == nil {
			counts[action] = map[progress.Kind]int{}
		}
		counts[action][r.Kind]++
	}
	var out []string
	for _, a := range slices.Concat(actions, further(b)) {
		var things []string
		for _, n := range nouns {
			if c := counts[a][n.kind]; c > 0 {
				things = append(things, report.Count(c, noun(b, n.kind, n.noun)))
			}
		}
		if len(things) > 0 {
			out = append(out, a.Counted(and(things)))
		}
	}
	if len(out) == 0 {
		return "nothing to do"
	}
	return strings.Join(out, ", ")
}

// actions are those of OpenTofu, as they are counted.
var actions = []progress.Action{progress.Import, rebuild, progress.Create, progress.Change, progress.Move, progress.Destroy}

// further are the other actions of a board.
func further(b *progress.Board) (out []progress.Action) {
	for _, r := range b.Rows {
		if !slices.Contains(actions, r.Action) && !slices.Contains(out, r.Action) {
			out = append(out, r.Action)
		}
	}
	return out
}

func and(things []string) string {
	last := len(things) - 1
	if last == 0 {
		return things[0]
	}
	return strings.Join(things[:last], ", ") + " and " + things[last]
}

// summary is what a person reads at the end: what was done, and each failure with what
// to do about it.
func summary(b *progress.Board, exit int, reason string, at float64) string {
	var out strings.Builder
	word := "done"
	switch {
	case reason != "":
		word = reason
	case b.Total().Failed > 0 || len(b.Errors) > 0:
		word = "failed"
	case exit != 0 || b.Total().Skipped+b.Total().Continues > 0:
		word = "not done"
	}
	fmt.Fprintf(&out, "%s %s after %s: %s\n", b.Plan.Command, word, duration(at), totals(b))
	if b.Plan.Table {
		return out.String()
	}
	groups := progress.Group(troubles(b))
	for _, g := range groups {
		out.WriteString(details(g))
	}
	out.WriteString(notDone(b))
	out.WriteString(goesOn(b))
	if b.Plan.Again != "" && (len(groups) > 0 || b.Total().Skipped > 0) {
		fmt.Fprintf(&out, "  then continue; what is done stays as it is:\n    %s\n", b.Plan.Again)
	}
	return out.String()
}

// listed is how many rows that are not done are named: a class, and not a whole school.
const listed = 30

// notDone names the rows that the run did not do, on one line for each kind. Those with a reason
// of their own have been named with it.
func notDone(b *progress.Board) string {
	return listOf(b, "not done", func(r *progress.Row) bool { return r.Phase == progress.Skipped && !r.Failed() })
}

// goesOn names the VMs of which the cluster does the rest after an interrupt.
func goesOn(b *progress.Board) string {
	return listOf(b, "going on in Proxmox VE", func(r *progress.Row) bool { return r.Phase == progress.Continues })
}

// listOf names the rows that fit, on one line for each kind.
func listOf(b *progress.Board, what string, fits func(*progress.Row) bool) string {
	var out strings.Builder
	for _, n := range nouns {
		var names []string
		var rows []*progress.Row
		for _, r := range b.Rows {
			if r.Kind != n.kind || !fits(r) {
				continue
			}
			rows = append(rows, r)
			name := r.Key
			if b.Stacks() > 1 {
				name = r.Stack + "/" + r.Key
			}
			names = append(names, name)
		}
		if len(names) == 0 {
			continue
		}
		noun := n.noun
		if n.kind == progress.VM {
			noun = progress.Word(rows)
		}
		word := strings.TrimPrefix(report.Count(len(names), noun), fmt.Sprint(len(names), " "))
		if rest := len(names) - listed; rest > 0 {
			names = append(names[:listed:listed], fmt.Sprintf("%d more", rest))
		}
		fmt.Fprintf(&out, "  %s: %s %s\n", what, word, and(names))
	}
	return out.String()
}

// troubles are the errors of all rows and units.
func troubles(b *progress.Board) []progress.Trouble {
	var out []progress.Trouble
	for _, r := range b.Rows {
		if r.Failed() {
			out = append(out, b.Trouble(r))
		}
	}
	for _, e := range b.Errors {
		out = append(out, b.UnitTrouble(e))
	}
	return out
}

// later says that a reason is not known yet: OpenTofu prints all errors of a unit when
// the unit ends.
const later = "OpenTofu prints the reason when it has ended"

// few is how many rows of a group are named in its message.
const few = 3

// reading is what the configuration of a VM has after its change failed.
func reading(t progress.Trouble, named bool) string {
	if t.Read == nil || t.Item.Action != progress.Change {
		return ""
	}
	name := ""
	if named {
		name = t.Item.Key + ": "
	}
	out := ""
	if len(t.Read.Taken) > 0 {
		out += fmt.Sprintf("    %sin its configuration: %s\n", name, strings.Join(t.Read.Taken, "; "))
	}
	if len(t.Read.Left) > 0 {
		out += fmt.Sprintf("    %snot changed: %s\n", name, strings.Join(t.Read.Left, ", "))
	}
	return out
}

// details are troubles that are alike: which, what to do, and the message of the tool.
func details(g progress.Alike) string {
	var out strings.Builder
	fmt.Fprintf(&out, "  %s\n", g.What())
	if len(g) > 1 {
		var names []string
		for _, t := range g[:min(len(g), few)] {
			names = append(names, t.Item.Name())
		}
		if n := len(g) - few; n > 0 {
			names = append(names, fmt.Sprintf("%d more", n))
		}
		fmt.Fprintf(&out, "    %s\n", and(names))
	}
	for _, t := range g[:min(len(g), few)] {
		out.WriteString(reading(t, len(g) > 1))
	}
	for _, s := range g.Next() {
		colon := ""
		if len(s.Lines) > 0 {
			colon = ":"
		}
		fmt.Fprintf(&out, "    %s%s\n", s.What, colon)
		for _, l := range s.Lines {
			fmt.Fprintf(&out, "      %s\n", l)
		}
	}
	text := strings.TrimSpace(g[0].Text)
	if rest, more := strings.CutPrefix(text, firstLine(text)); g[0].Why != "" || more && rest != "" {
		fmt.Fprintf(&out, "    message: %s\n", strings.ReplaceAll(text, "\n", "\n      "))
	}
	return out.String()
}
