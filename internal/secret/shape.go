package secret

import (
	"regexp"
	"slices"
	"strings"
)

const start = `(?:\b|\\(?:[abfnrtv]|x[0-9a-f]{2}|u[0-9a-f]{4}))`

// A shape is what a token or private key looks like. Text that has none of some words has
// no match: to look for these first is many times as fast.
type shape struct {
	words []string
	*regexp.Regexp
}

// shapes match tokens and private keys as the tools of the field print them:
// Proxmox VE tokens, PEM blocks, URLs with a password, and the tokens of services
// that people paste from. Text may be quoted as Go does it, so a token may begin
// after an escape such as \n.
var shapes = []shape{
	{[]string{"!"}, regexp.MustCompile(`[A-Za-z0-9._-]+@[A-Za-z0-9-]+![A-Za-z0-9._-]+=[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}`)},
	{[]string{"-----BEGIN "}, regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----.*?(-----END [A-Z0-9 ]*-----|\z)`)},
	{[]string{"://"}, regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"']+:[^/\s@"']+@`)},
	{[]string{"AKIA", "ASIA"}, regexp.MustCompile(start + `(AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{[]string{"gh", "glpat", "xox"}, regexp.MustCompile(start + `(ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[_-][A-Za-z0-9_-]{16,}`)},
	{[]string{"eyJ"}, regexp.MustCompile(start + `eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+`)},
}

// mayBeIn reports whether text has one of the words.
func (s shape) mayBeIn(text string) bool {
	return slices.ContainsFunc(s.words, func(word string) bool { return strings.Contains(text, word) })
}

// In reports whether text contains something shaped like a token or a private
// key.
func In(text string) bool {
	return slices.ContainsFunc(shapes, func(s shape) bool { return s.mayBeIn(text) && s.MatchString(text) })
}

// Redact replaces everything in text that is shaped like a secret.
func Redact(text string) string {
	for _, s := range shapes {
		if s.mayBeIn(text) {
			text = s.ReplaceAllString(text, Redacted)
		}
	}
	return text
}

// RedactLines is Redact for a file: it keeps the number of lines.
func RedactLines(text string) string {
	for _, s := range shapes {
		text = s.ReplaceAllStringFunc(text, func(found string) string {
			return Redacted + strings.Repeat("\n", strings.Count(found, "\n"))
		})
	}
	return text
}
