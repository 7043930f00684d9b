package deploy

import (
	"fmt"
	"regexp"
	"slices"

	"stackgen/internal/check"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
)

// vmLocked matches what a task or call of Proxmox VE says if another one kept the lock of the
// configuration of a VM, so that it has done nothing: `qm cleanup` of qemu-server 9.2 keeps it for
// up to 30 seconds after a restart. OpenTofu breaks long lines, so any space may be a line break.
var vmLocked = regexp.MustCompile(`can't\s+lock\s+file\s+'/var/lock/qemu-server/lock-\d+\.conf'\s+-\s+got\s+timeout`)

// lockTries is how often a destroy is sent that meets the lock of a VM: a task waits 10 seconds
// for it, so that three are longer than a cleanup.
const lockTries = 4

// metLock reports whether a run failed because VMs were locked. What it has not destroyed is then
// as it was.
func (r *run) metLock(result *toolRun) bool {
	return r.ctx.Err() == nil && result.failed() && vmLocked.MatchString(result.log) && refusal(result.log) == ""
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
		r.say("another task has the lock of a VM of %s; destroying it again", p.stack.name)
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
		r.say("another task has the lock of a VM of %s; destroying the rest again", p.stack.name)
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
