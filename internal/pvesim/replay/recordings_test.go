package replay_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/pvesim/replay"
)

// TestRecordings replays recordings of a genuine server. It fails if fewer
// exchanges match than before, or if a difference is not listed in
// differences.txt.
func TestRecordings(t *testing.T) {
	for folder, pinned := range map[string]int{"exchanges": 1122, "cluster": 583} {
		t.Run(folder, func(t *testing.T) {
			r, err := replay.Folder(filepath.Join("..", "testdata", folder))
			if err != nil {
				t.Fatal(err)
			}
			known := explained(t, folder)
			seen := map[string]bool{}
			for _, d := range r.Differences {
				seen[d.Key()] = true
				if !known[d.Key()] {
					t.Errorf("not in differences.txt: %s", d)
				}
			}
			for key := range known {
				if !seen[key] {
					t.Errorf("in differences.txt, but no longer different: %s", key)
				}
			}
			if r.Matched < pinned {
				t.Errorf("matched %d of %d, want at least %d", r.Matched, r.All, pinned)
			}
			t.Logf("%s: matched %d of %d", folder, r.Matched, r.All)
		})
	}
}

func explained(t *testing.T, folder string) map[string]bool {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	out := map[string]bool{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		fields := strings.Fields(sc.Text())
		if len(fields) < 4 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if fields[0] == folder {
			out[fields[1]+" "+fields[2]] = true
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
