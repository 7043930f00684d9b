package pvesim

import (
	"cmp"
	"time"
)

// qemuSuspend pauses a guest, or hibernates it with todisk.
func qemuSuspend(c *call) (any, error) {
	if !c.flag("todisk") {
		return c.simplePower("qmpause", func(g *Guest) { g.Paused = true })
	}
	if err := c.rootOnly("skiplock"); err != nil {
		return nil, err
	}
	g, err := c.runnable()
	if err != nil {
		return nil, err
	}
	if !g.Running {
		return nil, failf("VM %d not running", g.VMID)
	}
	if c.w.haManaged(g) {
		return nil, failf("Cannot suspend HA managed VM to disk")
	}
	if err := c.mayHibernate(g); err != nil {
		return nil, err
	}
	vmid := g.VMID
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		if g.Config["lock"] == "backup" {
			return pause{}, failf("cannot suspend to disk during backup")
		}
		if err := g.locked(); err != nil && !c.flag("skiplock") {
			return pause{}, err
		}
		name, storage := "suspend-"+c.w.now.UTC().Format("2006-01-02"), cmp.Or(c.p["statestorage"], c.w.stateStorage(g))
		if err := c.w.saveState(wk, g, name, storage, g.Config); err != nil {
			return pause{}, err
		}
		g.Config["lock"] = "suspending"
		return pause{d: time.Second, main: true}, nil
	}, func() (pause, error) {
		c.w.power(g, false)
		g.Config["lock"] = "suspended"
		wk.log("State saved, quitting")
		return pause{}, nil
	}}
	return c.w.fork(c.node, "qmsuspend", itoa(vmid), c.who, wk), nil
}

// mayHibernate checks what the memory of a guest needs on its storage.
func (c *call) mayHibernate(g *Guest) error {
	if err := c.w.require(c.who, "/vms/"+itoa(g.VMID), "VM.Config.Disk"); err != nil {
		return err
	}
	for k := range g.Config {
		if isIndexed(k, "hostpci") {
			return failf("cannot suspend VM to disk due to passed-through PCI device(s), " +
				"which lack the possibility to save/restore their internal state")
		}
	}
	return c.w.require(c.who, "/storage/"+cmp.Or(c.p["statestorage"], c.w.stateStorage(g)), "Datastore.AllocateSpace")
}

// qemuResume continues a paused guest, or starts a hibernated one with its memory.
func qemuResume(c *call) (any, error) {
	g, err := c.runnable()
	if err != nil {
		return nil, err
	}
	if !g.hibernated() {
		return c.simplePower("qmresume", func(g *Guest) { g.Paused, g.prelaunch = false, false })
	}
	wk := &worker{lock: g.VMID, wait: lockWait}
	wk.steps = c.w.startSteps(wk, g.VMID, c.node)
	return c.w.fork(c.node, "qmresume", itoa(g.VMID), c.who, wk), nil
}

// hibernated reports whether a guest's memory is saved on a storage. Nothing but a
// start or resume may remove that lock: an unlock discards the memory.
func (g *Guest) hibernated() bool { return g.Config["lock"] == "suspended" }

// stateStorage returns the storage for the memory of a guest: the one that it names,
// a shared one of its disks, any of them.
func (w *cluster) stateStorage(g *Guest) string {
	if s := g.Config["vmstatestorage"]; s != "" {
		return s
	}
	best := map[bool]*Storage{}
	for _, k := range snapshotDisks(g.Config) {
		if s := w.storage(storageOf(parseDrive(g.Config[k]).file)); s != nil && (best[s.Shared] == nil || s.fileBased()) {
			best[s.Shared] = s
		}
	}
	if s := cmp.Or(best[true], best[false]); s != nil {
		return s.ID
	}
	return "local"
}

// saveState makes the volume for the memory of a guest: for all of it twice, and for
// the state of its devices.
func (w *cluster) saveState(wk *worker, g *Guest, name, storage string, into map[string]string) error {
	s, err := w.checkStorage(storage, g.Node)
	if err != nil {
		return err
	}
	v, lines, err := w.alloc(g.Node, s, g.VMID, "vm-"+itoa(g.VMID)+"-state-"+name, "raw", 2*g.maxMemory()+500*mib)
	if err != nil {
		return err
	}
	wk.logOutput(lines...)
	into["vmstate"], into["runningmachine"] = v.ID, runningMachine
	into["runningcpu"] = "kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep"
	return nil
}

// wake resumes a hibernated guest that is started, and removes what hibernation left in it.
func (w *cluster) wake(wk *worker, g *Guest) {
	if !g.hibernated() {
		return
	}
	wk.log("Resuming suspended VM")
	if v := w.ownVolume(g, parseDrive(g.Config["vmstate"])); v != nil {
		w.removeVolume(v)
	}
	for _, k := range []string{"lock", "vmstate", "runningmachine", "runningcpu"} {
		delete(g.Config, k)
	}
}
