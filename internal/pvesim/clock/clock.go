package clock

import (
	"context"
	"sync"
	"time"
)

// Clock tells the time and waits for a moment.
type Clock interface {
	Now() time.Time
	WaitUntil(ctx context.Context, t time.Time) error
}

// Scaled runs from a start moment at a multiple of real time.
type Scaled struct {
	start  time.Time
	origin time.Time
	factor float64
}

// Real is the machine's clock.
func Real() *Scaled { return NewScaled(time.Now(), 1) }

// NewScaled starts at a moment and runs factor times as fast as real time.
func NewScaled(start time.Time, factor float64) *Scaled {
	if factor <= 0 {
		factor = 1
	}
	return &Scaled{start: start, origin: time.Now(), factor: factor}
}

// Now tells the time.
func (c *Scaled) Now() time.Time {
	return c.start.Add(time.Duration(float64(time.Since(c.origin)) * c.factor))
}

// WaitUntil sleeps until the moment or the end of the context.
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

// Virtual moves only when told. With jump, whoever waits moves it: one client
// at a time then sees every delay without losing real time to it.
type Virtual struct {
	mu   sync.Mutex
	now  time.Time
	jump bool
	wake chan struct{}
}

// NewVirtual starts at a moment.
func NewVirtual(start time.Time, jump bool) *Virtual {
	return &Virtual{now: start, jump: jump, wake: make(chan struct{})}
}

// Now tells the time.
func (c *Virtual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on.
func (c *Virtual) Advance(d time.Duration) { c.Set(c.Now().Add(d)) }

// Set moves the clock to a moment, never back.
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

// WaitUntil waits for somebody to move the clock, or moves it.
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
