package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"stackgen/internal/cluster"
	"stackgen/internal/power"
	"stackgen/internal/proxmox"
	"stackgen/internal/selection"
)

// The pauses between two reads of a task or a VM: short at first, because a start takes a
// second.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 2 * time.Second
)

// maxLost is how often in a row a VM or its task may not be readable.
const maxLost = 10

// A Request says what to do with which VMs.
type Request struct {
	Action  *power.Action
	VMs     []selection.VM // those without a guest are refused
	AtOnce  int            // how many VMs at the same time, at least 1
	Timeout time.Duration  // how long a lock is waited for, and a guest may take
	Force   bool           // shutdown stops the VM at the end of Timeout
	Pending bool           // no change may wait for a restart afterwards
	Wave    int            // how many VMs before it goes on with the next ones; 0 for all
	Name    string         // of the snapshot that is taken or gone back to

	Points map[string]*Checkpoint // that a reset goes back to, by VM
	Report func(One)              // is told of each VM when it waits for its lock, and when it ends; it is called by one goroutine at a time
}

// A One is how the action on one VM ended.
type One struct {
	*selection.VM
	Result power.Result
	Was    power.State // before the action; empty if it was not read
	Text   string      // what happened, or why nothing did
	Fix    []string    // commands
	Took   time.Duration

	Point    *Checkpoint // that a reset goes back to
	Warnings []string    // of its task
}

// run does it, and returns how it ended for each VM, in the order of the request. When ctx
// ends, it begins no further VM, and waits for no task any longer.
func run(ctx context.Context, c proxmox.Config, r Request) ([]One, error) {
	api, err := proxmox.OpenPower(ctx, c)
	if err != nil {
		return nil, err
	}
	defer api.Close()
	out := make([]One, len(r.VMs))
	wave, failed := cmp.Or(r.Wave, len(r.VMs)), false
	for from := 0; from < len(r.VMs); from += wave {
		to := min(from+wave, len(r.VMs))
		if failed {
			for i := from; i < to; i++ {
				out[i] = One{VM: &r.VMs[i], Result: power.Left, Text: "not begun, because a VM of the wave before failed"}
			}
			continue
		}
		r.wave(ctx, api, out, from, to)
		failed = slices.ContainsFunc(out[from:to], func(o One) bool { return o.Result == power.Failed })
	}
	return out, nil
}

// wave acts on the VMs of one wave.
func (r *Request) wave(ctx context.Context, api *proxmox.Power, out []One, from, to int) {
	told := make(chan One)
	var all errgroup.Group
	all.SetLimit(max(1, r.AtOnce))
	go func() {
		for i := from; i < to; i++ {
			all.Go(func() error {
				vm := &r.VMs[i]
				out[i] = (&runner{Request: *r, api: api, vm: vm, point: r.Points[vm.String()], tell: func(o One) { told <- o }}).run(ctx)
				told <- out[i]
				return nil
			})
		}
		_ = all.Wait() // no function returns an error
		close(told)
	}()
	for o := range told {
		r.Report(o)
	}
}

// A runner acts on one VM.
type runner struct {
	Request
	api   *proxmox.Power
	vm    *selection.VM
	point *Checkpoint // that a reset goes back to
	was   power.State
	tell  func(One)
}

func (r *runner) ends(result power.Result, format string, args ...any) One {
	return One{VM: r.vm, Result: result, Was: r.was, Text: fmt.Sprintf(format, args...), Point: r.point}
}

func (r *runner) run(ctx context.Context) One {
	began := time.Now()
	o := r.act(ctx)
	if o.Result == power.Done {
		o.Took = time.Since(began)
	}
	return o
}

// act does the action. It tries again while another process has the lock of the VM's
// configuration, as `qm cleanup` of qemu-server 9.2 does for 30 seconds after a restart.
func (r *runner) act(ctx context.Context) One {
	if ctx.Err() != nil {
		return r.ends(power.Left, "interrupted before it began")
	}
	if text, fix := r.vm.Problem(); text != "" {
		o := r.ends(power.Refused, "%s", text)
		o.Fix = lines(fix)
		return o
	}
	for p, told := r.pauses(), false; ; told = true {
		o, before := r.try(ctx)
		if before == nil || !r.untouched(ctx, *before) {
			return o
		}
		if !told {
			r.tell(r.ends(power.Waiting, "waits for the lock of its configuration, which another process of %s has", r.vm.Guest.Node))
		}
		switch more := p.wait(ctx); {
		case ctx.Err() != nil:
			return r.ends(power.Left, "interrupted while it waited for the lock of its configuration: nothing was changed")
		case !more:
			return r.ends(power.Failed, "another process had the lock of its configuration for %s, and nothing was changed: %s", r.Timeout, o.Text)
		}
	}
}

// untouched reports whether a VM is as it was before a task. A rollback or a snapshot that has
// begun leaves a lock in the configuration when it cannot go on.
func (r *runner) untouched(ctx context.Context, before proxmox.Now) bool {
	now, err := r.api.Now(ctx, r.vm.Guest)
	return err == nil && now.Lock == "" && now.State == before.State && now.PID == before.PID
}

// try reads the VM again, sends the action if the state of the VM needs it, and waits for its
// end. If its task did not get the lock of the configuration, before is how the VM was.
func (r *runner) try(ctx context.Context) (o One, before *proxmox.Now) {
	task, now, ended := r.send(ctx)
	if ended != nil {
		return *ended, nil
	}
	o, exit := r.follow(ctx, task, now)
	if proxmox.LockTimeout(exit, task) {
		before = &now
	}
	return o, before
}

// send reads the VM again, and sends the action if the state of the VM needs it. Otherwise
// ended is why not.
func (r *runner) send(ctx context.Context) (task proxmox.RunningTask, now proxmox.Now, ended *One) {
	if ended = r.state(ctx, &now); ended == nil {
		ended = r.refusal(ctx, now)
	}
	if ended != nil {
		return task, now, ended
	}
	part, body := r.call()
	task, err := r.api.Send(context.WithoutCancel(ctx), r.vm.Guest, part, body)
	var o One
	switch {
	case err != nil && proxmox.Answered(err):
		o = r.unsent(err)
	case err != nil:
		o = r.ends(power.Failed, "the request had no answer, and may have been executed: %v", err)
	default:
		return task, now, nil
	}
	return task, now, &o
}

// state reads what the VM does, which must need the action and allow it.
func (r *runner) state(ctx context.Context, to *proxmox.Now) *One {
	now, err := r.unlocked(ctx)
	var o One
	r.was, *to = now.State, now
	switch need, why := r.Action.In(now.State); {
	case ctx.Err() != nil:
		o = r.ends(power.Left, "interrupted before it began")
	case err != nil:
		o = r.unread(err)
	case now.Lock != "":
		o = r.ends(power.Refused, "it is locked (%s), and was for %s", now.Lock, r.Timeout)
		o.Fix = []string{"stackgen preflight"}
	case need == power.Already:
		o = r.ends(power.InState, "%s", why)
	case need == power.Unusable:
		o = r.ends(power.Refused, "%s", why)
		o.Fix = wakes(r.vm, now.State)
	default:
		return nil
	}
	return &o
}

// refusal is why the call is not sent to a VM whose state allows it, or nil. The identity of
// the VM is read last: a wait for a lock may have taken minutes.
func (r *runner) refusal(ctx context.Context, now proxmox.Now) *One {
	var o One
	if r.hardStop(now.HA) {
		o = r.ends(power.Refused, "%s", hardStop)
		return &o
	}
	if r.Pending {
		left, err := r.api.Pending(ctx, r.vm.Guest)
		if err == nil && len(left) == 0 {
			o = r.ends(power.InState, "no change waits any more")
			return &o
		}
	}
	if r.Action.Name == power.Rollback {
		if err := r.samePoint(ctx); err != nil {
			o = r.ends(power.Refused, "%v", err)
			return &o
		}
	}
	if err := r.api.Same(ctx, r.vm.Guest); err != nil {
		o = r.unread(err)
		return &o
	}
	return nil
}

// hardStop is what a shutdown of a VM of the HA manager may end with. Source: the manager's
// resource agent for VMs, which always sets forceStop.
const hardStop = "the HA manager stops it hard if it does not shut down in time: give --force to accept that"

// hardStop reports whether the action would stop the VM hard although that was not asked for.
func (r *Request) hardStop(ha bool) bool { return r.Action.Name == "shutdown" && ha && !r.Force }

// call is the call: its path below the VM, and its parameters.
func (r *runner) call() (part []string, body map[string]string) {
	body = map[string]string{}
	switch r.Action.Name {
	case power.Snapshot:
		body["snapname"], body["description"] = r.Name, "taken by stackgen"
		return []string{"snapshot"}, body
	case power.Rollback:
		if r.starts() {
			body["start"] = "1"
		}
		return []string{"snapshot", r.Name, "rollback"}, body
	case "shutdown", "reboot":
		body["timeout"] = strconv.Itoa(int(r.Timeout.Seconds()))
	}
	if r.Action.Name == "shutdown" && r.Force {
		body["forceStop"] = "1"
	}
	return []string{"status", r.Action.Name}, body
}

// starts reports whether a reset starts the VM: it ran before. A snapshot with the memory of
// the VM starts it anyway.
func (r *runner) starts() bool { return r.was == power.Running || r.was == power.Paused }

// to is the state of the VM afterwards, or empty if there is none to wait for.
func (r *runner) to() power.State {
	if r.Action.Name == power.Rollback && (r.starts() || r.point.Memory) {
		return power.Running
	}
	return r.Action.To
}

// unlocked reads the VM until it has no lock, or the time is over.
func (r *runner) unlocked(ctx context.Context) (now proxmox.Now, err error) {
	for p := r.pauses(); ; {
		if now, err = r.api.Now(ctx, r.vm.Guest); err != nil || now.Lock == "" || !p.wait(ctx) {
			return now, err
		}
	}
}

// follow waits until the task has ended, and the VM is in its new state. exit is how the task
// ended, or empty if that is not known.
func (r *runner) follow(ctx context.Context, task proxmox.RunningTask, before proxmox.Now) (o One, exit string) {
	p, lost := r.pauses(), 0
	p.end = p.end.Add(time.Minute) // the task has its own time limit, which is r.Timeout
	for {
		exit, err := r.api.Ended(ctx, task)
		switch {
		case ctx.Err() != nil:
			return r.ends(power.Failed, "interrupted; its task goes on"), ""
		case err != nil:
			if lost++; lost == maxLost {
				return r.ends(power.Failed, "its task cannot be followed: %v", err), ""
			}
		case proxmox.Succeeded(exit):
			o := r.settle(ctx, p, task, before)
			if exit != "OK" {
				o.Warnings = append(r.api.Warnings(ctx, task), o.Warnings...)
			}
			if o.Result == power.Done && r.Force && r.api.Terminated(ctx, task) {
				o.Text = fmt.Sprintf("it did not shut down within %s, and was stopped", r.Timeout)
			}
			return o, exit
		case exit != "":
			return r.failed(exit, task), exit
		default:
			lost = 0
		}
		if !p.wait(ctx) && ctx.Err() == nil {
			return r.ends(power.Failed, "its task had not ended after %s", r.Timeout+time.Minute), ""
		}
	}
}

// failed is a VM whose task failed. A shutdown that takes too long can be ended by force.
func (r *runner) failed(exit string, task proxmox.RunningTask) One {
	o := r.ends(power.Failed, "%s", exit)
	if r.Action.Name == "shutdown" && !r.Force && strings.Contains(exit, "got timeout") && !proxmox.LockTimeout(exit, task) {
		o.Fix = []string{"stackgen power shutdown --force " + r.vm.String()}
	}
	return o
}

// settle waits until the VM is in its new state: the HA manager begins after its task has
// ended, and so do the second half of a reboot and the start after a rollback. These are tasks
// of their own, which go on after the VM runs.
func (r *runner) settle(ctx context.Context, p *pauses, task proxmox.RunningTask, before proxmox.Now) One {
	to := r.to()
	if to == "" {
		return r.done(ctx)
	}
	for {
		now, err := r.api.Now(ctx, r.vm.Guest)
		start := r.started(ctx, task)
		switch {
		case ctx.Err() != nil:
			return r.ends(power.Failed, "interrupted; Proxmox VE goes on")
		case err != nil && proxmox.Gone(err):
			return r.ends(power.Failed, "it is not on %s any more", r.vm.Guest.Node)
		case start != nil && start.Exit != "" && !proxmox.Succeeded(start.Exit) && (err != nil || now.State != to): // nobody else started it
			o := r.ends(power.Failed, "its task has ended, and its start failed: %s", start.Exit)
			o.Fix = []string{"stackgen power start " + r.vm.String()}
			return o
		case err == nil && now.State == to && (!r.Action.Reboots() || now.PID != before.PID) && (start == nil || start.Exit != ""):
			o := r.done(ctx)
			if start != nil && start.Exit != "OK" && proxmox.Succeeded(start.Exit) {
				o.Warnings = r.api.Warnings(ctx, *start)
			}
			return o
		}
		if !p.wait(ctx) && ctx.Err() == nil {
			return r.unsettled(to, start)
		}
	}
}

// started is the start that a rollback or a reboot began, or nil if none is seen.
func (r *runner) started(ctx context.Context, task proxmox.RunningTask) *proxmox.RunningTask {
	if r.Action.Name != power.Rollback && !r.Action.Reboots() {
		return nil
	}
	start, err := r.api.StartAfter(ctx, task)
	if err != nil {
		return nil // what the VM does says the rest
	}
	return start
}

// unsettled is a VM that is not in its new state when the time is over.
func (r *runner) unsettled(to power.State, start *proxmox.RunningTask) One {
	switch {
	case start != nil && start.Exit == "":
		return r.ends(power.Failed, "its task has ended, and its start goes on")
	case r.Action.Reboots():
		return r.ends(power.Failed, "its task has ended, and it did not restart")
	}
	return r.ends(power.Failed, "its task has ended, and it is not %s", to)
}

func (r *runner) done(ctx context.Context) One {
	if r.Pending {
		left, err := r.api.Pending(ctx, r.vm.Guest)
		if err != nil {
			return r.ends(power.Failed, "%s; whether changes still wait cannot be read: %v", r.Action.Done, err)
		}
		if len(left) > 0 {
			return r.ends(power.Failed, "%s, and %s still waits", r.Action.Done, cluster.Count(len(left), "change"))
		}
	}
	return r.ends(power.Done, "%s", r.said())
}

// said is what was done.
func (r *runner) said() string {
	switch {
	case r.Action.Name == power.Rollback && r.to() == power.Running:
		return fmt.Sprintf("reset to %s, and running%s", r.point, r.point.after())
	case r.Action.Name == power.Rollback:
		return fmt.Sprintf("reset to %s, and stopped%s", r.point, r.point.after())
	case r.Action.Name == power.Snapshot:
		return fmt.Sprintf("given the checkpoint %s", r.Name)
	}
	return r.Action.Done
}

// unread is a VM that could not be read before the action.
func (r *runner) unread(err error) One {
	var o One
	switch {
	case proxmox.Gone(err):
		o = r.ends(power.Refused, "it is not on %s any more", r.vm.Guest.Node)
		o.Fix = []string{"stackgen status " + r.vm.String()}
	case errors.Is(err, proxmox.ErrOther):
		o = r.ends(power.Refused, "%v", err)
	default:
		o = r.ends(power.Failed, "it could not be read, and nothing was sent: %v", err)
	}
	return o
}

// unsent is an action that Proxmox VE refused.
func (r *runner) unsent(err error) One {
	if proxmox.Forbidden(err) {
		return r.ends(power.Refused, "%v", err)
	}
	return r.ends(power.Failed, "%v", err)
}

// lines is a line, if there is one.
func lines(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}

// pauses are the pauses of one wait.
type pauses struct {
	next time.Duration
	end  time.Time
}

func (r *runner) pauses() *pauses { return &pauses{next: firstPause, end: time.Now().Add(r.Timeout)} }

// wait pauses, and reports whether there is time left.
func (p *pauses) wait(ctx context.Context) bool {
	left := time.Until(p.end)
	if left <= 0 {
		return false
	}
	t := time.NewTimer(min(p.next, left))
	defer t.Stop()
	p.next = min(2*p.next, lastPause)
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
