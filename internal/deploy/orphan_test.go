//go:build unix

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"stackgen/internal/finding"
)

// TestOrphan: an OpenTofu in the folder of a stack whose Terragrunt is gone is found, and
// is waited for. A lock that no process holds is not waited for after a moment.
func TestOrphan(t *testing.T) {
	dir := t.TempDir()
	unit := filepath.Join(dir, generated, "proxmox-vm")
	if err := os.MkdirAll(unit, 0o700); err != nil {
		t.Fatal(err)
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	tofu := filepath.Join(t.TempDir(), "tofu")
	if err := os.WriteFile(tofu, body, 0o700); err != nil {
		t.Fatal(err)
	}
	f := &finding.Finding{Address: finding.Address{Stack: "live", Unit: "proxmox-vm", Type: finding.Unit}, Kind: finding.Busy, Severity: finding.Blocked}
	st := &stack{name: "live", dir: dir, hold: &hold{}}
	r := &run{stacks: []*stack{st}}
	if got := r.usedBy(f); got != "" {
		t.Errorf("nobody was killed: %q", got)
	}
	elsewhere, here := exec.Command(tofu, "60"), exec.Command(tofu, "60")
	elsewhere.Dir, here.Dir = dir, unit
	for _, c := range []*exec.Cmd{elsewhere, here} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	}
	if got := orphanIn(filepath.Join(dir, generated)); int(got) != here.Process.Pid {
		t.Errorf("the orphan is %d, want %d", got, here.Process.Pid)
	}
	if r.usedBy(f) == "" {
		t.Error("an OpenTofu without its Terragrunt is not waited for")
	}
	if err := here.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = here.Wait() // it was killed
	st.hold.before = &holder{Process: 1}
	if r.usedBy(f) == "" {
		t.Error("a lock may end a moment after its process")
	}
	st.locked = time.Now().Add(-lockGrace - time.Second)
	if got := r.usedBy(f); got != "" {
		t.Errorf("a lock that no process holds: %q", got)
	}
}
