package secret

import (
	"regexp"
	"strings"
)

const start = `(?:\b|\\(?:[abfnrtv]|x[0-9a-f]{2}|u[0-9a-f]{4}))`

// shapes match tokens and private keys as the tools of the field print them:
// Proxmox VE tokens, PEM blocks, URLs with a password, and the tokens of services
// that people paste from. Text may be quoted as Go does it, so a token may begin
// after an escape such as \n.
var shapes = []*regexp.Regexp{
	regexp.MustCompile(`[A-Za-z0-9._-]+@[A-Za-z0-9-]+![A-Za-z0-9._-]+=[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}`),
	regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----.*?(-----END [A-Z0-9 ]*-----|\z)`),
	regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"']+:[^/\s@"']+@`),
	regexp.MustCompile(start + `(AKIA|ASIA)[A-Z0-9]{16}\b`),
	regexp.MustCompile(start + `(ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[_-][A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(start + `eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+`),
}

// In reports whether text contains something shaped like a token or a private
// key.
func In(text string) bool {
	for _, shape := range shapes {
		if shape.MatchString(text) {
			return true
		}
	}
	return false
}

// Redact replaces everything in text that is shaped like a secret.
func Redact(text string) string {
	for _, shape := range shapes {
		text = shape.ReplaceAllString(text, Redacted)
	}
	return text
}

// RedactLines is Redact for a file: it keeps the number of lines.
func RedactLines(text string) string {
	for _, shape := range shapes {
		text = shape.ReplaceAllStringFunc(text, func(found string) string {
			return Redacted + strings.Repeat("\n", strings.Count(found, "\n"))
		})
	}
	return text
}
