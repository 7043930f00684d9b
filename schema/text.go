package schema

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/agext/levenshtein"

	"stackgen/internal/secret"
)

// printable makes text from a file fit for a terminal: no control characters,
// no secrets, not endless.
func printable(text string) string {
	text = secret.Redact(text)
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "..."
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(text)
		return quoted[1 : len(quoted)-1]
	}
	return text
}

// controlIn returns the first character of text that no text may contain.
func controlIn(text string) (rune, bool) {
	if matches("text", text) {
		return 0, false
	}
	for _, r := range text {
		if !matches("text", string(r)) {
			return r, true
		}
	}
	return 0, false
}

// controlName describes a character that controlIn found.
func controlName(r rune) string {
	if unicode.IsControl(r) {
		return fmt.Sprintf("the control character %U", r)
	}
	return fmt.Sprintf("the invisible character %U, which changes lines or the direction of text", r)
}

// nearest returns the candidate that is at most two edits away, or "".
func nearest(word string, candidates []string) string {
	best, least := "", 3
	if len(word) > 64 { // no key is that long, and the distance costs its square
		return best
	}
	for _, c := range candidates {
		if d := levenshtein.Distance(word, c, nil); d < least && d < len(c) {
			best, least = c, d
		}
	}
	return best
}

// Printable makes text from a file fit for a terminal: no control characters,
// no secrets, not endless.
func Printable(text string) string { return printable(text) }

// NaturalCompare orders keys as people do: web2 before web10.
func NaturalCompare(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb), cmp.Compare(da, db)); c != 0 {
				return c
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}
