package replay_test

import (
	"path/filepath"
	"testing"

	"stackgen/internal/pvesim/replay"
)

// TestRecordings replays the recordings of genuine servers. It fails if fewer
// exchanges match than before, if a difference has no reason, or if a reason is not
// needed any more.
func TestRecordings(t *testing.T) {
	var dirs []string
	for _, d := range []string{"exchanges", "cluster", "lvm", "lxc"} {
		dirs = append(dirs, filepath.Join("..", "testdata", d))
	}
	r, err := replay.Folders(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Unexplained() {
		t.Errorf("no reason: %s", d)
	}
	for _, e := range replay.Unused(r.Differences) {
		t.Errorf("explains nothing: %s", e)
	}
	matched := map[string]int{"exchanges/e*": 627, "exchanges/g*": 181, "exchanges/s*": 510, "cluster/m*": 730, "lvm/n*": 593,
		"lxc/a*": 397, "lxc/c*": 1170, "lxc/i*": 207, "lxc/v*": 398}
	for _, f := range r.Families {
		if f.Matched < matched[f.Name] {
			t.Errorf("%s: matched %d of %d, want at least %d", f.Name, f.Matched, f.All, matched[f.Name])
		}
		t.Logf("%s: matched %d of %d", f.Name, f.Matched, f.All)
	}
}

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
