package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"stackgen/internal/finding"
)

// markdownLimit is how many bytes a report in Markdown has at most. GitHub does not show a
// job summary of more than 1 MiB:
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions#step-isolation-and-limits
const markdownLimit = 1<<20 - 4096

// Characters that Markdown or HTML would obey, in a cell of a table and in a code block.
var (
	cellText   = strings.NewReplacer("|", `\|`, "\n", "<br>", "<", "&lt;", ">", "&gt;", "`", "&#96;", "[", `\[`)
	fencedText = strings.NewReplacer("\n", "\n  ", "```", "'''") // or a line could end its block
)

// A limited is a text that takes only what fits into a number of bytes.
type limited struct {
	out  *bytes.Buffer
	size int // of the buffer at most
	left int // pieces that did not fit
}

// add adds a piece, or counts it. After one that did not fit, none is added.
func (l *limited) add(format string, args ...any) {
	piece := uncommanded(fmt.Sprintf(format, args...))
	if l.left > 0 || l.out.Len()+len(piece) > l.size {
		l.left++
		return
	}
	l.out.WriteString(piece)
}

// close says how many pieces are missing, and of what.
func (l *limited) close(what string) {
	if l.left > 0 {
		fmt.Fprintf(l.out, "\n> %s not shown here, because GitHub shows at most 1 MiB: "+
			"`--format text --verbose` and `--format json` print all.\n", Count(l.left, "more "+what))
	}
}

// markdown writes a table of the findings, then their steps. Each has at most its share of
// what GitHub shows.
func (r *Findings) markdown(out *bytes.Buffer, o Options) {
	notes := r.notes()
	all := r.rows(o.Verbose)
	table := limited{out: out, size: markdownLimit / 2}
	table.add("**%s**\n\n", cellText.Replace(r.answer()))
	if len(all) > 0 {
		table.add("| | verdict | what | why |\n|---|---|---|---|\n")
	}
	for i := range all {
		table.add("| %s | %s | %s | %s |\n", all[i].level(), all[i].kind, cellText.Replace(all[i].about), cellText.Replace(all[i].why()))
	}
	table.close("row")
	steps := limited{out: out, size: markdownLimit * 7 / 8}
	for i := range all {
		if len(all[i].steps) > 0 {
			steps.add("\n**%s: %s**\n%s", all[i].kind, cellText.Replace(cmp.Or(all[i].stepsFor, all[i].about)), markdownSteps(all[i].steps))
		}
	}
	steps.close("way out")
	end := limited{out: out, size: markdownLimit}
	for _, n := range notes {
		end.add("\n> %s\n", cellText.Replace(n))
	}
	end.close("note")
}

func markdownSteps(steps []finding.Step) string {
	var out strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&out, "\n- %s\n", cellText.Replace(s.What))
		if len(s.Lines) > 0 {
			fmt.Fprintf(&out, "  ```\n  %s\n  ```\n", fencedText.Replace(strings.Join(texts(s.Lines), "\n")))
		}
	}
	return out.String()
}
