package pvesim

import (
	"maps"
	"slices"
	"strings"
	"time"
)

func qemuDestroy(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	ha := c.w.haEntry(g)
	if ha != nil && !c.flag("purge") {
		return nil, failf("unable to remove VM %d - used in HA resources and purge parameter not set.", g.VMID)
	}
	if err := g.protected("can't remove VM " + itoa(g.VMID)); err != nil {
		return nil, err
	}
	if g.Running {
		return nil, failf("VM %d is running - destroy failed", g.VMID)
	}
	others := c.flag("destroy-unreferenced-disks")
	vmid, node, purge, skipLock := g.VMID, g.Node, c.flag("purge"), c.flag("skiplock")
	if skipLock && (c.who.user != "root@pam" || c.who.token != "") {
		return nil, badParam("skiplock", "Only root may use this option.")
	}
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g, err := c.w.guestOn(node, vmid)
		if err != nil {
			return pause{}, err
		}
		return pause{d: 150 * time.Millisecond, main: true}, c.w.mayDestroy(g, skipLock)
	}, func() (pause, error) {
		if g := c.w.guests[vmid]; g != nil {
			c.w.destroyDisks(wk, g)
			if others {
				c.w.destroyOthers(wk, g)
			}
		}
		return pause{}, nil
	}}
	wk.last = func() error {
		if g := c.w.guests[vmid]; g != nil {
			return c.w.destroyConfig(wk, g, purge)
		}
		return nil
	}
	return c.w.fork(node, "qmdestroy", itoa(vmid), c.who, wk), nil
}

func (w *cluster) mayDestroy(g *Guest, skipLock bool) error {
	if err := g.locked(); err != nil && !skipLock {
		return err
	}
	if err := g.protected("can't remove " + g.label() + " " + itoa(g.VMID)); err != nil {
		return err
	}
	if g.Running {
		return failf("VM %d is running - destroy failed", g.VMID)
	}
	return w.basesFree(g)
}

// basesFree returns an error if another guest has a linked clone of a disk.
func (w *cluster) basesFree(g *Guest) error {
	for _, k := range driveKeys(g.Config) {
		if v := w.ownVolume(g, parseDrive(g.Config[k])); v != nil && w.baseInUse(v) {
			return failf("base volume '%s' is still in use by linked cloned", v.ID)
		}
	}
	return nil
}

// destroyDisks adds a step for each disk: they go first, the configuration last.
// Without quorum, only the second fails for disks on local storage.
func (w *cluster) destroyDisks(wk *worker, g *Guest) {
	seen := map[string]bool{}
	add := func(conf map[string]string, unused bool) {
		for _, k := range slices.Sorted(maps.Keys(conf)) {
			file := parseDrive(conf[k]).file
			if seen[file] || !isDriveKey(k) && (!unused || !strings.HasPrefix(k, "unused")) {
				continue
			}
			seen[file] = true
			wk.steps = append(wk.steps, w.destroyDisk(wk, g, file, storageLockTries))
		}
	}
	add(g.Config, true)
	for _, s := range g.Snapshots {
		add(s.Config, false)
	}
}

// storageLockTries is how often, second by second, a server tries to lock a shared
// storage.
const storageLockTries = 9

// destroyDisk is the step that removes one disk. A shared storage is locked in the
// whole cluster, which needs the quorum: without it the disk stays.
func (w *cluster) destroyDisk(wk *worker, g *Guest, file string, tries int) step {
	return func() (pause, error) {
		v := w.ownVolume(g, drive{file: file})
		if v == nil {
			return pause{}, nil
		}
		s := w.storage(storageOf(v.ID))
		if !s.Shared || w.quorate() {
			w.removeDisk(wk, g, v)
			return pause{}, nil
		}
		if tries == 0 {
			wk.logf("Could not remove disk '%s', check manually: cfs-lock 'storage-%s' error: no quorum!", v.ID, s.ID)
			return pause{}, nil
		}
		wk.logf("trying to acquire cfs lock 'storage-%s' ...", s.ID)
		wk.next = w.destroyDisk(wk, g, file, tries-1)
		return pause{d: time.Second}, nil
	}
}

// removeDisk removes the volume of a disk, and what the snapshots of the guest have of it.
func (w *cluster) removeDisk(wk *worker, g *Guest, v *Volume) {
	for _, s := range g.Snapshots {
		for _, line := range s.Config {
			if d := parseDrive(line); d.file == v.ID {
				w.logThin(wk, d, "snap_%[1]s_"+s.Name, "successfully removed")
			}
		}
	}
	wk.logOutput(w.storage(storageOf(v.ID)).removeLine(v))
	w.removeVolume(v)
}

// destroyConfig removes the configuration, and with it the guest.
func (w *cluster) destroyConfig(wk *worker, g *Guest, purge bool) error {
	if err := w.write(g.Node, g.VMID, wk.task.PID); err != nil {
		return err
	}
	w.forget(g)
	for _, p := range w.seed.Pools {
		p.remove(g.VMID)
	}
	w.dropGrants("/vms/" + itoa(g.VMID))
	if purge {
		wk.logf("purging %s %d from related configurations..", g.label(), g.VMID)
		if w.haRemove(g) {
			wk.logf("NOTE: removed %s %d from HA resource configuration.", g.label(), g.VMID)
		}
	}
	return nil
}

// dropGrants removes the ACL entries of a removed guest.
func (w *cluster) dropGrants(path string) {
	kept := w.seed.ACL[:0]
	for _, g := range w.seed.ACL {
		if g.Path != path {
			kept = append(kept, g)
		}
	}
	w.seed.ACL = kept
}
