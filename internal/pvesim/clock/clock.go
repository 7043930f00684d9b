package clock

import (
	"context"
	"sync"
	"time"
)

// Clock is a source of time.
type Clock interface {
	Now() time.Time
	WaitUntil(ctx context.Context, t time.Time) error
}

// Scaled runs at a multiple of real time.
type Scaled struct {
	start  time.Time
	origin time.Time
	factor float64
}

// Real returns the clock of the machine.
func Real() *Scaled { return NewScaled(time.Now(), 1) }

// NewScaled returns a clock that starts at a time and runs factor times as fast
// as real time.
func NewScaled(start time.Time, factor float64) *Scaled {
	if factor <= 0 {
		factor = 1
	}
	return &Scaled{start: start, origin: time.Now(), factor: factor}
}

// Now returns the current time.
func (c *Scaled) Now() time.Time {
	return c.start.Add(time.Duration(float64(time.Since(c.origin)) * c.factor))
}

// WaitUntil sleeps until t or until the context ends.
func (c *Scaled) WaitUntil(ctx context.Context, t time.Time) error {
	d := time.Duration(float64(t.Sub(c.Now())) / c.factor)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Virtual is a clock that only moves when it is set. With jump, WaitUntil sets
// it, so that no caller sleeps; this is for one client at a time.
type Virtual struct {
	mu   sync.Mutex
	now  time.Time
	jump bool
	wake chan struct{}
}

// NewVirtual returns a clock that starts at a time.
func NewVirtual(start time.Time, jump bool) *Virtual {
	return &Virtual{now: start, jump: jump, wake: make(chan struct{})}
}

// Now returns the current time.
func (c *Virtual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Virtual) Advance(d time.Duration) { c.Set(c.Now().Add(d)) }

// Set moves the clock to t, but never back.
func (c *Virtual) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !t.After(c.now) {
		return
	}
	c.now = t
	close(c.wake)
	c.wake = make(chan struct{})
}

// WaitUntil waits until the clock is set to t or later. With jump, it sets the
// clock to t.
func (c *Virtual) WaitUntil(ctx context.Context, t time.Time) error {
	if c.jump {
		c.Set(t)
		return ctx.Err()
	}
	for {
		c.mu.Lock()
		now, wake := c.now, c.wake
		c.mu.Unlock()
		if !now.Before(t) {
			return ctx.Err()
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
