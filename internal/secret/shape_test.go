package secret

import (
	"fmt"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	body := "MIIEpAIBAAKCAQEA7"
	for name, text := range map[string]string{
		"key":           "a: |\n  -----BEGIN RSA PRIVATE KEY-----\n  " + body + "\n  -----END RSA PRIVATE KEY-----\nb: 1\n",
		"encrypted key": "a: |\n  -----BEGIN RSA PRIVATE KEY-----\n  Proc-Type: 4,ENCRYPTED\n  DEK-Info: AES-256-CBC,00\n\n  " + body + "\n  -----END RSA PRIVATE KEY-----\nb: 1\n",
		"unended key":   "b: 1\na: |\n  -----BEGIN OPENSSH PRIVATE KEY-----\n  " + body + "\n",
	} {
		for _, out := range []string{Redact(text), RedactLines(text)} {
			if strings.Contains(out, body) || !strings.Contains(out, "b: 1") || !strings.Contains(out, "(secret)") {
				t.Errorf("%s: %q", name, out)
			}
		}
		if a, b := strings.Count(text, "\n"), strings.Count(RedactLines(text), "\n"); a != b {
			t.Errorf("%s: %d lines became %d", name, a, b)
		}
	}
	for _, token := range []string{"ghp_0123456789abcdefghij", "AKIA0123456789ABCDEF", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.c2ln"} {
		for _, before := range []string{"", " ", "\n", "\t", "\x1b", "\u202e"} {
			if out := Redact(fmt.Sprintf("%q", before+token)); strings.Contains(out, token) {
				t.Errorf("%q: %s", before+token, out)
			}
		}
	}
	token := "root@pam!ci=01234567-89ab-cdef-0123-456789abcdef"
	if out := Redact("token: " + token); out != "token: (secret)" {
		t.Error(out)
	}
}
