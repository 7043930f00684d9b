package proxmox

import (
	"context"
	"time"
)

// WithTime returns a Config whose client reads the time and waits with other
// functions than those of the machine, so that tests share the virtual clock of
// the simulator.
func (c Config) WithTime(now func() time.Time, wait func(context.Context, time.Duration) error) Config {
	c.now, c.wait = now, wait
	return c
}
