package deploy

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/health"
	"stackgen/internal/lock"
	"stackgen/internal/report"
	"stackgen/internal/shell"
)

// rollOut rebuilds the VMs of one stack, wave by wave: each with a plan and a grant of its own, and
// after all VMs of the one before are healthy. A failure leaves those of later waves as they are.
func (r *run) rollOut(s *check.Session, b *rebuilding, o Order) (err error) {
	if err := r.markWaiting(b); err != nil {
		return err
	}
	one := b.first
	if err := r.publishEarlier(b); err != nil || r.failed {
		return err
	}
	for i := range b.waves {
		if i > 0 || b.stack.outdated {
			s, one, err = r.nextWave(b, i, o)
		}
		begins := err == nil
		if begins {
			if name := b.waveName(i); name != "" {
				r.say("%s of %s: %s", name, b.stack.name, some(one.keys()))
			}
			err = r.rebuildWave(s, one, o)
		}
		if err = r.recordEnd(err); err != nil && !errors.Is(err, errInterrupted) {
			return errors.Join(r.halted(b, i, begins), err)
		}
		if err != nil || r.failed || r.ctx.Err() != nil {
			return r.halted(b, i, begins)
		}
	}
	return errors.Join(r.endMarks(nil, b.stack), r.sayEnd(b.stack))
}

// rebuildWave rebuilds the VMs of a wave, and completes those that waited for it.
func (r *run) rebuildWave(s *check.Session, b *rebuilding, o Order) error {
	err := r.rebuildStack(s, b, o)
	if err != nil || r.failed || r.ctx.Err() != nil || len(b.stack.later) == 0 {
		return err
	}
	b.Left, b.stack.later = b.stack.later, nil
	return r.completeHealthy(b)
}

// publishEarlier corrects the records of VMs that a run has replaced which did not end. While an exchange of disks
// has not ended, nothing can be planned.
func (r *run) publishEarlier(b *rebuilding) error {
	if len(b.waves) == 0 || len(b.Done) == 0 || b.halfway() {
		return nil
	}
	return r.recordEnd(r.publishDone(b.stack))
}

// markWaiting marks the VMs of later waves, so that another run knows that they are not done.
func (r *run) markWaiting(b *rebuilding) error {
	if len(b.waves) < 2 {
		return nil
	}
	var marks []lock.Begin
	for _, vm := range b.Replaced {
		marks = append(marks, lock.Begin{Key: vm.Key, VMID: vm.VMID, Fingerprint: vm.Guest.Fingerprint(), Waits: true,
			Apart: b.waving.rule == nil})
	}
	if err := r.p.BeginRebuild(r.background(), b.stack.name, marks, func(text string) { r.say("%s", text) }); err != nil {
		return err
	}
	return r.reopen()
}

// nextWave waits for the pause, looks again, and plans a wave. It ends the command if the VMs of
// the wave before are not healthy any more, or if the wave is not what was confirmed.
func (r *run) nextWave(b *rebuilding, i int, o Order) (*check.Session, *rebuilding, error) {
	b.stack.outdated = false
	if b.waving.pause > 0 && i > 0 {
		r.say("waiting %s before %s of %s", b.waving.pause, b.waveName(i), b.stack.name)
		if err := health.System().Sleep(r.ctx, b.waving.pause); err != nil {
			return nil, nil, errInterrupted
		}
		if err := r.stillHealthy(b, i-1); err != nil {
			return nil, nil, err
		}
	}
	if err := r.reopen(); err != nil {
		return nil, nil, err
	}
	o.VMs = nil
	for _, key := range b.waves[i].Keys {
		o.VMs = append(o.VMs, b.stack.name+"/"+key)
	}
	s, all, err := r.lookForRebuild(o)
	if err != nil {
		return nil, nil, err
	}
	j := slices.IndexFunc(all, func(other *rebuilding) bool { return other.stack == b.stack })
	one := all[j]
	if one.first = one; !one.confirmed(b, b.waves[i].Keys) {
		return nil, nil, r.notConfirmed(b.waveName(i)+" of "+b.stack.name, b.waves[i].Keys)
	}
	r.say("planning %s of %s", b.waveName(i), b.stack.name)
	return s, one, r.planRebuild(s, one)
}

// notConfirmed ends the command because something else would be rebuilt than what was confirmed.
func (r *run) notConfirmed(what string, vms []string) error {
	err := report.Printf(r.Out, "blocked: %s is not what was confirmed: cluster, spec or lock have something else now of %s; "+
		"run the same command again to see it, and to confirm it:\n  > %s\n", what, some(vms), r.Line)
	return errors.Join(err, ended{finding.Blocked})
}

// confirmed reports whether the VMs of a wave are replaced as it was confirmed of all, and lose what was confirmed.
func (b *rebuilding) confirmed(all *rebuilding, wave []string) bool {
	was := map[string]guard.Replacement{}
	for _, vm := range all.Replaced {
		was[vm.Key] = vm
	}
	other := func(vm guard.Replacement) bool {
		w, ok := was[vm.Key]
		return !ok || vm.Granted != w.Granted || !vm.VM.Values.Same(w.VM.Values) || !vm.Exchange.Same(w.Exchange) ||
			!slices.Equal(cluster.Volumes(vm.Guest.Config.Raw), cluster.Volumes(w.Guest.Config.Raw))
	}
	return len(b.Replaced) == len(wave) && !slices.ContainsFunc(b.Replaced, other)
}

// stillHealthy ends the command if a VM of a wave is not healthy any more.
func (r *run) stillHealthy(b *rebuilding, i int) error {
	unhealthy, err := r.awaitHealthy(b.stack, b.waves[i].Keys, *b.waving.rule)
	if err != nil || len(unhealthy) == 0 {
		return err
	}
	return errors.Join(r.sayUnhealthy(unhealthy), ended{finding.Failed})
}

// awaitWave waits until the VMs of a wave that was applied are healthy. Those that are not stop the
// rollout: what was seen of the wave is recorded.
func (r *run) awaitWave(b *rebuilding) error {
	if b.waving.rule == nil {
		return nil
	}
	if b.waving.rule.Agent { // what is seen of it below needs no time to boot
		if err := r.made(b); err != nil {
			return err
		}
	}
	r.say("waiting until the new VMs of %s are healthy: %s", b.stack.name, some(b.keys()))
	unhealthy, err := r.awaitHealthy(b.stack, b.keys(), *b.waving.rule)
	if err != nil || len(unhealthy) == 0 {
		return err
	}
	if err := r.made(b); err != nil {
		return err
	}
	if err := r.sayUnhealthy(unhealthy); err != nil {
		return err
	}
	s, found, err := r.reread(b.stack)
	if err != nil {
		return err
	}
	if err := r.record(s, b.stack.name); err != nil {
		return err
	}
	if err := r.publish(b.stack, s, found); err != nil { // the others have new addresses, too
		return err
	}
	return ended{finding.Failed}
}

// made records that nothing is left to complete of the VMs of a wave.
func (r *run) made(b *rebuilding) error {
	maps.DeleteFunc(b.stack.unfinished, func(key string, _ check.BegunVM) bool { return slices.Contains(b.keys(), key) })
	return b.stack.keepUnfinished()
}

// halted says what a rollout has left as it was that ended in a wave, or before it began.
func (r *run) halted(b *rebuilding, i int, begun bool) error {
	if len(b.waves) < 2 {
		return nil
	}
	where, left := "before", []string(nil)
	for _, w := range b.waves[i:] {
		left = append(left, w.Keys...)
	}
	if begun {
		where, left = "in", left[len(b.waves[i].Keys):]
	}
	text := ""
	if len(left) > 0 {
		text = "; as they were: " + strings.Join(left, ", ")
	}
	return report.Printf(r.Out, "stopped %s %s of %s%s\n", where, b.waveName(i), b.stack.name, text)
}

// unhealthyDone are the VMs of a stack that an earlier run has rebuilt, and that are not healthy: those
// that the lock says so of, which are checked once if they will be rebuilt again, and others. Those that
// are not complete are checked later.
func (r *run) unhealthyDone(s *check.Session, b *rebuilding, o *Order) (known, others []health.Unhealthy, err error) {
	rule := o.wavings[b.stack.name].rule
	if rule == nil {
		return nil, nil, nil
	}
	once := *rule
	once.Timeout = 0
	long, short := *rule, *rule
	if r.DryRun {
		long = once
	}
	if r.DryRun || o.Continue {
		short = once
	}
	var failed, rest []string
	l := r.p.Lock.Stacks.Get(b.stack.name)
	for _, key := range b.Done {
		switch e := l.VMs.Get(key); {
		case slices.Contains(b.half, key):
		case e.Rebuild.Unhealthy:
			failed = append(failed, key)
		default:
			rest = append(rest, key)
		}
	}
	if known, err = r.unhealthy(s, b.stack, failed, short); err == nil {
		others, err = r.unhealthy(s, b.stack, rest, long)
	}
	return known, others, err
}

// resume decides what is done with VMs that an earlier run has rebuilt and that are not healthy. With
// --continue, those that the lock says so of are rebuilt again. Otherwise the command ends: it may be
// that only a port is closed, or that they cannot be reached from here. The lock then says so of all.
func (r *run) resume(s *check.Session, all []*rebuilding, o *Order) ([]*rebuilding, error) {
	var known, others []health.Unhealthy
	for _, b := range all {
		k, more, err := r.unhealthyDone(s, b, o)
		if err != nil {
			return nil, err
		}
		certain := read(k)
		unread := slices.DeleteFunc(k, func(v health.Unhealthy) bool { return !v.Unread })
		known, others = append(known, certain...), slices.Concat(others, more, unread)
		if names := of(b.stack.name, unhealthyNames(read(more))); len(names) > 0 && !r.DryRun {
			if err := r.p.Healthy(r.background(), b.stack.name, nil, names, func(text string) { r.say("%s", text) }); err != nil {
				return nil, err
			}
		}
	}
	unhealthy := slices.Concat(known, others)
	if len(unhealthy) == 0 {
		return all, nil
	}
	if err := r.sayUnhealthy(unhealthy); err != nil {
		return nil, err
	}
	if !o.Continue || len(others) > 0 {
		return nil, r.notHealthy(unhealthy, o)
	}
	o.again = unhealthyNames(known)
	return r.judgeRebuild(s, all[0].found, *o)
}

// notHealthy ends the command because VMs that an earlier run has rebuilt are not healthy. Those of which the cluster did
// not say how they are would not be rebuilt once more.
func (r *run) notHealthy(unhealthy []health.Unhealthy, o *Order) error {
	names, certain := unhealthyNames(unhealthy), unhealthyNames(read(unhealthy))
	is, it, them := one(names, "is", "are"), one(names, "it", "them"), some(certain)
	if len(certain) == len(names) {
		them = it
	}
	err := report.Printf(r.Out, "no other VM is rebuilt before %s %s healthy: repair %s", some(names), is, it)
	if len(certain) > 0 {
		err = errors.Join(err, report.Printf(r.Out, ", or rebuild %s once more:\n  > %s", them, r.resumes(o, certain)))
	}
	err = errors.Join(err, report.Printf(r.Out, "\nthen run the same command again:\n  > %s\n", r.Line))
	return errors.Join(err, ended{finding.Failed})
}

// resumes is the command that goes on with the rollout of VMs, or of a whole stack.
func (r *run) resumes(o *Order, what []string) string {
	return r.rebuildAgain(strings.Join(what, " ") + " --continue" + o.Flags)
}

// rebuildAgain is a command that rebuilds, as it is right in the working directory.
func (r *run) rebuildAgain(args string) string {
	return shell.In(r.p.Elsewhere(), "stackgen rebuild "+args)
}

// scope is what goes on in a stack: all of it, or the VMs that were meant.
func (o *Order) scope(stack string) []string {
	if o.Whole {
		return []string{stack}
	}
	return slices.DeleteFunc(slices.Clone(o.all), func(vm string) bool { return !strings.HasPrefix(vm, stack+"/") })
}
