//go:build unix

package files

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func union(a, b tree) tree {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func child(t *testing.T, job, root string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+job, "DISK_ROOT="+root)
	return cmd
}

// killedAt runs a render that is killed before its n-th change to the file system, and reports whether there was one.
func killedAt(t *testing.T, root string, n int) bool {
	t.Helper()
	out, err := child(t, fmt.Sprintf("stop-at %d", n), root).CombinedOutput()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status := exit.Sys().(syscall.WaitStatus)
		if status.Signaled() && status.Signal() == syscall.SIGKILL {
			return true
		}
	}
	t.Fatalf("%v: %s", err, out)
	return false
}

// A render is killed at each of its steps. Every file is then old or new. The next render, also one that is itself killed
// first, or one that returns to the old state, leaves exactly the wanted files and folders.
func TestKilledAtEveryStep(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 26))
	n := 1
	for ; ; n++ {
		root := filepath.Join(t.TempDir(), "p")
		writeTree(t, root, union(usersTree, earlierTree))
		if !killedAt(t, root, n) {
			break
		}
		oldOrNew(t, readTree(t, root))
		last := laterTree
		switch n % 3 {
		case 1:
			killedAt(t, root, 1+random.IntN(n))
			oldOrNew(t, readTree(t, root))
		case 2:
			last = earlierTree
		}
		mustRender(t, root, last)
		sameTree(t, readTree(t, root), withFolders(union(usersTree, last)))
		if t.Failed() {
			t.Fatalf("killed at step %d", n)
		}
	}
	if n < 25 {
		t.Errorf("a render has only %d steps", n)
	}
}

// oldOrNew checks a tree between the two states.
func oldOrNew(t *testing.T, got tree) {
	t.Helper()
	written := true
	for p := range union(earlierTree, laterTree) {
		current, there := got[p]
		was, existed := earlierTree[p]
		will, stays := laterTree[p]
		switch {
		case there && stays && current == will:
		case there && existed && current == was:
			written = written && !stays
		case !there && !existed:
			written = false
		case !there && !stays:
		default:
			t.Errorf("%s: %v %q, neither old nor new", p, there, current)
		}
	}
	for p := range earlierTree {
		if _, stays := laterTree[p]; !stays && !written {
			if _, there := got[p]; !there {
				t.Errorf("%s was removed before everything was written", p)
			}
		}
	}
	for p, body := range usersTree {
		if got[p] != body {
			t.Errorf("%s: %q", p, got[p])
		}
	}
}

// A render is killed from outside: the child prints a byte before each step, and is killed after a random number of them.
func TestKilledFromOutside(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 85))
	root := filepath.Join(t.TempDir(), "p")
	writeTree(t, root, usersTree)
	left, right := bigTree("left"), bigTree("right")
	for range 25 {
		cmd := child(t, "alternate", root)
		steps, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		seen, err := io.CopyN(io.Discard, steps, 1+random.Int64N(150))
		_, _ = cmd.Process.Kill(), cmd.Wait() // err says whether it had ended before
		if err != nil {
			t.Fatalf("the child ended by itself after %d steps: %v", seen, err)
		}
		known := union(left, right)
		for p, body := range readTree(t, root) {
			if _, ok := known[p]; ok && body != left[p] && body != right[p] {
				t.Errorf("%s is incomplete: %d bytes", p, len(body))
			}
		}
		last := []tree{left, right}[random.IntN(2)]
		mustRender(t, root, last)
		sameTree(t, readTree(t, root), withFolders(union(usersTree, last)))
	}
}
