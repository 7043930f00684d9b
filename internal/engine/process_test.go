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

// TestInterrupt interrupts each OpenTofu once, also one that is started later, and neither
// Terragrunt nor a wrapper.
func TestInterrupt(t *testing.T) {
	bin := t.TempDir()
	for name, body := range map[string]string{
		"tofu":      `n=0; trap 'n=$((n+1))' INT; echo "$1 begins"; for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; echo "$1 got $n"`,
		"terraform": `trap 'echo "the wrapper is interrupted"' INT; ` + bin + `/tofu wrapped; exit 0`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, text := started(t, `trap 'echo "Terragrunt is interrupted"' INT
`+bin+"/terraform; "+bin+"/tofu later; exit 5")
	if err := p.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if code, err := p.Wait(); code != 5 || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
	if got := text(); got != "wrapped begins\nwrapped got 1\nlater begins\nlater got 1\n" {
		t.Errorf("printed %q", got)
	}
	if err := p.Interrupt(); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

func TestIsTofu(t *testing.T) {
	for name, want := range map[string]bool{"tofu": true, "tofu-1.12": true, "terraform": true, "run-tofu": true, "terraform-provider-proxmox_v0.111.1": false, "terragrunt": false, "stackgen": false} {
		if isTofu(name, "run-tofu") != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
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
