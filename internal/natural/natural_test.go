package natural

import (
	"slices"
	"testing"
)

func TestCompare(t *testing.T) {
	want := []string{"", "0", "00", "1", "01", "2", "10", "99999999999999999999", "100000000000000000000", "a", "a-1", "a1", "a1b2", "a1b10", "a01", "a2", "a10", "b"}
	for i, a := range want {
		for k, b := range want {
			if got := Compare(a, b); sign(got) != sign(i-k) {
				t.Errorf("Compare(%q, %q) is %d", a, b, got)
			}
		}
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	if slices.SortFunc(got, Compare); !slices.Equal(got, want) {
		t.Errorf("sorted %q", got)
	}
}

func sign(n int) int { return max(-1, min(1, n)) }
