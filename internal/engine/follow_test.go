package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stackgen/internal/engine"
)

// A reader collects the lines that are followed.
type reader struct {
	mu    sync.Mutex
	lines []string
}

func (r *reader) line(unit string, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, unit+" "+string(text))
}

func (r *reader) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// waits waits until so many lines were read.
func (r *reader) waits(t *testing.T, n int) []string {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got := r.got(); len(got) >= n {
			return got
		}
	}
	t.Fatalf("only these lines were read: %q", r.got())
	return nil
}

func add(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "events")
	vms, dns := filepath.Join(dir, "proxmox-vm.jsonl"), filepath.Join(dir, "dns-web01.jsonl")
	var r reader
	stop, failed := make(chan struct{}), make(chan int)
	go func() { failed <- engine.Follow(stop, dir, r.line) }()
	time.Sleep(50 * time.Millisecond)
	if err := os.Mkdir(dir, 0o700); err != nil { // after the run began
		t.Fatal(err)
	}
	add(t, filepath.Join(dir, "report.json"), "no events\n")
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	add(t, vms, "one\ntw")
	if got := r.waits(t, 1); got[0] != "proxmox-vm one" {
		t.Errorf("%q", got)
	}
	time.Sleep(150 * time.Millisecond) // the second line is not complete
	add(t, vms, "o\n\n\nthree\n")
	r.waits(t, 3)
	add(t, dns, "four\n")
	r.waits(t, 4)
	add(t, vms, strings.Repeat("x", 5<<20)+"\nafter a line that is too long\n")
	r.waits(t, 5)
	add(t, dns, "five\nthe last line, without an end")
	close(stop)
	if n := <-failed; n != 0 {
		t.Errorf("%d reads failed", n)
	}
	want := []string{"proxmox-vm one", "proxmox-vm two", "proxmox-vm three", "dns-web01 four", "proxmox-vm after a line that is too long",
		"dns-web01 five", "dns-web01 the last line, without an end"}
	if got := r.got(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestFollowReadsEverything: lines that are written while they are read arrive once,
// whole and in order.
func TestFollowReadsEverything(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "proxmox-vm.jsonl")
	var r reader
	stop, done := make(chan struct{}), make(chan int)
	go func() { done <- engine.Follow(stop, dir, r.line) }()
	for i := range 400 {
		line := fmt.Sprintf("%d %s\n", i, strings.Repeat("é", i))
		add(t, file, line[:len(line)/2])
		add(t, file, line[len(line)/2:])
		if i%100 == 0 {
			time.Sleep(110 * time.Millisecond)
		}
	}
	close(stop)
	<-done
	got := r.got()
	for i, line := range got {
		if line != fmt.Sprintf("proxmox-vm %d %s", i, strings.Repeat("é", i)) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	if len(got) != 400 {
		t.Errorf("%d lines", len(got))
	}
}

// TestFollowNothing: a folder that never appears is no error.
func TestFollowNothing(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	var r reader
	if n := engine.Follow(stop, filepath.Join(t.TempDir(), "none"), r.line); n != 0 || len(r.got()) != 0 {
		t.Errorf("%d, %q", n, r.got())
	}
}
