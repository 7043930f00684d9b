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
	Report func(One)              // is told of each VM when it ends; it is called by one goroutine at a time
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
	ended := make(chan int)
	var all errgroup.Group
	all.SetLimit(max(1, r.AtOnce))
	go func() {
		for i := from; i < to; i++ {
			all.Go(func() error {
				out[i] = (&runner{Request: *r, api: api, vm: &r.VMs[i], point: r.Points[r.VMs[i].String()]}).run(ctx)
				ended <- i
				return nil
			})
		}
		_ = all.Wait() // no function returns an error
		close(ended)
	}()
	for i := range ended {
		r.Report(out[i])
	}
}

// A runner acts on one VM.
type runner struct {
	Request
	api   *proxmox.Power
	vm    *selection.VM
	point *Checkpoint // that a reset goes back to
	was   power.State
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

// act reads the VM again, sends the action if the state of the VM needs it, and waits for its end.
func (r *runner) act(ctx context.Context) One {
	if ctx.Err() != nil {
		return r.ends(power.Left, "interrupted before it began")
	}
	if text, fix := r.vm.Problem(); text != "" {
		o := r.ends(power.Refused, "%s", text)
		o.Fix = lines(fix)
		return o
	}
	g := r.vm.Guest
	now, err := r.unlocked(ctx)
	r.was = now.State
	switch {
	case ctx.Err() != nil:
		return r.ends(power.Left, "interrupted before it began")
	case err != nil:
		return r.unread(err)
	case now.Lock != "":
		o := r.ends(power.Refused, "it is locked (%s), and was for %s", now.Lock, r.Timeout)
		o.Fix = []string{"stackgen preflight"}
		return o
	}
	switch need, why := r.Action.In(now.State); need {
	case power.Already:
		return r.ends(power.InState, "%s", why)
	case power.Unusable:
		o := r.ends(power.Refused, "%s", why)
		o.Fix = wakes(r.vm, now.State)
		return o
	}
	if o := r.refusal(ctx, now); o != nil {
		return *o
	}
	part, body := r.call()
	task, err := r.api.Send(context.WithoutCancel(ctx), g, part, body)
	switch {
	case err != nil && proxmox.Answered(err):
		return r.unsent(err)
	case err != nil:
		return r.ends(power.Failed, "the request had no answer, and may have been executed: %v", err)
	}
	return r.follow(ctx, task, now)
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

// follow waits until the task has ended, and the VM is in its new state.
func (r *runner) follow(ctx context.Context, task proxmox.RunningTask, before proxmox.Now) One {
	p, lost := r.pauses(), 0
	p.end = p.end.Add(time.Minute) // the task has its own time limit, which is r.Timeout
	for {
		exit, err := r.api.Ended(ctx, task)
		switch {
		case ctx.Err() != nil:
			return r.ends(power.Failed, "interrupted; its task goes on")
		case err != nil:
			if lost++; lost == maxLost {
				return r.ends(power.Failed, "its task cannot be followed: %v", err)
			}
		case exit == "OK":
			return r.settle(ctx, p, before)
		case strings.HasPrefix(exit, "WARNINGS"):
			o := r.settle(ctx, p, before)
			o.Warnings = r.api.Warnings(ctx, task)
			return o
		case exit != "":
			return r.ends(power.Failed, "%s", exit)
		default:
			lost = 0
		}
		if !p.wait(ctx) && ctx.Err() == nil {
			return r.ends(power.Failed, "its task had not ended after %s", r.Timeout+time.Minute)
		}
	}
}

// settle waits until the VM is in its new state: the HA manager begins after its task has
// ended, and so do the second half of a reboot and the start after a rollback.
func (r *runner) settle(ctx context.Context, p *pauses, before proxmox.Now) One {
	to := r.to()
	if to == "" {
		return r.done(ctx)
	}
	for {
		now, err := r.api.Now(ctx, r.vm.Guest)
		switch {
		case ctx.Err() != nil:
			return r.ends(power.Failed, "interrupted; Proxmox VE goes on")
		case err != nil && proxmox.Gone(err):
			return r.ends(power.Failed, "it is not on %s any more", r.vm.Guest.Node)
		case err == nil && now.State == to && (!r.Action.Reboots() || now.PID != before.PID):
			return r.done(ctx)
		}
		if !p.wait(ctx) && ctx.Err() == nil {
			if r.Action.Reboots() {
				return r.ends(power.Failed, "its task has ended, and it did not restart")
			}
			return r.ends(power.Failed, "its task has ended, and it is not %s", to)
		}
	}
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
