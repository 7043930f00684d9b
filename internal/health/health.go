package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"stackgen/internal/cluster"
)

// The pauses between two checks of a VM, and how long one connection may take.
const (
	firstPause  = 500 * time.Millisecond
	lastPause   = 5 * time.Second
	dialTime    = 3 * time.Second
	checkAtOnce = 16

	checkTime    = 20 * time.Second // of one VM
	maxAddresses = 4                // of a VM that are tried
)

// A Rule says when a VM is healthy.
type Rule struct {
	Agent   bool // its agent answers, if it has one
	TCP     []int
	Timeout time.Duration // 0 is one check
}

// A VM is one that is checked.
type VM struct {
	Name     string // STACK/KEY, for people
	Guest    *cluster.Guest
	Agent    bool   // it has one
	Address  string // of its spec, or empty
	Recorded []string
}

// A Reading is what the cluster says of a VM.
type Reading struct {
	Running   bool
	Agent     bool     // it answers
	Addresses []string // that it reports
}

// An Unhealthy is a VM that is not healthy, and why.
type Unhealthy struct {
	Name, Why string
	Unread    bool // the cluster did not say how it is
}

// String is the VM and why.
func (s Unhealthy) String() string { return s.Name + ": " + s.Why }

// A Clock tells the time and waits.
type Clock struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error // its error is that of ctx
}

// System is the clock of this machine.
func System() Clock {
	return Clock{Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

// Dial opens a TCP connection and closes it.
func Dial(ctx context.Context, address string) error {
	c, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

// A Checker checks VMs by a rule.
type Checker struct {
	Rule
	Clock
	Read func(ctx context.Context, vm *VM) (Reading, error)
	Dial func(ctx context.Context, address string) error // of one HOST:PORT
}

// Wait waits until all VMs are healthy, or the time of the rule is over. It returns those that are
// not, in their order. The error is that of ctx.
func (c *Checker) Wait(ctx context.Context, vms []VM) ([]Unhealthy, error) {
	end := c.Now().Add(c.Timeout)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		left, unhealthy := c.check(ctx, vms)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rest := end.Sub(c.Now())
		if vms = left; len(left) == 0 || rest <= 0 {
			return unhealthy, nil
		}
		if err := c.Sleep(ctx, min(pause, rest)); err != nil {
			return nil, err
		}
	}
}

// check checks VMs once, and returns those that are not healthy.
func (c *Checker) check(ctx context.Context, vms []VM) (left []VM, unhealthy []Unhealthy) {
	why := make([]error, len(vms))
	var all errgroup.Group
	all.SetLimit(checkAtOnce)
	for i := range vms {
		all.Go(func() error {
			why[i] = c.one(ctx, &vms[i])
			return nil
		})
	}
	_ = all.Wait() // no function returns an error
	for i := range vms {
		if why[i] != nil {
			left, unhealthy = append(left, vms[i]), append(unhealthy, Unhealthy{vms[i].Name, why[i].Error(), errors.As(why[i], new(*unreadError))})
		}
	}
	return left, unhealthy
}

// An unreadError says that the cluster does not say how a VM is, which proves nothing of it.
type unreadError struct{ error }

func (e *unreadError) Error() string { return "it cannot be read: " + e.error.Error() }

// one is why a VM is not healthy, or nil.
func (c *Checker) one(ctx context.Context, vm *VM) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	is, err := c.Read(ctx, vm)
	switch {
	case err != nil:
		return &unreadError{err}
	case !is.Running:
		return errors.New("it does not run")
	case c.Agent && vm.Agent && !is.Agent:
		return errors.New("its agent does not answer")
	case c.Agent && vm.Agent && len(is.Addresses) == 0:
		return errors.New("its agent reports no address")
	case len(c.TCP) == 0:
		return nil
	case vm.Address != "" && len(is.Addresses) > 0 && !slices.Contains(is.Addresses, vm.Address):
		return fmt.Errorf("its agent reports %s, and not %s of its spec, where another machine may answer",
			strings.Join(is.Addresses[:min(maxAddresses, len(is.Addresses))], ", "), vm.Address)
	}
	addresses := vm.addresses(is)
	if len(addresses) == 0 {
		return errors.New("it has no address: neither in its spec, nor from its agent, nor in the lock")
	}
	for _, a := range addresses {
		if err = c.ports(ctx, a); err == nil {
			break
		}
	}
	return err
}

// addresses are where the ports are tried. A recorded one may be another machine's by now, so that
// it counts only where nothing better is known.
func (vm *VM) addresses(is Reading) []string {
	switch {
	case vm.Address != "":
		return []string{vm.Address}
	case len(is.Addresses) > 0:
		return is.Addresses[:min(maxAddresses, len(is.Addresses))]
	}
	return vm.Recorded[:min(maxAddresses, len(vm.Recorded))]
}

// ports is why not all ports of an address are open, or nil.
func (c *Checker) ports(ctx context.Context, address string) error {
	for _, p := range c.TCP {
		at := net.JoinHostPort(address, strconv.Itoa(p))
		if err := c.Dial(ctx, at); err != nil {
			return fmt.Errorf("TCP port %d is not open at %s: %s", p, address, cause(err))
		}
	}
	return nil
}

// cause is why a connection failed, without its address.
func cause(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "no answer"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	text := err.Error()
	return strings.TrimSpace(text[strings.LastIndex(text, ":")+1:])
}
