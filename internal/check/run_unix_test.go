//go:build unix

package check

import (
	"os/exec"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// TestStartOfRunIsNotEarly: a lock that another run took just before this one began is
// not of this run.
func TestStartOfRunIsNotEarly(t *testing.T) {
	before := time.Now()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() }) // it is killed
	p, err := process.NewProcess(int32(c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	created, err := p.CreateTime()
	if err != nil {
		t.Fatal(err)
	}
	const tick = 20 * time.Millisecond // systems count in hundredths of a second
	if got := (&sharedRun{Started: created}).started(); got.Before(before.Add(-tick)) {
		t.Errorf("a process that began at %v or later began at %v (%v early)", before, got, before.Sub(got))
	}
}
