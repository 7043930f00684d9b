package deploy

import (
	"os"
	"reflect"
	"testing"
	"time"

	"stackgen/internal/check"
)

// TestRelease: a killed holder is remembered until its Terragrunt has ended, whoever had
// the stack meanwhile.
func TestRelease(t *testing.T) {
	t.Parallel()
	self := int32(os.Getpid())
	for name, tc := range map[string]struct {
		started int64 // of the Terragrunt run of the killed holder
		host    string
		kept    bool
	}{
		"it runs":               {startOf(self), "here", true},
		"its number is another": {1, "here", false},
		"it ran elsewhere":      {1, "there", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			killed := holder{Process: 1, Host: tc.host, Since: time.Unix(1, 0).UTC(), Command: "stackgen apply", Work: []string{"/tmp/stackgen-apply-1"}, Tool: self, ToolStarted: tc.started}
			first := &hold{holder: killed, file: check.RecordFile(dir, "lab", "apply")}
			if err := first.save(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second one knows as much as the first
				h, err := takeHold(dir, "lab", dir, holder{Process: self, Host: "here", Command: "stackgen apply --yes"})
				if err != nil {
					t.Fatal(err)
				}
				if err := h.release(); err != nil {
					t.Fatal(err)
				}
				got := readHolder(first.file)
				switch {
				case !tc.kept && got != nil:
					t.Errorf("%+v is left", got)
				case tc.kept && (got == nil || !reflect.DeepEqual(*got, killed)):
					t.Errorf("got %+v, want %+v", got, killed)
				}
			}
		})
	}
}

// TestHeldElsewhere: two checkouts can have one folder of states, as by a link, and a copy of a project has the record of an
// apply that runs in the original. A process that runs has not been killed.
func TestHeldElsewhere(t *testing.T) {
	t.Parallel()
	self, other := int32(os.Getpid()), int32(os.Getppid())
	for name, c := range map[string]struct {
		host    string
		started int64
		held    bool
	}{
		"it runs":               {"here", startOf(other), true},
		"its number is another": {"here", 1, false},
		"it ran elsewhere":      {"there", startOf(other), false},
	} {
		states, dir := t.TempDir(), t.TempDir()
		first := &hold{holder: holder{Process: other, Started: c.started, Host: c.host, Command: "stackgen apply", Work: []string{"/tmp/stackgen-apply-1"}},
			file: check.RecordFile(states, "lab", "apply")}
		if err := first.save(); err != nil {
			t.Fatal(err)
		}
		h, err := takeHold(states, "lab", dir, holder{Process: self, Host: "here", Command: "stackgen apply --yes"})
		if (err != nil) != c.held {
			t.Errorf("%s: %v", name, err)
		}
		if got := readHolder(first.file); c.held && !reflect.DeepEqual(*got, first.holder) {
			t.Errorf("%s: the record is %+v now", name, got)
		}
		if h != nil {
			if err := h.release(); err != nil {
				t.Error(err)
			}
		}
	}
}
