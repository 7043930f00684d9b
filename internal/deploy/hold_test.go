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
