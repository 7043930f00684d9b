package replay_test

import (
	"path/filepath"
	"testing"

	"stackgen/internal/pvesim/replay"
)

// TestUnexplainedDifferenceIsAFault changes the response of one recorded exchange:
// no reason may cover it.
func TestUnexplainedDifferenceIsAFault(t *testing.T) {
	r, err := replay.Folders(filepath.Join("testdata", "wrong"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Unexplained()); n != 1 {
		t.Errorf("%d differences without a reason, want 1: %v", n, r.Differences)
	}
}
