package cmd

import (
	"fmt"
	"io"
	"strings"

	"stackgen/internal/guard"
)

// label is the word in front of a verdict: what it means for an apply.
func label(v *guard.Verdict) string {
	switch v.Exit {
	case guard.ExitStop:
		return "STOP"
	case guard.ExitError:
		return "FAIL"
	case guard.ExitDiffers:
		return "wait"
	}
	return "ok"
}

// about is what a verdict is about, for people.
func about(v *guard.Verdict) string {
	out := v.Address()
	switch v.Kind {
	case guard.KindVM, guard.KindGuest:
		if v.Kind == guard.KindGuest {
			out = v.Stack
		}
		if v.VMID != 0 {
			out += fmt.Sprintf(": VM %d", v.VMID)
		}
		if v.Name != "" {
			out += " " + v.Name
		}
		if v.Node != "" {
			out += " on " + v.Node
		}
	case guard.KindPool:
		out += ": pool"
	case guard.KindRecord:
		out += ": record"
	}
	return out
}

func verdictRows(w io.Writer, vs []guard.Verdict, color bool) {
	tints := map[string]func(string) string{"STOP": paint(color, "1;31"), "FAIL": paint(color, "1;31"), "wait": paint(color, "33"), "ok": paint(color, "32")}
	for i := range vs {
		v := &vs[i]
		fmt.Fprintf(w, "%s %-9s %s\n", tints[label(v)](fmt.Sprintf("%-4s", label(v))), v.Word, about(v))
		for _, e := range v.Evidence {
			fmt.Fprintf(w, "       %s\n", strings.ReplaceAll(e, "\n", "\n       "))
		}
		nextRows(w, v)
	}
}

func nextRows(w io.Writer, v *guard.Verdict) {
	for _, n := range v.Next {
		fmt.Fprintf(w, "     > %s\n", n.What)
		for _, l := range n.Lines {
			fmt.Fprintf(w, "         %s\n", l)
		}
	}
}

// differenceRows says what the first plan after an import would change.
func differenceRows(w io.Writer, v *guard.Verdict) {
	for i := range v.Differs {
		fmt.Fprintf(w, "       %s\n", visibleLines(v.Differs[i].String()))
	}
	nextRows(w, v)
}
