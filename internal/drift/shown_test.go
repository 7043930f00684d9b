package drift

import (
	"strings"
	"testing"
)

// TestApart checks that two long values that begin alike are shown where they differ.
func TestApart(t *testing.T) {
	key := "ssh-ed25519 " + strings.Repeat("A", 80) + " ops"
	for _, c := range []struct{ a, b, unit, is, says string }{
		{"4096", "2048", "MiB", "4096 MiB", "2048 MiB"},
		{"", "2048", "MiB", "nothing", "2048 MiB"},
		{key + "\nssh-ed25519 BBBB kim", key, "", "...ssh-ed25519 BBBB kim", "no more than that"},
		{key + "\nssh-ed25519 BBBB kim", key + "\nssh-ed25519 CCCC kim", "", "...BBBB kim", "...CCCC kim"},
		{key, "none", "", key[:80] + "...", "none"},
	} {
		if is, says := apart(c.a, c.b, c.unit); is != c.is || says != c.says {
			t.Errorf("%.20q and %.20q: %q and %q, want %q and %q", c.a, c.b, is, says, c.is, c.says)
		}
	}
}
