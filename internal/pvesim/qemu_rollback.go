package pvesim

import "slices"

// snapshotRollback restores a snapshot. The guest is stopped; it runs afterwards if
// the snapshot has its memory, or with the parameter start.
func snapshotRollback(c *call) (any, error) {
	name, start := c.p["snapname"], c.flag("start")
	if err := c.mayStartAgain(start); err != nil {
		return nil, err
	}
	return c.snapshotWorker(snapshotJob{kind: c.taskType("rollback"), lock: "rollback", begin: func(_ *worker, g *Guest) error {
		if g.template() {
			return failf("you can't rollback if vm is a template")
		}
		s, err := g.needSnapshot(name)
		if err != nil {
			return err
		}
		if state := s.Config["snapstate"]; state != "" {
			return failf("unable to rollback to incomplete snapshot (snapstate = %s)", state)
		}
		if err := c.w.newestOnly(g, s); err != nil {
			return err
		}
		if err := g.locked(); err != nil {
			return err
		}
		if g.Running {
			c.w.power(g, false)
			c.w.ended(g)
		}
		return nil
	}, end: func(wk *worker, g *Guest) error {
		s, err := g.needSnapshot(name)
		if err != nil {
			return err
		}
		c.w.restore(wk, g, s)
		switch {
		case s.Config["vmstate"] != "":
			g.logCloudinit(wk)
			c.w.power(g, true)
		case start && !g.Running:
			err = c.startAfterRollback(g)
		}
		return err
	}})
}

// mayStartAgain returns the error of the latest qemu-server where a rollback starts a VM. There is no check for containers.
func (c *call) mayStartAgain(start bool) error {
	if !start || c.w.seed.Version != "9" || c.container() {
		return nil
	}
	return c.w.require(c.who, "/vms/"+itoa(c.vmid()), "VM.PowerMgmt")
}

// newestOnly returns the error of a rollback of a disk that has newer snapshots, on ZFS, or as a chain of images.
// Source: volume_rollback_is_possible of ZFSPoolPlugin, and of the package's Plugin since 9.0.
func (w *cluster) newestOnly(g *Guest, s *Snapshot) error {
	for _, k := range snapshotDisks(s.Config) {
		file := parseDrive(s.Config[k]).file
		on := w.storage(storageOf(file))
		newer := func(o *Snapshot) bool { return o.Time.After(s.Time) && attached(o.Config, file) }
		if on != nil && (on.Type == "zfspool" || on.Chain && volumeFormat(file) == "qcow2") && slices.ContainsFunc(g.Snapshots, newer) {
			return failf("can't rollback, '%s' is not most recent snapshot on '%s'", s.Name, file)
		}
	}
	return nil
}

// restore replaces the configuration and the contents of disks with those of a
// snapshot. The description and unused volumes stay; volumes that only the present
// configuration has become unused.
func (w *cluster) restore(wk *worker, g *Guest, s *Snapshot) {
	now := g.Config
	g.Config = snapshotCopy(s.Config)
	delete(g.Config, "runningmachine")
	delete(g.Config, "runningcpu")
	g.Pending, g.Deleted, g.CloudInit = nil, nil, nil
	for k, v := range now {
		if k == "description" || isIndexed(k, "unused") {
			g.Config[k] = v
		}
	}
	for _, k := range snapshotDisks(now) {
		if !attached(g.Config, parseDrive(now[k]).file) {
			g.addUnused(parseDrive(now[k]).file)
		}
	}
	g.Config["parent"] = s.Name
	if g.Config["vmgenid"] != "" { // tells the guest that it is another generation
		g.Config["vmgenid"] = w.uuid()
	}
	for _, k := range snapshotDisks(g.Config) {
		d := parseDrive(g.Config[k])
		if v := w.volumeOn(g.Node, d.file); v != nil && d.size() > 0 {
			v.Size = Size(d.size())
			w.logThin(wk, d, "%[1]s", "successfully removed")
			w.logThin(wk, d, "%[1]s", "created")
		}
	}
	g.dropAttachedUnused()
}

func snapshotDelete(c *call) (any, error) {
	name := c.p["snapname"]
	return c.snapshotWorker(snapshotJob{kind: c.taskType("delsnapshot"), lock: "snapshot-delete", begin: func(_ *worker, g *Guest) error {
		s, err := g.needSnapshot(name)
		if err != nil {
			return err
		}
		if err := g.locked(); err != nil {
			return err
		}
		if g.template() {
			return failf("you can't delete a snapshot if vm is a template")
		}
		s.Config["snapstate"] = "delete"
		return nil
	}, end: func(wk *worker, g *Guest) error {
		s, err := g.needSnapshot(name)
		if err == nil {
			c.w.removeSnapshot(wk, g, s)
		}
		return err
	}})
}

// removeSnapshot removes a snapshot with the memory that it saved. Disks that the present
// configuration does not have become unused, and the snapshots after it follow its parent.
func (w *cluster) removeSnapshot(wk *worker, g *Guest, s *Snapshot) {
	if v := w.ownVolume(g, drive{file: s.Config["vmstate"]}); v != nil {
		w.removeVolume(v)
		wk.logOutput(w.storage(storageOf(v.ID)).removeLine(v))
	}
	for _, k := range snapshotDisks(s.Config) {
		d := parseDrive(s.Config[k])
		w.logThin(wk, d, "snap_%[1]s_"+s.Name, "successfully removed")
		if w.ownVolume(g, d) != nil && !attached(g.Config, d.file) {
			g.addUnused(d.file)
		}
	}
	g.Snapshots = slices.DeleteFunc(g.Snapshots, func(x *Snapshot) bool { return x == s })
	for _, x := range g.Snapshots {
		if x.Parent == s.Name {
			x.Parent = s.Parent
		}
	}
	if g.Config["parent"] == s.Name {
		delete(g.Config, "parent")
		if s.Parent != "" {
			g.Config["parent"] = s.Parent
		}
	}
}

// startAfterRollback starts a guest in a task of its own.
func (c *call) startAfterRollback(g *Guest) error {
	if c.w.haManaged(g) {
		start := qemuStart
		if g.container() {
			start = lxcStart
		}
		_, err := start(c)
		return err
	}
	wk := c.w.startWorker(g)
	wk.orphan = true
	c.w.fork(g.Node, c.taskType("start"), itoa(g.VMID), c.who, wk)
	return nil
}
