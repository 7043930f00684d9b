package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/power"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
)

// A Clone is a container that is made from a template container. Proxmox VE gives a clone MAC addresses of its own, and
// the provider takes any container that has got the VMID for its clone. So the description tells the clone from every
// other container, from the request that makes it to the one that gives it its MAC addresses.
type Clone struct {
	Guest    *cluster.Guest // it need not exist
	Record   *cluster.CloneRecord
	Params   map[string]string // of the call that makes it, without VMID and description
	Networks map[string]string // the entries of its network devices, by their keys
	Without  []string          // entries of its template that its spec does not say
}

// ErrTaken is another container or VM that has the VMID of a clone.
var ErrTaken = errors.New("another guest has got its VMID in between, and nothing was done to it")

// A Cloner clones containers.
type Cloner struct{ stepper }

// OpenCloner connects to a cluster. timeout is how long a lock is waited for that no task seems to have.
func OpenCloner(ctx context.Context, c proxmox.Config, timeout time.Duration) (*Cloner, error) {
	api, err := proxmox.OpenPower(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Cloner{stepper{api, timeout}}, nil
}

// Close closes the connections.
func (c *Cloner) Close() { c.api.Close() }

// Make makes the clone in full, and completes it. Proxmox VE locks the template meanwhile, so another clone of it is
// waited for.
func (c *Cloner) Make(ctx context.Context, of *Clone, template *cluster.Guest) error {
	body := map[string]string{"newid": fmt.Sprint(of.Guest.VMID), "full": "1", "description": of.Record.Token}
	maps.Copy(body, of.Params)
	var task proxmox.RunningTask
	for p := (&pauses{next: firstPause, end: time.Now().Add(c.timeout)}); ; {
		err := c.again(ctx, func() (err error) {
			task, err = c.api.Clone(context.WithoutCancel(ctx), template, body)
			return err
		})
		switch {
		case err == nil:
			if err := c.await(ctx, task); err != nil {
				return mayGoOn(err)
			}
			return c.Complete(ctx, of)
		case proxmox.Taken(err.Error()): // perhaps by a request of an earlier run
			return c.Complete(ctx, of)
		case !proxmox.Refused(err):
			return goesOn{err}
		case !proxmox.IsLocked(err.Error()):
			return err
		case c.api.Working(ctx, template):
			p.end = time.Now().Add(c.timeout)
		}
		if !p.wait(ctx) {
			return fmt.Errorf("its template %d: %w", template.VMID, err)
		}
	}
}

// Complete gives a clone its MAC addresses and takes its description away, in one request.
func (c *Cloner) Complete(ctx context.Context, of *Clone) error {
	has, err := c.api.Entries(ctx, of.Guest)
	if proxmox.Gone(err) {
		return ErrTaken // by a guest of another node
	}
	if err != nil {
		return err
	}
	now, err := c.api.Now(ctx, of.Guest)
	if err != nil {
		return err
	}
	lacks := of.Record.Lacks(has)
	switch {
	case of.Record.Token == "" || strings.TrimSpace(has["description"]) != of.Record.Token:
		return ErrTaken
	case now.Lock != "":
		return fmt.Errorf("container %d is locked (%s)", of.Guest.VMID, now.Lock)
	case now.State != power.Stopped:
		return fmt.Errorf("somebody has started container %d before it was complete; shut it down first", of.Guest.VMID)
	case len(lacks) > 0: // its clone was interrupted, and somebody has removed its lock
		return fmt.Errorf("container %d is a part of a clone, and lacks %s of its template; destroy it", of.Guest.VMID, strings.Join(lacks, ", "))
	}
	body := maps.Clone(of.Networks)
	remove := []string{"description"}
	for _, key := range slices.Sorted(maps.Keys(has)) {
		bus, n := pve.SplitKey(key)
		if bus == "net" && n >= 0 && body[key] == "" || slices.Contains(of.Without, key) {
			remove = append(remove, key)
		}
	}
	body["delete"] = strings.Join(remove, ",")
	return c.again(ctx, func() error { return c.api.Configure(context.WithoutCancel(ctx), of.Guest, has["digest"], body) })
}
