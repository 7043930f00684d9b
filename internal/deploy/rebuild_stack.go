package deploy

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"stackgen/generator"
	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/report"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// planRebuilds plans the replacements of the first wave in each stack. The plan shows what else
// changes in the unit, too.
func (r *run) planRebuilds(s *check.Session, all []*rebuilding) error {
	for _, b := range all {
		if len(b.Replaced) == 0 {
			continue
		}
		r.say("planning the rebuild of %s", b.stack.name)
		b.first = b.only(b.waves[0])
		if err := r.planRebuild(s, b.first); err != nil {
			return err
		}
	}
	return nil
}

// planRebuild plans exactly the replacements of one stack. It does not read the VMs: a broken guest,
// whose agent does not answer, would hold the plan up for minutes. Only the node of a VM that was
// migrated since must be read, because the provider destroys the VM there.
func (r *run) planRebuild(s *check.Session, b *rebuilding) (err error) {
	if b.keepsDisks() {
		return r.planExchange(s, b)
	}
	unit := tf.VMUnit(b.stack.name)
	how, moved := planning{only: []string{unit.Unit}}, false
	for _, vm := range b.Replaced {
		how.args = append(how.args, "-replace="+vm.Address)
		moved = moved || vm.State.Node != vm.Guest.Node
	}
	if !moved {
		how.args = append(how.args, "-refresh=false")
	}
	if how.env, err = r.permitDestroy(b); err != nil {
		return err
	}
	if b.plans, err = r.planUnits(s, b.stack, how); err != nil {
		return err
	}
	p := b.plans.units[0]
	for _, c := range tf.Summaries(p.unit, p.plan) {
		if c.Action != tf.Replace || !slices.Contains(b.keys(), c.Key) {
			return r.applyFirst(b.stack.name, c.Address)
		}
	}
	if refused := b.grant().Refuses(p.unit, p.sum.Hex(), p.plan); len(refused) > 0 {
		return r.refuse(s, refused)
	}
	changed := tf.NewAddress(p.plan, r.mocks(b.stack.name))
	b.plans.without = owned(b.found, b.stack.name, func(f *finding.Finding) bool { return changed(f.Owner) })
	return nil
}

// grant permits the plan of the replacements.
func (b *rebuilding) grant() *guard.Grant {
	p := b.plans.units[0]
	g := &guard.Grant{Unit: p.unit, Kind: guard.GrantReplace, Plan: p.sum.Hex()}
	for _, vm := range b.Replaced {
		g.Parts = append(g.Parts, vm.Granted)
	}
	return g
}

// permitDestroy lets the plan destroy VMs whose profiles prevent that: they were named one by one.
func (r *run) permitDestroy(b *rebuilding) ([]string, error) {
	var profiles []*schema.Profile
	l := r.p.Lock.Stacks.Get(b.stack.name)
	for _, vm := range b.Replaced {
		if p := r.p.Stacks.Profile(l.VMs.Get(vm.Key).Profile); p != nil {
			profiles = append(profiles, p)
		}
	}
	body := generator.Replacing(profiles)
	if body == nil {
		return nil, nil
	}
	file := filepath.Join(r.work, b.stack.name+"-replacing.tf")
	return []string{guard.StartingVariable + "=" + file}, os.WriteFile(file, body, 0o600)
}

// announceRebuild has the rows of the view.
func announceRebuild(all []*rebuilding) *announcement {
	a := &announcement{}
	for _, b := range all {
		add := func(action tf.Action, key string, vm guard.Replacement) {
			s := tf.Summary{Unit: tf.VMUnit(b.stack.name), Address: vm.Address, Type: finding.VM, Key: key, VMID: vm.VMID,
				Action: action, Clones: true, Template: vm.Template}
			if vm.VM != nil {
				s.Name, s.Node, s.From = vm.VM.Name, vm.Guest.Node, vm.VM.Template.Node
				s.Agent = vm.VM.Values.Get(guest.Agent, guest.Enabled).Bool()
			}
			a.changes = append(a.changes, s)
		}
		for _, vm := range b.Replaced {
			add(tf.Replace, vm.Key, vm)
		}
		for _, key := range slices.Concat(b.Left, b.Lost) {
			add(tf.Create, key, guard.Replacement{})
		}
	}
	return a
}

// rebuildStack replaces the VMs of one stack. The lock has marked them before anything of them is
// gone, so that a run after this one goes on with those that are left.
func (r *run) rebuildStack(s *check.Session, b *rebuilding, o Order) error {
	if err := r.backUp(s, b, o); err != nil {
		return err
	}
	if b.keepsDisks() {
		return r.exchangeDisks(s, b, o)
	}
	var marks []lock.Begin
	for _, vm := range b.Replaced {
		again := slices.Contains(o.again, b.stack.name+"/"+vm.Key)
		marks = append(marks, lock.Begin{Key: vm.Key, VMID: vm.VMID, Fingerprint: vm.Guest.Fingerprint(), Again: again})
	}
	if err := r.p.BeginRebuild(r.background(), b.stack.name, marks, func(text string) { r.say("%s", text) }); err != nil {
		return err
	}
	if err := r.reopen(); err != nil {
		return err
	}
	if err := r.beginsRebuild(b); err != nil {
		return err
	}
	if err := r.halt(s, b, o); err != nil {
		return err
	}
	b.stack.end = ""
	r.say("rebuilding %s of %s", report.Count(len(b.Replaced), "VM"), b.stack.name)
	a := announce(b.found, []*plans{b.plans})
	result, err := r.replace(b)
	if err == nil {
		result, err = r.replaceAfterLock(b, o, result)
	}
	switch {
	case err != nil:
		return err
	case r.ctx.Err() != nil || result.failed():
		if err := r.broken(b.plans, result, a); err != nil || r.ctx.Err() != nil {
			return err
		}
		return r.publishDone(b.stack)
	}
	if err := r.awaitWave(b); err != nil {
		return err
	}
	return r.rebuilt(b, a)
}

// beginsRebuild records that the creation of the VMs of a wave is about to begin.
func (r *run) beginsRebuild(b *rebuilding) error {
	for _, vm := range b.Replaced {
		b.stack.unfinished.Begin(vm.Key, check.BegunVM{VMID: vm.VMID, Start: true, Replaces: true}, r.p.Lock.Stacks.Get(b.stack.name))
	}
	return b.stack.keepUnfinished()
}

// replace applies the plan of a wave with its grant.
func (r *run) replace(b *rebuilding) (*toolRun, error) {
	variable, err := check.WriteGrant(r.work, b.grant())
	if err != nil {
		return nil, err
	}
	b.plans.env = []string{variable}
	defer func() { b.plans.env = nil }()
	return r.applyPlans(b.plans)
}

// markLost marks VMs of a stack that somebody has deleted: their creation is then what was asked for.
func (r *run) markLost(s *check.Session, b *rebuilding) error {
	var marks []lock.Begin
	l := r.p.Lock.Stacks.Get(b.stack.name)
	for _, note := range r.leftHolders(s, b.stack.name, b.Lost) {
		r.say("%s", note)
	}
	for _, key := range b.Lost {
		e := l.VMs.Get(key)
		marks = append(marks, lock.Begin{Key: key, VMID: e.VMID, Fingerprint: e.Fingerprint})
	}
	b.Left, b.Lost = append(b.Left, b.Lost...), nil
	if len(marks) == 0 {
		return nil
	}
	if err := r.p.BeginRebuild(r.background(), b.stack.name, marks, func(text string) { r.say("%s", text) }); err != nil {
		return err
	}
	return r.reopen()
}

// halt stops the guests before they are destroyed.
func (r *run) halt(s *check.Session, b *rebuilding, o Order) error {
	left, err := operate.Named(r.p, s.Inventory, b.names()).Halt(r.ctx, o.Timeout, func(one operate.One) {
		if one.Result == power.Done || one.Result == power.Waiting {
			r.say("%s: %s", one.String(), one.Text)
		}
	})
	if err != nil || len(left) == 0 {
		return err
	}
	for i := range left {
		err = errors.Join(err, report.Printf(r.Out, "%s was not stopped, so nothing of %s was rebuilt: %s\n",
			left[i].String(), b.stack.name, left[i].Text))
	}
	return errors.Join(err, ended{finding.Failed})
}
