package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/hardware"
	"stackgen/internal/power"
	"stackgen/internal/proxmox"
)

// to is the state of the VM afterwards, or empty if there is none to wait for.
func (r *runner) to() power.State {
	if r.Action.Name == power.Rollback && (r.starts() || r.point.Memory) {
		return power.Running
	}
	return r.Action.To
}

// unlocked reads the VM until it has no lock, or the time is over.
func (r *runner) unlocked(ctx context.Context) (now proxmox.Now, err error) {
	for p, told := r.pauses(), false; ; told = true {
		if now, err = r.api.Now(ctx, r.vm.Guest); err != nil || now.Lock == "" {
			return now, err
		}
		if !told {
			r.tell(r.ends(power.Waiting, "it is locked (%s)", now.Lock))
		}
		if !p.wait(ctx) {
			return now, nil
		}
	}
}

// follow waits until the task has ended, and the VM is in its new state. exit is how the task
// ended, or empty if that is not known.
func (r *runner) follow(ctx context.Context, task proxmox.RunningTask, before proxmox.Now) (o One, exit string) {
	p, lost := r.pauses(), 0
	p.end = p.end.Add(r.more())
	for {
		exit, err := r.api.Ended(ctx, task)
		switch {
		case ctx.Err() != nil:
			return r.interrupted("interrupted; its task goes on"), ""
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
			return r.failed(ctx, exit, task), exit
		default:
			lost = 0
		}
		if !p.wait(ctx) && ctx.Err() == nil {
			return r.ends(power.Failed, "its task had not ended after %s", r.Timeout+r.more()), ""
		}
	}
}

// more is how much longer than r.Timeout, the time limit of its call, a task may take. A shutdown of a
// container that did not stop in time waits for it once more. Source: vm_stop of PVE::LXC.
func (r *runner) more() time.Duration {
	switch {
	case r.Action.Name == power.Backup:
		return time.Minute + longestBackup
	case r.Action.Name == "shutdown" && r.vm.IsContainer():
		return time.Minute + r.Timeout
	}
	return time.Minute
}

// interrupted is a VM of which Proxmox VE does the rest after an interrupt.
func (r *runner) interrupted(text string) One {
	o := r.ends(power.Failed, "%s", text)
	o.GoesOn = true
	return o
}

// failed is a VM whose task failed. A shutdown that takes too long can be ended by force. A start also fails if somebody
// else has started the VM since it was read.
func (r *runner) failed(ctx context.Context, exit string, task proxmox.RunningTask) One {
	if r.Action.Name == "start" {
		if now, err := r.api.Now(ctx, r.vm.Guest); err == nil {
			if need, why := r.Action.In(now.State); need == power.Already {
				return r.ends(power.InState, "%s", why)
			}
		}
	}
	o := r.ends(power.Failed, "%s", r.api.Reason(ctx, task, exit))
	if r.Action.Name == power.Backup { // its exit says only that there were errors
		o.Text = strings.Join(append([]string{exit}, r.api.BackupErrors(context.WithoutCancel(ctx), task)...), "; ")
	}
	late := strings.Contains(exit, "got timeout") || strings.Contains(exit, "container did not stop")
	if r.Action.Name == "shutdown" && !r.Force && late && !proxmox.LockTimeout(exit, task) {
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
			return r.interrupted("interrupted; Proxmox VE goes on")
		case err != nil && proxmox.Gone(err):
			return r.ends(power.Failed, "it is not on %s any more", r.vm.Guest.Node)
		case start != nil && start.Exit != "" && !proxmox.Succeeded(start.Exit) && (err != nil || now.State != to): // nobody else started it
			o := r.ends(power.Failed, "its task has ended, and its start failed: %s", r.api.Reason(ctx, *start, start.Exit))
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
		all, err := r.api.Pending(ctx, r.vm.Guest)
		if err != nil {
			return r.ends(power.Failed, "%s; whether changes still wait cannot be read: %v", r.Action.Done, err)
		}
		if left := hardware.Waiting(r.vm.Guest.Kind, all); len(left) > 0 {
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
