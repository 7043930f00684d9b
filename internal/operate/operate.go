package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"stackgen/internal/hardware"
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
	Name    string         // of the snapshot that is taken or gone back to, or of the storage of a backup

	Points map[string]*Checkpoint // that a reset goes back to, by VM
	Report func(One)              // is told of each VM when it waits for a lock, is called and ends; by one goroutine at a time
}

// A One is how the action on one VM ended.
type One struct {
	*selection.VM
	Result power.Result
	Was    power.State // before the action; empty if it was not read
	Text   string      // what happened, or why nothing did
	Fix    []string    // commands
	Took   time.Duration
	GoesOn bool // its task was still running when the request was interrupted

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
				out[i] = One{VM: &r.VMs[i], Result: power.Left, Text: "not begun, because a guest of the wave before failed"}
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
			r.tell(r.ends(power.Waiting, "another process of %s has the lock of its configuration", r.vm.Guest.Node))
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
	r.tell(r.ends(power.Sent, ""))
	task, err := r.post(context.WithoutCancel(ctx))
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
	if r.hardStop(r.vm, now.HA) {
		o = r.ends(power.Refused, "%s", hardStop)
		return &o
	}
	if r.Pending {
		left, err := r.api.Pending(ctx, r.vm.Guest)
		if err == nil && len(hardware.Waiting(r.vm.Guest.Kind, left)) == 0 {
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
	entries, err := r.api.Same(ctx, r.vm.Guest)
	if err != nil {
		o = r.unread(err)
		return &o
	}
	if changed := r.changed(entries); len(changed) > 0 {
		o = r.ends(power.Refused, "its configuration was changed after it was shown (%s): nothing was sent", strings.Join(changed, ", "))
		o.Fix = []string{"stackgen status " + r.vm.String()}
		return &o
	}
	return nil
}

// hardStop is what a shutdown of a VM of the HA manager may end with. Source: the manager's
// resource agent for VMs, which always sets forceStop; the one for containers never does.
const hardStop = "the HA manager stops it hard if it does not shut down in time: give --force to accept that"

// hardStop reports whether the action would stop the VM hard although that was not asked for.
func (r *Request) hardStop(vm *selection.VM, ha bool) bool {
	return r.Action.Name == "shutdown" && ha && !r.Force && !vm.IsContainer()
}

// post sends the call.
func (r *runner) post(ctx context.Context) (proxmox.RunningTask, error) {
	if r.Action.Name == power.Backup {
		return r.api.Backup(ctx, r.vm.Guest, r.Name)
	}
	part, body := r.call()
	return r.api.Send(ctx, r.vm.Guest, part, body)
}

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
