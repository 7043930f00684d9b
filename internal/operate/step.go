package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
)

// A stepper sends calls one after the other.
type stepper struct {
	api     *proxmox.Power
	timeout time.Duration // how long a step waits for a lock
}

// step sends a call and waits until its task has ended. While another process has the lock of a configuration,
// it tries again.
func (s *stepper) step(ctx context.Context, send func(context.Context) (proxmox.RunningTask, error)) error {
	return s.again(ctx, func() error {
		task, err := send(context.WithoutCancel(ctx))
		if err != nil || task.UPID == "" {
			return err
		}
		return s.await(ctx, task)
	})
}

// A taskError is what a task says that has failed.
type taskError struct{ reason string }

func (e taskError) Error() string { return e.reason }

// A goesOn is an error after which Proxmox VE may still do what it was asked for.
type goesOn struct{ error }

func (e goesOn) Unwrap() error { return e.error }

// mayGoOn is the error of a task that was followed: it goes on unless the task itself has failed.
func mayGoOn(err error) error {
	if errors.As(err, new(taskError)) {
		return err
	}
	return goesOn{err}
}

// GoesOn reports whether Proxmox VE may still do what failed with an error.
func GoesOn(err error) bool { return errors.As(err, new(goesOn)) }

// again does something until no other process has the lock of a configuration any more.
func (s *stepper) again(ctx context.Context, do func() error) error {
	for p := (&pauses{next: firstPause, end: time.Now().Add(s.timeout)}); ; {
		if ctx.Err() != nil {
			return errors.New("interrupted; the same command goes on")
		}
		err := do()
		if err == nil || !proxmox.MeetsLock(err.Error()) || !p.wait(ctx) {
			return err
		}
	}
}

// await waits until a task has ended. The error is that of the task.
func (s *stepper) await(ctx context.Context, task proxmox.RunningTask) error {
	for p, lost := (&pauses{next: firstPause, end: time.Now().Add(longestCopy)}), 0; ; {
		exit, err := s.api.Ended(ctx, task)
		switch {
		case ctx.Err() != nil:
			return errors.New("interrupted; its task goes on, and so does the same command")
		case err != nil:
			if lost++; lost == maxLost {
				return fmt.Errorf("its task cannot be followed: %w", err)
			}
		case proxmox.Succeeded(exit):
			return nil
		case exit != "":
			return taskError{s.api.Reason(ctx, task, exit)}
		default:
			lost = 0
		}
		if !p.wait(ctx) && ctx.Err() == nil {
			return fmt.Errorf("its task had not ended after %s", longestCopy)
		}
	}
}

// longestCopy is how long a full clone may take.
const longestCopy = 6 * time.Hour

// unlocked waits until a guest has no lock, as during its clone. Afterwards, it may have one still.
func (s *stepper) unlocked(ctx context.Context, g *cluster.Guest) (now proxmox.Now, err error) {
	for p := (&pauses{next: firstPause, end: time.Now().Add(s.timeout)}); ; {
		now, err = s.api.Now(ctx, g)
		if err != nil || now.Lock == "" || !p.wait(ctx) {
			return now, err
		}
	}
}
