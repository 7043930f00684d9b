//go:build unix

package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// started starts a script as a tool, and waits until it has printed a line.
func started(t *testing.T, body string) (*Process, func() string) {
	t.Helper()
	project := t.TempDir()
	script(t, project, "terragrunt", body)
	tools, err := Find(project, []string{"PATH=" + os.Getenv("PATH")})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(project, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	p, err := tools.Start(project, log, "terragrunt", "plan")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() }) // it may have ended
	text := func() string {
		body, err := os.ReadFile(log.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	for range 200 {
		if strings.Contains(text(), "\n") {
			return p, text
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the tool prints nothing")
	return nil, nil
}

// TestInterrupt sends two signals to the process itself, and none to what it has started.
func TestInterrupt(t *testing.T) {
	p, text := started(t, `n=0; trap 'n=$((n+1)); echo "signal $n"; [ $n = 2 ] && exit 5' INT
sh -c 'trap "echo the child is interrupted" INT; sleep 2' & echo ready
while :; do sleep 0.05; done`)
	if err := p.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if code, err := p.Wait(); code != 5 || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
	if got := text(); got != "ready\nsignal 1\nsignal 2\n" {
		t.Errorf("printed %q", got)
	}
	if err := p.Interrupt(); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// TestKill ends the process and what it has started.
func TestKill(t *testing.T) {
	p, text := started(t, `(sleep 1; echo "the child goes on") & echo ready; wait`)
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
	time.Sleep(1200 * time.Millisecond)
	if got := text(); got != "ready\n" {
		t.Errorf("printed %q", got)
	}
}
