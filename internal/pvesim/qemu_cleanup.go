package pvesim

import "time"

// The limits of `qm cleanup`. Source: qemu-server 9.2, PVE::CLI::qm.
const (
	cleanupWait = 60 * time.Second // for the lock
	cleanupHold = 30 * time.Second // it keeps the lock while the VM runs: its QEMU may still be the one that ended
)

// ended lets the node clean up after the QEMU of a guest, as qmeventd does. A VM that was started
// again before the cleanup has the lock keeps it for long.
func (w *cluster) ended(g *Guest) {
	if w.seed.Cleanup == 0 || g.container() {
		return
	}
	vmid := g.VMID
	wk := &worker{cluster: w, task: &Task{Node: g.Node}, lock: vmid, wait: cleanupWait, process: true}
	until := w.now
	var look step
	look = func() (pause, error) {
		switch g := w.guests[vmid]; {
		case g == nil || !g.Running:
			return pause{}, nil
		case !w.now.Before(until):
			return pause{}, failf("aborting cleanup, VM is still running after %.0f seconds", cleanupHold.Seconds())
		}
		wk.next = look
		return pause{d: time.Second}, nil
	}
	wk.steps = []step{func() (pause, error) {
		until = w.now.Add(cleanupHold)
		return pause{}, nil
	}, look}
	w.at(w.seed.Cleanup, wk.begin)
}

// HoldConfig lets a process of the node have the lock of a guest's configuration, as `qm cleanup`
// has it, until release is called.
func (s *Server) HoldConfig(vmid int) (release func()) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.advance(s.clk.Now())
	held := true
	wk := &worker{cluster: s.w, task: &Task{}, lock: vmid, wait: cleanupWait, process: true}
	var look step
	look = func() (pause, error) {
		if !held {
			return pause{}, nil
		}
		wk.next = look
		return pause{d: time.Second}, nil
	}
	wk.steps = []step{look}
	wk.begin()
	return func() {
		s.w.mu.Lock()
		defer s.w.mu.Unlock()
		held = false
	}
}
