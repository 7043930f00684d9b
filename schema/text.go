package schema

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/agext/levenshtein"
)

// secretShapes are the shapes of text that must never stand in a spec. They
// match what the field's own tools print: Proxmox VE tokens, private keys, and
// the tokens of the services people paste from.
var secretShapes = []*regexp.Regexp{
	regexp.MustCompile(`[A-Za-z0-9._-]+@[A-Za-z0-9-]+![A-Za-z0-9._-]+=[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}`),
	regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----.*?(-----END [A-Z0-9 ]*-----|\z)`),
	regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"']+:[^/\s@"']+@`),
	regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`),
	regexp.MustCompile(`\b(ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[_-][A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+`),
}

// LooksSecret reports whether text holds something shaped like a token or a
// private key.
func LooksSecret(text string) bool {
	for _, shape := range secretShapes {
		if shape.MatchString(text) {
			return true
		}
	}
	return false
}

// Redact replaces whatever looks like a secret, so that text may be shown.
func Redact(text string) string {
	for _, shape := range secretShapes {
		text = shape.ReplaceAllString(text, "(secret)")
	}
	return text
}

// RedactLines is Redact for a whole file: what is left of it stands on the lines
// where it stood.
func RedactLines(text string) string {
	for _, shape := range secretShapes {
		text = shape.ReplaceAllStringFunc(text, func(secret string) string {
			return "(secret)" + strings.Repeat("\n", strings.Count(secret, "\n"))
		})
	}
	return text
}

// printable makes text from a file fit for a terminal: no control characters,
// no secrets, not endless.
func printable(text string) string {
	text = Redact(text)
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "..."
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(text)
		return quoted[1 : len(quoted)-1]
	}
	return text
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
