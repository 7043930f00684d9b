package pvesim_test

import (
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// log are the lines of the log of a task on pve1.
func (b *testSim) log(upid string) (out []string) {
	b.t.Helper()
	for _, line := range b.data("GET", "/nodes/pve1/tasks/"+upid+"/log", "limit", "0").([]any) {
		out = append(out, line.(map[string]any)["t"].(string))
	}
	return out
}

// A full clone takes as long as its storage needs for the bytes. Its log grows by a
// line for each percent, as that of qemu-img does, and so does that of a disk that
// moves.
func TestLogOfCopyGrows(t *testing.T) {
	tests := map[string]pvesim.Options{
		"by bandwidth": {Bandwidth: 30 << 20}, // 3 GiB take 102.4 s
		"by duration":  {Durations: func(kind string, _ int) (time.Duration, bool) { return 102 * time.Second, kind == "qmclone" }},
	}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			b := newTestSim(t, o)
			upid := b.data("POST", "/nodes/pve1/qemu/9000/clone", "newid", "301", "full", "1").(string)
			b.clk.Advance(500 * time.Millisecond)
			if last := last(b.log(upid)); last != "transferred 0.0 B of 3.0 GiB (0.00%)" {
				t.Errorf("after half a second, the log ends with %q", last)
			}
			b.clk.Advance(31 * time.Second)
			if last := last(b.log(upid)); last != "transferred 921.6 MiB of 3.0 GiB (30.00%)" {
				t.Errorf("after 31.5 seconds, the log ends with %q", last)
			}
			if got := b.data("GET", "/nodes/pve1/tasks/"+upid+"/log", "start", "1000").([]any); len(got) != 0 {
				t.Errorf("beyond its end, the log has %v", got)
			}
			b.clk.Advance(90 * time.Second)
			log := b.log(upid)
			if n := strings.Count(strings.Join(log, "\n"), "transferred "); n != 101 || last(log) != "TASK OK" || log[len(log)-2] != "transferred 3.0 GiB of 3.0 GiB (100.00%)" {
				t.Errorf("at the end, the log has %d lines of the copy:\n%s", n, strings.Join(log, "\n"))
			}
		})
	}
}

// A copy that is stopped keeps the lines until then.
func TestLogOfStoppedCopy(t *testing.T) {
	b := newTestSim(t, pvesim.Options{Bandwidth: 30 << 20})
	upid := b.data("POST", "/nodes/pve1/qemu/9000/clone", "newid", "301", "full", "1").(string)
	b.clk.Advance(31500 * time.Millisecond)
	b.data("DELETE", "/nodes/pve1/tasks/"+upid)
	log := b.log(upid)
	if got := log[len(log)-2]; got != "transferred 921.6 MiB of 3.0 GiB (30.00%)" || !strings.HasPrefix(last(log), "TASK ERROR: clone failed: ") {
		t.Errorf("the log ends with %q, %q", got, last(log))
	}
}

func last(lines []string) string { return lines[len(lines)-1] }
