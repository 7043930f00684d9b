package deploy

import (
	"maps"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/operate"
	"stackgen/internal/power"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// stops records the running guests that plans stop: to destroy them, or for a restart that their specs permit. The
// provider starts the latter again. If it is killed before, or if it fails, the next apply starts them.
func (r *run) stops(p *plans) error {
	vmids := map[string]int{}
	for _, c := range p.changes() {
		if c.Type == finding.VM && (c.Action == tf.Delete || c.Action == tf.Update && p.stack.restarts[c.Key] == c.VMID) {
			vmids[c.Key] = c.VMID
		}
	}
	return r.stopping(p.stack, p.was, vmids)
}

// stopping records the guests of a stack that run now, by their keys, and that this run is about to stop.
func (r *run) stopping(st *stack, inv *cluster.Inventory, vmids map[string]int) error {
	var guests []*cluster.Guest
	for _, vmid := range vmids {
		if g := guestOf(inv, vmid); g != nil {
			guests = append(guests, g)
		}
	}
	if err := operate.Refresh(r.background(), r.p, guests); err != nil { // a person may have stopped one since
		return err
	}
	for key, vmid := range vmids {
		if g := guestOf(inv, vmid); g != nil && g.Status == string(power.Running) {
			st.stopped[key] = vmid
		}
	}
	return st.keepUnfinished()
}

// interrupts keeps which guests of a stack an apply restarts, and which do not read new settings of cloud-init
// before their next start, as the guard has judged.
func (st *stack) interrupts(found []finding.Finding) {
	st.restarts = map[string]int{}
	if st.waits == nil {
		st.waits = map[string]int{}
	}
	for i := range found {
		f := &found[i]
		for _, u := range f.Updates {
			if f.Stack != st.name || f.Type != finding.VM {
				continue
			}
			if u.Interrupts {
				st.restarts[f.Key] = f.VMID
			}
			if u.Waits && strings.HasPrefix(u.Attribute, schema.VMField(guest.CloudInit).HCL) {
				st.waits[f.Key] = f.VMID
			}
		}
	}
}

// notTaken forgets the guests whose settings of cloud-init a failed apply has not changed.
func (st *stack) notTaken(before, now *cluster.Inventory) {
	maps.DeleteFunc(st.waits, func(_ string, vmid int) bool {
		return !guard.CloudInitChanged(before, now, vmid)
	})
}

// restartsMore reports whether an apply restarts guests of a stack that it did not restart when it was confirmed, and
// keeps which it restarts.
func (st *stack) restartsMore(found []finding.Finding) bool {
	before := st.restarts
	st.interrupts(found)
	for key := range st.restarts {
		if _, was := before[key]; !was {
			return true
		}
	}
	return false
}

// dropRunning drops the guests that run again, and those that are gone. One on which a task works may be about to stop.
func (st *stack) dropRunning(s *check.Session) {
	maps.DeleteFunc(st.stopped, func(_ string, vmid int) bool {
		g := s.Inventory.Guest(vmid)
		return g == nil && len(s.Inventory.GapsForVM(vmid)) == 0 ||
			g != nil && g.Status == string(power.Running) && !s.Working(vmid)
	})
}

// keepStopped drops, at the end of a command, the guests that it has not stopped after all, or started again: whoever
// stops them from now on wants them stopped. What cannot be read keeps its record.
func (r *run) keepStopped() error {
	for _, st := range r.stacks {
		if st.stopped == nil || r.DryRun {
			continue
		}
		if len(st.stopped) > 0 {
			s := check.New(r.p, check.Sources{})
			if _, err := s.Preflight(r.background(), false, false); err == nil {
				st.dropRunning(s)
			}
		}
		if err := st.stopped.Write(st.root, st.name); err != nil {
			return err
		}
	}
	return nil
}
