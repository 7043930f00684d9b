package files

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

// retryEvery is the time between attempts to get the lock.
const retryEvery = 50 * time.Millisecond

// attempt is the result of a platform's tryLock.
type attempt struct {
	release func() error // nil if another process has the lock
	taken   bool         // another process has the lock
	by      string       // that process, if known: " (pid 123)" or ""
}

// LockedError says that another process had the lock until the context ended.
type LockedError struct {
	root, by string
	waited   time.Duration
	cause    error // of the context
}

// Error names the root, the process if it is known, and how long Lock waited.
func (e *LockedError) Error() string {
	return fmt.Sprintf("another stackgen%s is writing %s; waited %v", e.by, e.root, e.waited.Round(time.Second))
}

// Unwrap returns why the wait ended: context.DeadlineExceeded or the cause of the cancellation.
func (e *LockedError) Unwrap() error { return e.cause }

// Lock excludes other writers of the same root until unlock is called or the process ends. Call it before reading what
// will be changed. It leaves no file in the project: it locks the root folder itself where the system supports that
// (flock), otherwise a file in the user's temporary folder, which works on this machine only.
//
// When another process has the lock, waiting (if not nil) is called once with a sentence to print, and Lock waits until
// ctx is done; the error is then a *LockedError. A missing root is created, and unlock removes it if it is still empty.
func Lock(ctx context.Context, root string, waiting func(message string)) (unlock func() error, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, explain(root, "cannot be locked", err)
	}
	start := time.Now()
	for reported := false; ; {
		made, err := makeRoot(root)
		if err != nil {
			return nil, err
		}
		a, err := tryLock(root)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed by the process that had the lock
			continue
		case err != nil:
			return nil, explain(root, "cannot be locked", err)
		case !a.taken:
			return func() error { return unlockRoot(a.release, made) }, nil
		}
		if !reported && waiting != nil {
			reported = true
			waiting(fmt.Sprintf("waiting for another stackgen%s that is writing %s", a.by, root))
		}
		select {
		case <-ctx.Done():
			return nil, &LockedError{root, a.by, time.Since(start), context.Cause(ctx)}
		case <-time.After(retryEvery):
		}
	}
}

// TryLock is Lock of a folder that exists, without waiting. If another process has the lock, unlock is nil, and by names
// that process as in " (pid 123)", if it is known.
func TryLock(root string) (unlock func() error, by string, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, "", explain(root, "cannot be locked", err)
	}
	a, err := tryLock(root)
	if err != nil {
		return nil, "", explain(root, "cannot be locked", err)
	}
	return a.release, a.by, nil
}

// unlockRoot removes the folders created for the lock, if they are still empty, and releases it.
func unlockRoot(release func() error, made []string) error {
	for _, dir := range slices.Backward(made) {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			break
		}
		if err := os.Remove(dir); err != nil {
			break // another process was faster; an empty folder is harmless
		}
	}
	return release()
}

// makeRoot creates the root with its parents and returns those that were missing, outermost first.
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
			return nil, explain(dir, "cannot be created", err)
		}
	}
	return missing, nil
}
