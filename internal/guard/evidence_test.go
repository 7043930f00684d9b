package guard

import "testing"

// TestDuration: an uptime is in its largest unit.
func TestDuration(t *testing.T) {
	for seconds, want := range map[int64]string{1: "1 second", 119: "119 seconds", 120: "2 minutes", 7200: "2 hours", 172800: "2 days"} {
		if got := duration(seconds); got != want {
			t.Errorf("%d: %s", seconds, got)
		}
	}
}
