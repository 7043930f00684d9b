package deploy

import (
	"fmt"
	"slices"
	"time"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/proxmox"
	"stackgen/internal/tf"
)

// lockTries is how often a destroy is sent that meets the lock of a VM: a task waits 10 seconds
// for it, so that three are longer than a cleanup.
const lockTries = 4

// metLock reports whether a run failed because VMs were locked. What it has not destroyed is then
// as it was.
func (r *run) metLock(result *toolRun) bool {
	return r.ctx.Err() == nil && result.failed() && proxmox.MeetsLock(result.log) && refusal(result.log) == ""
}

// againAfterLock destroys the rest of a part of a unit, each time by another plan and grant, as
// long as that fails because VMs are locked.
func (r *run) againAfterLock(p *plans, i int, result *toolRun) (*toolRun, error) {
	for range lockTries {
		if !r.metLock(result) {
			return result, nil
		}
		left, err := r.leftOf(p.units[i].grant)
		if err != nil || len(left) == 0 {
			return &toolRun{}, err
		}
		r.say("another task has the lock of a guest of %s; destroying it again", p.stack.name)
		again, refused, err := r.planGranted(p.stack, guard.Grant{Unit: p.units[i].unit, Kind: guard.GrantDestroy, Parts: left})
		if err != nil || len(refused) > 0 {
			return result, err
		}
		if result, err = r.applyGranted(p, again); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// leftOf are the parts of a grant that the state of its unit still has.
func (r *run) leftOf(g *guard.Grant) ([]guard.Granted, error) {
	s := check.New(r.p, check.Sources{})
	if err := s.ReadStates(r.background(), []tf.Unit{g.Unit}); err != nil {
		return nil, err
	}
	state := s.State[g.Unit]
	if state.Unreadable != "" {
		return nil, fmt.Errorf("cannot read the state of %s again: %s", g.Unit, state.Unreadable)
	}
	return slices.DeleteFunc(slices.Clone(g.Parts), func(part guard.Granted) bool {
		return !slices.ContainsFunc(state.Resources, func(res tf.Resource) bool { return res.Address == part.Address })
	}), nil
}

// stackAgainAfterLock is againAfterLock for a destroy of a whole stack, whose plans Terragrunt
// makes again.
func (r *run) stackAgainAfterLock(p *plans, result *toolRun) (*toolRun, error) {
	for range lockTries {
		if !r.metLock(result) {
			break
		}
		r.say("another task has the lock of a guest of %s; destroying the rest again", p.stack.name)
		err := r.onlyConfirmed(p)
		if err != nil {
			return nil, err
		}
		if result, err = r.applyPlans(p); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// cleanupTime is how long `qm cleanup` may keep the lock of a VM that runs again, and some seconds.
const cleanupTime = 35 * time.Second

// awaitCleanup waits before plans that migrate VMs until no `qm cleanup` can have their locks: a
// migration that fails halfway ends the apply. What cannot be read is not waited for.
func (r *run) awaitCleanup(p *plans) error {
	moving := p.migrating()
	config, err := check.ClusterConfig(r.p)
	if len(moving) == 0 || err != nil {
		return nil //nolint:nilerr // it is not known how the cluster is reached, as with a snapshot
	}
	api, err := proxmox.OpenPower(r.ctx, config)
	if err != nil {
		return nil //nolint:nilerr // the apply says it
	}
	defer api.Close()
	for _, g := range moving {
		for said := false; r.restarted(api, g); said = true {
			if !said {
				r.say("VM %d was restarted just now, and Proxmox VE may have its lock for %.0f s; waiting before it is migrated",
					g.VMID, cleanupTime.Seconds())
			}
			if err := r.pause(); err != nil {
				return err
			}
		}
	}
	return nil
}

// restarted reports whether the QEMU of a VM was stopped and started within the time of a cleanup.
func (r *run) restarted(api *proxmox.Power, g *cluster.Guest) bool {
	now, err := api.Now(r.ctx, g)
	if err != nil || now.PID == 0 || time.Duration(now.Uptime)*time.Second >= cleanupTime {
		return false
	}
	stopped, err := api.Stopped(r.ctx, g)
	return err == nil && stopped
}

// migrating are the guests that plans migrate, where they were when the cluster was read.
func (p *plans) migrating() []*cluster.Guest {
	var out []*cluster.Guest
	for _, u := range p.units {
		for _, c := range u.plan.Changes {
			s := c.Summary(u.unit)
			if g := p.guest(s.VMID); g != nil && s.Type == finding.VM && c.Action == tf.Update && s.Node != "" && s.Node != g.Node {
				out = append(out, g)
			}
		}
	}
	return out
}

// guest is a guest of the cluster as it was read, or nil.
func (p *plans) guest(vmid int) *cluster.Guest {
	if p.was == nil {
		return nil
	}
	return p.was.Guest(vmid)
}
