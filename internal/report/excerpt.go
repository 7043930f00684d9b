package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"stackgen/internal/secret"
	"stackgen/schema"
)

// An excerpt of a line shows so many characters before and after the column.
const (
	excerptBefore = 60
	excerptAfter  = 60
)

// writeText writes problems for people: where and what, the line with a mark
// under the column, and the fix.
func writeText(w io.Writer, problems []schema.Problem, sources map[string][]byte, color bool) {
	tints := map[schema.Severity]string{schema.SeverityError: "31", schema.SeverityWarning: "33", schema.SeverityNote: "36"}
	lines := map[string][]sourceLine{}
	for _, raw := range problems {
		if _, ok := lines[raw.File]; !ok {
			lines[raw.File] = sourceLines(sources[raw.File])
		}
		p := cleanProblem(raw)
		tint := paint(color, tints[p.Severity])
		p.File = line(p.File)
		fmt.Fprintf(w, "%s%s: %s [%s]\n", paint(color, "1")(place(p.Pos)), tint(string(p.Severity)), indented(p.Message), p.Code)
		if text, mark, ok := excerpt(lines[raw.File], p); ok {
			fmt.Fprintf(w, "    %s\n", text)
			if mark != "" {
				fmt.Fprintf(w, "    %s%s\n", strings.TrimSuffix(mark, "^"), tint("^"))
			}
		}
		if p.Fix != "" {
			fmt.Fprintf(w, "    fix: %s\n", indented(p.Fix))
		}
	}
	if len(problems) > 0 {
		fmt.Fprintln(w, counted(countProblems(problems)))
	}
}

// paint returns what puts text into a color or weight of ANSI terminals.
func paint(color bool, code string) func(string) string {
	return func(text string) string {
		if !color || text == "" {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
}

// place is a position as far as it is known, with the separator behind it.
func place(p schema.Pos) string {
	switch {
	case p.File == "":
		return ""
	case p.Line <= 0:
		return p.File + ": "
	}
	return p.String() + ": "
}

// indented keeps the further lines of a text from being taken for problems.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

func counted(errors, warnings, notes int) string {
	var parts []string
	for _, c := range []struct {
		n    int
		word string
	}{{errors, "error"}, {warnings, "warning"}, {notes, "note"}} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.word)
		case c.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", c.n, c.word))
		}
	}
	return strings.Join(parts, ", ")
}

// A sourceLine is a line as it may be shown. Columns up to fits are where they
// are in the file; what is behind them was redacted.
type sourceLine struct {
	text []rune
	fits int
}

// secretValue finds values whose key says that they are secret, whatever they
// look like: a key that a spec does not have is shown with its line.
var secretValue = regexp.MustCompile(`(?i)((?:secret|passw(?:or)?d|token|private_?key|access_?key)[a-z_]*["']?[ \t]*:[ \t]*)[^ \t].*`)

// sourceLines splits a file where YAML does, with its secrets gone: a secret
// may span lines. A file that is not UTF-8 is not shown.
func sourceLines(source []byte) []sourceLine {
	if !utf8.Valid(source) {
		return nil
	}
	text := strings.TrimPrefix(string(source), "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	whole := strings.Split(text, "\n")
	out := make([]sourceLine, len(whole))
	for i, line := range strings.Split(secret.RedactLines(text), "\n") {
		line = secretValue.ReplaceAllString(line, "${1}(secret)")
		out[i] = sourceLine{[]rune(visible(strings.TrimRight(line, " \t"))), math.MaxInt}
		if line != whole[i] {
			out[i].fits = commonPrefix(line, whole[i]) + 1
		}
	}
	return out
}

// commonPrefix counts the characters that two texts begin with alike.
func commonPrefix(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// excerpt returns the part of a problem's line around its column, and what to
// write below it so that a ^ is under the column. The mark is "" if the column
// is not in the excerpt; ok is false if there is nothing to show.
func excerpt(lines []sourceLine, p schema.Problem) (text, mark string, ok bool) {
	if p.Code == schema.CodeSecret || p.Line < 1 || p.Line > len(lines) || p.Col < 1 {
		return "", "", false
	}
	line := lines[p.Line-1]
	if len(line.text) == 0 {
		return "", "", false
	}
	col := min(p.Col-1, len(line.text))
	from, to := max(col-excerptBefore, 0), min(col+excerptAfter, len(line.text))
	head, tail := "", ""
	if from > 0 {
		head = "..."
	}
	if to < len(line.text) {
		tail = "..."
	}
	text = head + string(line.text[from:to]) + tail
	if p.Col > line.fits {
		return text, "", true
	}
	return text, strings.Repeat(" ", len(head)) + blank(line.text[from:col]) + "^", true
}

// blank returns space as wide as the characters, which for those of East Asia
// and for emoji is a good guess.
func blank(runes []rune) string {
	var out strings.Builder
	for _, r := range runes {
		switch {
		case r == '\t':
			out.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
		case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
			r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
			out.WriteString("  ")
		default:
			out.WriteByte(' ')
		}
	}
	return out.String()
}
