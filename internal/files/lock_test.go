package files

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func mustLock(t *testing.T, root string) func() error {
	t.Helper()
	unlock, err := Lock(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

// second calls Lock while another has the lock, and returns when it waits: its message, and a channel for the result. With
// the lock it checks that the root exists, and releases it.
func second(t *testing.T, root string) (message string, done chan error) {
	t.Helper()
	messages := make(chan string)
	done = make(chan error, 1)
	go func() {
		unlock, err := Lock(context.Background(), root, func(message string) { messages <- message })
		if err == nil {
			_, err = os.Stat(root)
			err = errors.Join(err, unlock())
		}
		done <- err
	}()
	select {
	case message = <-messages:
	case err := <-done:
		t.Fatalf("the second lock did not wait: %v", err)
	}
	return message, done
}

func TestLockWaits(t *testing.T) {
	root := t.TempDir()
	unlock := mustLock(t, root)
	message, done := second(t, root)
	if !strings.HasPrefix(message, "waiting for another stackgen") || !strings.HasSuffix(message, " is writing "+root) {
		t.Errorf("got %q", message)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	sameTree(t, readTree(t, root), tree{})
}

// A lock on a folder that was replaced while waiting would exclude nobody.
func TestLockFollowsTheRoot(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "new")
	unlock := mustLock(t, root)
	_, done := second(t, root)
	if err := unlock(); err != nil { // removes the empty root
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	sameTree(t, readTree(t, base), tree{})
}

func TestLockTimesOut(t *testing.T) {
	root := t.TempDir()
	unlock := mustLock(t, root)
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err := Lock(ctx, root, nil)
	var locked *LockedError
	if !errors.As(err, &locked) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if m := err.Error(); !strings.HasPrefix(m, "another stackgen") || !strings.HasSuffix(m, " is writing "+root+"; waited 0s") {
		t.Errorf("got %q", m)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	unlock, err = Lock(ctx, root, nil) // a free lock is taken without waiting
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestLocksOfTwoProjects(t *testing.T) {
	first, other := mustLock(t, t.TempDir()), mustLock(t, t.TempDir())
	if err := errors.Join(first(), other()); err != nil {
		t.Error(err)
	}
}

func TestLockMissingRoot(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "a", "b")
	if err := mustLock(t, root)(); err != nil {
		t.Fatal(err)
	}
	sameTree(t, readTree(t, base), tree{})

	unlock := mustLock(t, root)
	mustRender(t, root, tree{"root.hcl": ours("r")})
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	sameTree(t, readTree(t, base), tree{"a/": "", "a/b/": "", "a/b/root.hcl": ours("r")})
}

// Two processes repeatedly render different contents to the same folder.
func TestRendersDoNotMix(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "p")
	results := make(chan error)
	for _, text := range []string{"one", "other"} {
		go func() {
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), childEnv+"=compete "+text, "DISK_ROOT="+root)
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = errors.Join(err, errors.New(string(out)))
			}
			results <- err
		}()
	}
	if err := errors.Join(<-results, <-results); err != nil {
		t.Fatal(err)
	}
	got := readTree(t, root)
	sameTree(t, got, withFolders(smallTree(strings.TrimSpace(strings.TrimPrefix(got["root.hcl"], mark)))))
}

func TestTryLock(t *testing.T) {
	root := t.TempDir()
	unlock, _, err := TryLock(root)
	if err != nil || unlock == nil {
		t.Fatalf("got %v", err)
	}
	if second, _, err := TryLock(root); err != nil || second != nil {
		t.Errorf("a second one gets the lock, or %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	unlock, _, err = TryLock(root)
	if err != nil || unlock == nil {
		t.Fatalf("after it was released: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if _, _, err := TryLock(root + "/none"); err == nil {
		t.Error("a folder that does not exist can be locked")
	}
	sameTree(t, readTree(t, root), tree{})
}
