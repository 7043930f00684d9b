package pvesim

import (
	"strings"
	"time"
)

// qemuSuspend pauses a guest, or hibernates it with todisk.
func qemuSuspend(c *call) (any, error) {
	if !c.flag("todisk") {
		return c.simplePower("qmpause", func(g *Guest) { g.Paused = true })
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
	vmid := g.VMID
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		if err := g.locked(); err != nil {
			return pause{}, err
		}
		g.Config["lock"] = "suspending"
		return pause{d: time.Second, main: true}, nil
	}, func() (pause, error) {
		c.w.power(g, false)
		g.Config["lock"] = "suspended"
		c.w.saveMemory(g)
		return pause{}, nil
	}}
	return c.w.fork(c.node, "qmsuspend", itoa(vmid), c.who, wk), nil
}

// qemuResume continues a paused guest, or starts a hibernated one with its memory.
func qemuResume(c *call) (any, error) {
	g, err := c.runnable()
	if err != nil {
		return nil, err
	}
	if !g.hibernated() {
		return c.simplePower("qmresume", func(g *Guest) { g.Paused = false })
	}
	wk := &worker{lock: g.VMID, wait: lockWait}
	wk.steps = c.w.startSteps(wk, g.VMID, c.node)
	return c.w.fork(c.node, "qmresume", itoa(g.VMID), c.who, wk), nil
}

// hibernated reports whether a guest's memory is saved on a storage. Nothing but a
// start or resume may remove that lock: an unlock discards the memory.
func (g *Guest) hibernated() bool { return g.Config["lock"] == "suspended" }

// saveMemory makes the volume with the memory of a hibernated guest, beside its
// first disk.
func (w *cluster) saveMemory(g *Guest) {
	for _, k := range bootDrives() {
		d := parseDrive(g.Config[k])
		if !strings.Contains(d.file, ":") || d.cdrom() {
			continue
		}
		id := storageOf(d.file) + ":vm-" + itoa(g.VMID) + "-state-suspend-" + w.now.UTC().Format("2006-01-02") + ".raw"
		if s := w.storage(storageOf(d.file)); s.Path != "" {
			id = s.ID + ":" + itoa(g.VMID) + "/" + id[len(s.ID)+1:]
		}
		v := &Volume{ID: id, VMID: g.VMID, Size: Size(g.maxMemory()), Format: "raw", Content: "images", Created: w.now}
		if !w.storage(storageOf(d.file)).Shared {
			v.Node = g.Node
		}
		w.seed.Volumes = append(w.seed.Volumes, v)
		g.Config["vmstate"], g.Config["runningmachine"], g.Config["runningcpu"] = id, "pc-i440fx-9.2+pve1", "kvm64"
		return
	}
}

// wake removes what hibernation left in a guest that is started.
func (w *cluster) wake(g *Guest) {
	if !g.hibernated() {
		return
	}
	if v := w.ownVolume(g, parseDrive(g.Config["vmstate"])); v != nil {
		w.removeVolume(v)
	}
	for _, k := range []string{"lock", "vmstate", "runningmachine", "runningcpu"} {
		delete(g.Config, k)
	}
}
