package deploy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/progress"
	"stackgen/internal/report"
	"stackgen/internal/rollout"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// stepTime is how long one step of an exchange of disks waits for a lock.
const stepTime = 2 * time.Minute

// keepsDisks reports whether the VMs of a wave keep disks, so that their guests are not replaced.
func (b *rebuilding) keepsDisks() bool {
	return slices.ContainsFunc(b.Replaced, func(vm guard.Replacement) bool { return vm.Exchange != nil })
}

// halfway reports whether a run has begun an exchange of disks and did not end it. Until that has ended, the guard
// refuses every plan of the unit.
func (b *rebuilding) halfway() bool {
	return slices.ContainsFunc(b.Replaced, func(vm guard.Replacement) bool { return vm.Exchange != nil && vm.Exchange.Half })
}

// apart are waves in each of which all VMs keep disks, or none does. What a run did not end is first.
func (b *rebuilding) apart(waves []rollout.Wave) (out []rollout.Wave) {
	keeps, begun := map[string]bool{}, []string(nil)
	for _, vm := range b.Replaced {
		if keeps[vm.Key] = vm.Exchange != nil; vm.Exchange != nil && vm.Exchange.Half {
			begun = append(begun, vm.Key)
		}
	}
	if len(begun) > 0 {
		out = append(out, rollout.Wave{Keys: begun})
	}
	for _, w := range waves {
		for _, kept := range []bool{false, true} {
			part := w
			part.Keys = slices.DeleteFunc(slices.Clone(w.Keys), func(key string) bool { return keeps[key] != kept || slices.Contains(begun, key) })
			if len(part.Keys) > 0 {
				out = append(out, part)
			}
		}
	}
	return out
}

// planExchange refuses an exchange of disks if the spec waits for another change. Once one has begun, nothing can
// be planned before it has ended.
func (r *run) planExchange(s *check.Session, b *rebuilding) (err error) {
	if b.halfway() {
		return nil
	}
	unit := tf.VMUnit(b.stack.name)
	return r.planOnly(s, b, planning{only: []string{unit.Unit}}, false, func(tf.Summary) bool { return true })
}

// exchangeDisks gives the VMs of a wave new disks and leaves those that they keep. The new ones are cloned while
// the VMs still run. Those that have all their new disks are started, also if another one does not.
func (r *run) exchangeDisks(s *check.Session, b *rebuilding, o Order) error {
	view, all, err := r.cloneDisks(s, b, o)
	if err != nil {
		return err
	}
	if err := r.halt(s, b, o); err != nil {
		return err
	}
	lent, err := s.Lent(r.ctx, b.stack.name, b.Replaced)
	if err != nil {
		return err
	}
	if len(lent) > 0 {
		return r.refuse(s, lent)
	}
	if err := r.beginsRebuild(b); err != nil {
		return err
	}
	b.stack.end = ""
	r.say("exchanging the disks of %s", some(b.keys()))
	failed, err := view.Exchange(r.ctx, all, stepTime)
	if err != nil && r.ctx.Err() == nil {
		return err
	}
	if err := r.startExchanged(b, failed); err != nil {
		return errors.Join(r.notExchanged(failed, nil), err)
	}
	if err := r.notExchanged(failed, nil); err != nil {
		return err
	}
	if r.failed {
		return r.publishDone(b.stack)
	}
	if err := r.awaitWave(b); err != nil {
		return err
	}
	return r.rebuilt(b, announce(b.found, nil))
}

// cloneDisks marks the VMs of a wave, and clones their new disks. A VMID that somebody else has taken is given up.
func (r *run) cloneDisks(s *check.Session, b *rebuilding, o Order) (view *operate.View, all map[string]*operate.Exchange, err error) {
	taken := r.takenVMIDs(s)
	for again := false; ; again = true {
		if all, err = r.beginExchange(s, b, o, taken); err != nil {
			return nil, nil, err
		}
		view = operate.Named(r.p, s.Inventory, b.names())
		r.say("cloning new disks for %s of %s", report.Count(len(b.Replaced), "VM"), b.stack.name)
		failed, err := view.CloneHolders(r.ctx, all, stepTime)
		strange := func(f operate.Failure) bool { return errors.Is(f.Err, operate.ErrStranger) }
		if again || err != nil || !slices.ContainsFunc(failed, strange) {
			return view, all, r.notExchanged(failed, err)
		}
		for _, f := range failed {
			for i := range b.Replaced {
				if strange(f) && b.stack.name+"/"+b.Replaced[i].Key == f.Name {
					taken[all[f.Name].Holder.VMID], b.Replaced[i].Exchange.Holder = true, 0
				}
			}
		}
	}
}

// startExchanged records the VMs that have their new disks, and starts those that are to run, or that ran before. What of them is
// not started, the next run starts.
func (r *run) startExchanged(b *rebuilding, failed []operate.Failure) error {
	starts, names := check.Starts(r.p, b.stack.name), []string(nil)
	for _, key := range b.keys() {
		name := b.stack.name + "/" + key
		if (starts[key] || b.stack.stopped[key] != 0) && !slices.ContainsFunc(failed, func(f operate.Failure) bool { return f.Name == name }) {
			names = append(names, name)
		}
	}
	now, _, err := r.reread(b.stack)
	if err == nil {
		err = r.record(now, b.stack.name)
	}
	if err == nil {
		err = r.reopen()
	}
	if err != nil || r.ctx.Err() != nil {
		return err
	}
	view := operate.Named(r.p, now.Inventory, names)
	q := operate.Request{Action: power.Find("start"), VMs: view.VMs, AtOnce: savedAtOnce, Timeout: stepTime, Report: func(operate.One) {}}
	ended, err := view.Run(r.ctx, q, view.Plan(q))
	for i := range ended {
		if one := &ended[i]; one.Result != power.Done && one.Result != power.InState {
			r.failed = true
			err = errors.Join(err, report.Printf(r.Out, "%s has its new disks, and was not started: %s\n", one.String(), one.Text))
		}
	}
	r.began = time.Now()           // their guests boot from now on
	for _, key := range b.keys() { // no tool has said anything of it
		target := progress.Target{Kind: progress.VM, Stack: b.stack.name, Unit: lock.UnitVM, Key: key}
		r.view.Event(progress.Event{Type: exchanged(b.stack.name+"/"+key, failed, ended), Action: progress.Create, Target: target})
	}
	return err
}

// exchanged is how the rebuild of a VM that keeps disks has ended: it has its new disks, and is started if it is to run.
func exchanged(name string, failed []operate.Failure, started []operate.One) progress.Type {
	broken := func(one operate.One) bool {
		return one.String() == name && one.Result != power.Done && one.Result != power.InState
	}
	if slices.ContainsFunc(failed, func(f operate.Failure) bool { return f.Name == name }) || slices.ContainsFunc(started, broken) {
		return progress.Failed
	}
	return progress.Ended
}

// exchangedNotStarted adds to what a run has left the VMs that have their new disks, and that it did not live to record:
// another checkout has no other trace of them.
func (r *run) exchangedNotStarted(s *check.Session, b *rebuilding) {
	starts, l := check.Starts(r.p, b.stack.name), r.p.Lock.Stacks.Get(b.stack.name)
	for _, key := range b.Done {
		e := l.VMs.Get(key)
		if g := s.Inventory.Guest(e.VMID); e.Rebuild.Holder != 0 && e.RebuildBegun() && starts[key] &&
			g != nil && g.Status == string(power.Stopped) {
			b.stack.unfinished.Begin(key, check.BegunVM{VMID: e.VMID, Start: true, Replaces: true}, l)
		}
	}
}

// beginExchange marks the VMs of a wave with what they lose and where their new disks come from, and says how that
// is done.
func (r *run) beginExchange(s *check.Session, b *rebuilding, o Order, taken map[int]bool) (map[string]*operate.Exchange, error) {
	all, marks := map[string]*operate.Exchange{}, []lock.Begin(nil)
	for _, vm := range b.Replaced {
		holder, name := r.holder(b, vm, taken), b.stack.name+"/"+vm.Key
		e := r.p.Lock.Stacks.Get(b.stack.name).VMs.Get(vm.Key)
		if holder == 0 || e == nil {
			return nil, fmt.Errorf("%s keeps a disk, and its new disks need a VMID for a while: none of `vmids` of %s is free", name, b.stack.name)
		}
		all[name] = exchangeOf(s, vm, holder, e)
		vm.Exchange.Holder = holder
		marks = append(marks, lock.Begin{Key: vm.Key, VMID: vm.VMID, Fingerprint: vm.Guest.Fingerprint(), Again: slices.Contains(o.again, name),
			Holder: holder, Volumes: all[name].Volumes, From: e.Template})
	}
	if err := r.p.BeginRebuild(r.background(), b.stack.name, marks, func(text string) { r.say("%s", text) }); err != nil {
		return nil, err
	}
	if err := r.reopen(); err != nil {
		return nil, err
	}
	return all, nil
}

// exchangeOf says how a VM gets new disks from a VM with a VMID.
func exchangeOf(s *check.Session, vm guard.Replacement, holder int, e *lock.VM) *operate.Exchange {
	template := s.Inventory.Guest(vm.Template)
	x := &operate.Exchange{Template: template, Disks: vm.Exchange.Disks, Volumes: vm.Exchange.Volumes, Sizes: map[string]int64{},
		Begun:  vm.Exchange.Holder != 0,
		Holder: &cluster.Guest{Kind: vm.Guest.Kind, VMID: holder, Node: vm.Guest.Node, Name: cluster.HolderName(vm.VMID, vm.Template)},
		Clone:  map[string]string{"full": "0"}, Needs: []string{cluster.VMAudit, cluster.VMAllocate, schema.ConfigDisk}}
	if g := s.Inventory.Guest(holder); g != nil {
		x.Holder.Node = g.Node
	}
	if e.Clone != "linked" {
		x.Clone["full"], x.Clone["storage"] = "1", vm.Exchange.Storage
	}
	if template.Node != vm.Guest.Node {
		x.Clone["target"] = vm.Guest.Node
	}
	if pool := vm.VM.Values.Get(guest.Pool).Str(); pool != "" {
		x.Clone[guest.Pool] = pool
	}
	for _, d := range vm.VM.Values.Get(guest.Disks).List() {
		x.Sizes[d.Get(guest.Interface).Str()] = int64(d.Get(guest.Size).Int()) << 30
	}
	return x
}

// notExchanged says which VMs do not have their new disks, and ends the command if there are any.
func (r *run) notExchanged(failed []operate.Failure, err error) error {
	slices.SortFunc(failed, func(x, y operate.Failure) int { return strings.Compare(x.Name, y.Name) })
	for _, f := range failed {
		err = errors.Join(err, report.Printf(r.Out, "%s has not got all its new disks: %s\n", f.Name, f.Err))
	}
	switch {
	case r.ctx.Err() != nil:
		return errInterrupted
	case len(failed) == 0:
		return err
	}
	return errors.Join(err, ended{finding.Failed})
}
