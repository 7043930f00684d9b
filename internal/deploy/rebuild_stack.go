package deploy

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/generator"
	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
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
// whose agent does not answer, would hold the plan up for minutes. The node of a VM that was
// migrated since must be read, because the provider destroys the VM there. So must the VMs if their
// state is older than they are: no apply corrects that, if the specs say what they are.
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
	if how.env, err = r.permitDestroy(b); err != nil {
		return err
	}
	other := func(c tf.Summary) bool { return c.Action != tf.Replace || !slices.Contains(b.keys(), c.Key) }
	if err := r.planOnly(s, b, how, moved, other); err != nil {
		return err
	}
	p := b.plans.units[0]
	if refused := b.grant().Refuses(p.unit, p.sum.Hex(), p.plan); len(refused) > 0 {
		return r.refuse(s, refused)
	}
	changed := tf.NewAddress(p.plan, r.mocks(b.stack.name))
	b.plans.without = owned(b.found, b.stack.name, func(f *finding.Finding) bool { return changed(f.Owner) })
	return nil
}

// planOnly plans what a rebuild does in one unit, and refuses any other change of it. The first plan does not read the VMs,
// unless they must be read.
func (r *run) planOnly(s *check.Session, b *rebuilding, how planning, read bool, other func(tf.Summary) bool) (err error) {
	args := how.args
	for ; ; read = true {
		how.args = slices.Clone(args)
		if !read {
			how.args = append(how.args, "-refresh=false")
		}
		if b.plans, err = r.planUnits(s, b.stack, how); err != nil {
			return err
		}
		changes := b.plans.changes()
		switch i := slices.IndexFunc(changes, other); {
		case i < 0:
			return nil
		case read:
			return r.applyFirst(b.stack.name, changes[i].Address)
		}
		r.say("reading the VMs of %s: its state may be older than they are", b.stack.name)
	}
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
	return override(filepath.Join(r.work, b.stack.name, "replacing"), lock.UnitVM, body)
}

// announceRebuild has the rows of the view.
func (r *run) announceRebuild(all []*rebuilding) *announcement {
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
			if e := r.p.Lock.Stacks.Get(b.stack.name).VMs.Get(key); e != nil {
				last := &a.changes[len(a.changes)-1]
				last.VMID, last.Node = e.VMID, e.Node
			}
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
	r.sayCreatedOff(b)
	maps.DeleteFunc(b.stack.stopped, func(key string, _ int) bool { return slices.Contains(b.keys(), key) }) // others have their VMIDs
	if err := r.awaitWave(b); err != nil {
		return err
	}
	return r.rebuilt(b, a)
}

// sayCreatedOff says which VMs of a wave ran before and are off now, because their specs do not start what is created.
func (r *run) sayCreatedOff(b *rebuilding) {
	starts, names := check.Starts(r.p, b.stack.name), []string(nil)
	for _, key := range b.keys() {
		if b.stack.stopped[key] != 0 && !starts[key] {
			names = append(names, b.stack.name+"/"+key)
		}
	}
	if len(names) > 0 {
		r.say("%s ran before the rebuild, and %s created off, because of `started: false`; to start %s: `%s`", some(names),
			one(names, "is", "are"), one(names, "it", "them"), operate.Named(r.p, nil, names).Step("stackgen power start "+strings.Join(names, " ")))
	}
}

// beginsRebuild records that the creation of the VMs of a wave is about to begin.
func (r *run) beginsRebuild(b *rebuilding) error {
	for _, vm := range b.Replaced {
		b.stack.unfinished.Begin(vm.Key, check.BegunVM{VMID: vm.VMID, Start: true}, r.p.Lock.Stacks.Get(b.stack.name))
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

// halt stops the guests before they are destroyed, if they have the disks that were confirmed: a backup, clones and a
// question take their time.
func (r *run) halt(s *check.Session, b *rebuilding, o Order) error {
	view := operate.Named(r.p, s.Inventory, b.names())
	if others, err := view.OtherDisks(r.ctx); err != nil {
		return err
	} else if len(others) > 0 {
		return r.notConfirmed("the rebuild of "+b.stack.name, others)
	}
	vmids := map[string]int{}
	for _, vm := range b.Replaced {
		vmids[vm.Key] = vm.VMID
	}
	if err := r.stopping(b.stack, s.Inventory, vmids); err != nil {
		return err
	}
	left, err := view.Halt(r.ctx, o.Timeout, func(one operate.One) {
		switch {
		case one.Result == power.Sent && !slices.Contains(b.stack.halted, one.String()):
			b.stack.halted = append(b.stack.halted, one.String())
		case one.Result == power.Done || one.Result == power.Waiting:
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

// sayOff says which VMs this run has shut down and not replaced, and how they are started: nobody wants them to be off.
func (r *run) sayOff() (err error) {
	var halted, off, ending, half, starts []string
	for _, st := range r.stacks {
		l := r.p.Lock.Stacks.Get(st.name)
		for _, key := range of(st.name, st.halted) {
			if e := l.VMs.Get(key); e != nil && e.RebuildBegun() {
				halted = append(halted, st.name+"/"+key)
			}
		}
	}
	if len(halted) == 0 {
		return nil
	}
	slices.SortFunc(halted, natural.Compare)
	from := r.sources()
	from.Progress = nil
	view := operate.Named(r.p, nil, halted)
	inv, unread := check.ReadCluster(r.background(), r.p, from)
	if unread == nil {
		view = operate.Named(r.p, inv, halted)
		unread = view.Refresh(r.background())
	}
	if unread != nil {
		err = report.Printf(r.Out, "%s: stopped for the rebuild; whether they are off cannot be read: %s\n", some(halted), unread)
		return errors.Join(err, r.sayStart(view, halted))
	}
	for i := range view.VMs {
		switch vm := &view.VMs[i]; {
		case vm.Guest == nil || vm.Guest.Config == nil || vm.Entry.Rebuilt(vm.Guest.Config.UUID):
		case inv.HalfExchanged(vm.Entry, vm.Guest):
			half = append(half, vm.String())
		case vm.Guest.Status == string(power.Stopped):
			off, starts = append(off, vm.String()), append(starts, vm.String())
		case r.ctx.Err() != nil:
			ending, starts = append(ending, vm.String()), append(starts, vm.String())
		}
	}
	for _, say := range []struct {
		names []string
		text  string
	}{
		{half, "off, with only some of the new disks: only what goes on with the rebuild can start it"},
		{off, "stopped for the rebuild and off now, with the disks of before"},
		{ending, "its shutdown for the rebuild goes on: then it is off, with the disks of before"},
	} {
		if len(say.names) > 0 {
			err = errors.Join(err, report.Printf(r.Out, "%s: %s\n", some(say.names), say.text))
		}
	}
	return errors.Join(err, r.sayStart(view, starts))
}

// sayStart prints the command that starts VMs which are off.
func (r *run) sayStart(v *operate.View, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return report.Printf(r.Out, "  > to start what is off\n      %s\n", v.Step("stackgen power start "+strings.Join(names, " ")))
}
