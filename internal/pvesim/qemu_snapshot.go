package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

func (g *Guest) snapshot(name string) *Snapshot {
	for _, s := range g.Snapshots {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// section returns the configuration section of a snapshot as the API shows it.
func (s *Snapshot) section() map[string]string {
	out := cloneMap(s.Config)
	out["snaptime"] = itoa(int(s.Time.Unix()))
	if s.Description != "" {
		out["description"] = s.Description
	} else {
		delete(out, "description")
	}
	if s.Parent != "" {
		out["parent"] = s.Parent
	}
	return out
}

func snapshotList(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := []object{}
	for _, s := range g.Snapshots {
		o := object{"name": s.Name, "description": s.Description, "snaptime": s.Time.Unix(), "vmstate": 0}
		if s.Parent != "" {
			o["parent"] = s.Parent
		}
		out = append(out, o)
	}
	now := object{"name": "current", "description": "You are here!", "digest": g.digest(), "running": flag(g.Running)}
	if p := g.Config["parent"]; p != "" {
		now["parent"] = p
	}
	return append(out, now), nil
}

func snapshotConfig(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	s := g.snapshot(c.p["snapname"])
	if s == nil {
		return nil, failf("snapshot '%s' does not exist", c.p["snapname"])
	}
	out := object{}
	for k, v := range s.section() {
		out[k] = c.s.typed(qemuConfigPath, k, masked(k, v))
	}
	return out, nil
}

// snapshotWorker runs a change of snapshots under the lock of the guest.
func (c *call) snapshotWorker(kind string, do func(wk *worker, g *Guest) error) (any, error) {
	vmid, node := c.vmid(), c.node
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g, err := c.unlockedGuest()
		if err != nil {
			return pause{}, err
		}
		return pause{d: 150 * time.Millisecond, main: true}, do(wk, g)
	}}
	return c.w.fork(node, kind, itoa(vmid), c.who, wk), nil
}

func snapshotCreate(c *call) (any, error) {
	name := c.p["snapname"]
	if name == "current" || name == "pending" {
		return nil, failf("unable to use snapshot name '%s' (reserved name)", name)
	}
	return c.snapshotWorker("qmsnapshot", func(wk *worker, g *Guest) error {
		if g.template() {
			return failf("you can't take a snapshot if it's a template")
		}
		if g.snapshot(name) != nil {
			return failf("snapshot name '%s' already used", name)
		}
		for _, k := range slices.Sorted(maps.Keys(g.Config)) {
			d := parseDrive(g.Config[k])
			if !isDriveKey(k) || d.cdrom() {
				continue
			}
			if s := c.w.storage(storageOf(d.file)); s != nil && !s.feature("snapshot", d.file) {
				return failf("snapshot feature is not available")
			}
		}
		if err := c.w.write(g.Node, g.VMID, wk.task.PID); err != nil {
			return err
		}
		for _, k := range slices.Sorted(maps.Keys(g.Config)) {
			d := parseDrive(g.Config[k])
			if isDriveKey(k) && !d.cdrom() {
				wk.logf("snapshotting 'drive-%s' (%s)", k, d.file)
				c.w.logThin(wk, d, "snap_%[1]s_"+name, "created")
			}
		}
		conf := cloneMap(g.Config)
		delete(conf, "parent")
		delete(conf, "lock")
		for k := range conf {
			if strings.HasPrefix(k, "unused") {
				delete(conf, k)
			}
		}
		g.Snapshots = append(g.Snapshots, &Snapshot{Name: name, Parent: g.Config["parent"], Description: c.p["description"],
			Time: c.w.now, Config: conf})
		g.Config["parent"] = name
		return nil
	})
}

// logThin logs the output of LVM about a volume of a thin pool, whose snapshots are
// volumes too.
func (w *cluster) logThin(wk *worker, d drive, name, what string) {
	if s := w.storage(storageOf(d.file)); s != nil && s.Type == "lvmthin" {
		wk.logf("  Logical volume \"%s\" %s.", fmt.Sprintf(name, plain(d.file)), what)
	}
}

func snapshotRollback(c *call) (any, error) {
	name := c.p["snapname"]
	return c.snapshotWorker("qmrollback", func(wk *worker, g *Guest) error {
		s := g.snapshot(name)
		if s == nil {
			return failf("snapshot '%s' does not exist", name)
		}
		if err := c.w.write(g.Node, g.VMID, wk.task.PID); err != nil {
			return err
		}
		if g.Running {
			c.w.power(g, false)
		}
		g.Config = cloneMap(s.Config)
		g.Config["parent"] = name
		if g.Config["vmgenid"] != "" { // tells the guest that it is another generation
			g.Config["vmgenid"] = c.w.uuid()
		}
		for _, k := range slices.Sorted(maps.Keys(g.Config)) {
			d := parseDrive(g.Config[k])
			if v := c.w.volumeOn(g.Node, d.file); isDriveKey(k) && v != nil && d.size() > 0 {
				v.Size = Size(d.size())
				if !d.cdrom() {
					c.w.logThin(wk, d, "%[1]s", "successfully removed")
					c.w.logThin(wk, d, "%[1]s", "created")
				}
			}
		}
		return nil
	})
}

func snapshotDelete(c *call) (any, error) {
	name := c.p["snapname"]
	return c.snapshotWorker("qmdelsnapshot", func(wk *worker, g *Guest) error {
		s := g.snapshot(name)
		if s == nil {
			return failf("snapshot '%s' does not exist", name)
		}
		if err := c.w.write(g.Node, g.VMID, wk.task.PID); err != nil {
			return err
		}
		for _, k := range slices.Sorted(maps.Keys(s.Config)) {
			if d := parseDrive(s.Config[k]); isDriveKey(k) && !d.cdrom() {
				c.w.logThin(wk, d, "snap_%[1]s_"+name, "successfully removed")
			}
		}
		for i, x := range g.Snapshots {
			if x == s {
				g.Snapshots = append(g.Snapshots[:i], g.Snapshots[i+1:]...)
				break
			}
		}
		for _, x := range g.Snapshots {
			if x.Parent == name {
				x.Parent = s.Parent
			}
		}
		if g.Config["parent"] == name {
			delete(g.Config, "parent")
			if s.Parent != "" {
				g.Config["parent"] = s.Parent
			}
		}
		return nil
	})
}
