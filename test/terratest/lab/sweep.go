package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Swept is the result of a sweep, a line for each resource.
type Swept struct {
	Removed []string
	Kept    []string // in the range or with the prefix, but not created by the suites
}

// Sweep removes VMs with the suites' tag in the range, with their records. It keeps VMs
// in the range without the tag, and VMs with the tag outside of it. Pools have no tags:
// it removes empty ones with the suites' comment.
func (c *Cluster) Sweep(ctx context.Context) (Swept, error) {
	return c.sweep(ctx, c.First, c.Last, c.Prefix+"-", func(config Config) bool { return slices.Contains(config.Tags(), Tag) })
}

// Clear removes what one suite created: every VM in its part of the range, which was
// free when the run began, with the tag or its name, because an interrupted clone has
// no tag yet. Records have no tags, so they are listed.
func (c *Cluster) Clear(ctx context.Context, first, last int, name string, records ...string) (Swept, error) {
	s, err := c.sweep(ctx, first, last, name, func(config Config) bool {
		return slices.Contains(config.Tags(), Tag) || strings.HasPrefix(config["name"], name)
	})
	for _, record := range records {
		err = errors.Join(err, c.forget(ctx, &s, record))
	}
	return s, err
}

// forget removes a record, if there is a zone that has it.
func (c *Cluster) forget(ctx context.Context, s *Swept, name string) error {
	if c.Zone == nil || name == "" {
		return nil
	}
	addresses, err := c.Zone.Lookup(ctx, name)
	if err != nil || len(addresses) == 0 {
		return err
	}
	if err := c.Zone.Remove(ctx, name); err != nil {
		return err
	}
	s.Removed = append(s.Removed, "record "+name+"."+c.Zone.Name)
	return nil
}

func (c *Cluster) sweep(ctx context.Context, first, last int, pools string, ours func(Config) bool) (Swept, error) {
	var s Swept
	guests, err := c.Guests(ctx)
	if err != nil {
		return s, err
	}
	var problems []error
	gone := map[int]bool{}
	for _, g := range guests {
		if g.VMID < first || g.VMID > last {
			continue
		}
		config, err := c.Config(ctx, g)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		kind := map[string]string{"qemu": "VM", "lxc": "container"}[g.Type]
		said := fmt.Sprintf("%s %d (%s) on %s", kind, g.VMID, config["name"]+config["hostname"], g.Node)
		if g.Type != "qemu" || g.Template == 1 || !ours(config) {
			s.Kept = append(s.Kept, said)
			continue
		}
		if !c.DryRun {
			if err := errors.Join(c.remove(ctx, g, config), c.forget(ctx, &s, config["name"])); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", said, err))
				continue
			}
		}
		s.Removed, gone[g.VMID] = append(s.Removed, said), true
	}
	problems = append(problems, c.sweepPools(ctx, &s, pools, gone))
	return s, errors.Join(problems...)
}

// sweepPools removes pools whose members are all removed.
func (c *Cluster) sweepPools(ctx context.Context, s *Swept, prefix string, gone map[int]bool) error {
	pools, err := c.Pools(ctx)
	if err != nil {
		return err
	}
	for _, p := range pools {
		if !strings.HasPrefix(p.ID, prefix) {
			continue
		}
		var pool struct{ Members []struct{ VMID int } }
		if err := c.get(ctx, "/pools/"+escape(p.ID), &pool); err != nil {
			return err
		}
		used := slices.ContainsFunc(pool.Members, func(m struct{ VMID int }) bool { return !gone[m.VMID] })
		if p.Comment != Comment || used {
			s.Kept = append(s.Kept, "pool "+p.ID)
			continue
		}
		if !c.DryRun {
			if _, err := c.Call(ctx, http.MethodDelete, "/pools/"+escape(p.ID), nil); err != nil {
				return err
			}
		}
		s.Removed = append(s.Removed, "pool "+p.ID)
	}
	return nil
}

// remove destroys a VM: it waits for its tasks, removes its protection, stops it, and
// destroys it with its disks.
func (c *Cluster) remove(ctx context.Context, g Guest, config Config) error {
	for {
		config, err := c.Config(ctx, g)
		if err != nil {
			return err
		}
		if config["lock"] == "" {
			break
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("it stays locked (%s): %w", config["lock"], err)
		}
	}
	if config["protection"] == "1" {
		if _, err := c.Call(ctx, http.MethodPut, g.path()+"/config", url.Values{"delete": {"protection"}}); err != nil {
			return err
		}
	}
	status, err := c.Status(ctx, g)
	if err != nil {
		return err
	}
	if status != "stopped" {
		if _, err := c.Call(ctx, http.MethodPost, g.path()+"/status/stop", nil); err != nil {
			return err
		}
	}
	_, err = c.Call(ctx, http.MethodDelete, g.path(), url.Values{"purge": {"1"}})
	return err
}
