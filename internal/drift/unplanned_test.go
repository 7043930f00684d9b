package drift

import (
	"testing"
)

// TestCommand: a printed command has the path of the spec as one word, or none.
func TestCommand(t *testing.T) {
	for path, want := range map[string]string{"": "stackgen drift", "specs/lab.yaml": "stackgen drift specs/lab.yaml", "specs/my lab.yaml": "stackgen drift 'specs/my lab.yaml'"} {
		if got := command("stackgen drift", path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
