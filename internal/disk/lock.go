package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// retryEvery is how often a taken lock is tried again.
const retryEvery = 50 * time.Millisecond

// held is what a platform's tryLock returns.
type held struct {
	release func() error // lets go
	taken   bool         // somebody else has it; release is nil
	by      string       // who, as far as is known: " (pid 123)" or ""
}

// LockedError says that another process kept the lock for as long as there was time to wait.
type LockedError struct {
	root, by string
	waited   time.Duration
	cause    error // of the context
}

// Error names the root, the process where it is known, and how long it took.
func (e *LockedError) Error() string {
	return fmt.Sprintf("another stackgen%s is writing %s; waited %v", e.by, e.root, e.waited.Round(time.Second))
}

// Unwrap returns why the wait ended: context.DeadlineExceeded or whatever cancelled it.
func (e *LockedError) Unwrap() error { return e.cause }

// Lock keeps other writers of the same root out until unlock is called or the process ends, however it ends. Take it
// before the first look at what will be changed. It leaves nothing in the project: where the system can, the root folder
// itself is locked (flock), else a file in the user's temporary folder, which holds on this machine only.
//
// When another process has the lock, waiting (if not nil) is called once with a sentence to show, and Lock waits until ctx
// is done; the error is then a *LockedError. A missing root is made, and taken away by
// unlock if it is empty.
func Lock(ctx context.Context, root string, waiting func(message string)) (unlock func() error, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, explain(root, "cannot be locked", err)
	}
	start := time.Now()
	for told := false; ; {
		made, err := makeRoot(root)
		if err != nil {
			return nil, err
		}
		h, err := tryLock(root)
		switch {
		case errors.Is(err, fs.ErrNotExist): // taken away by the one before us
			continue
		case err != nil:
			return nil, explain(root, "cannot be locked", err)
		case !h.taken:
			return func() error { return unlockRoot(h, made) }, nil
		}
		if !told && waiting != nil {
			told = true
			waiting(fmt.Sprintf("waiting for another stackgen%s that is writing %s", h.by, root))
		}
		select {
		case <-ctx.Done():
			return nil, &LockedError{root, h.by, time.Since(start), context.Cause(ctx)}
		case <-time.After(retryEvery):
		}
	}
}

// unlockRoot takes away the folders made for the lock, if they are still empty, and lets go.
func unlockRoot(h held, made []string) error {
	for _, dir := range slices.Backward(made) {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			break
		}
		if err := os.Remove(dir); err != nil {
			break // somebody was faster; an empty folder harms nobody
		}
	}
	return h.release()
}

// makeRoot makes the root with its parents and returns those that were missing, outermost first.
func makeRoot(root string) ([]string, error) {
	var missing []string
	for dir := root; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(dir)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return nil, explain(dir, "cannot be opened", err)
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	for _, dir := range missing {
		if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, explain(dir, "cannot be made", err)
		}
	}
	return missing, nil
}
