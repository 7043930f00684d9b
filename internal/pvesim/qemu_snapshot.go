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
		o := object{"name": s.Name, "description": s.Description, "snaptime": s.Time.Unix()}
		if !g.container() {
			o["vmstate"] = flag(s.Config["vmstate"] != "")
		}
		if s.Parent != "" {
			o["parent"] = s.Parent
		}
		if v := s.Config["snapstate"]; v != "" {
			o["snapstate"] = v
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
	s, err := g.needSnapshot(c.p["snapname"])
	if err != nil {
		return nil, err
	}
	out := object{}
	for k, v := range s.section() {
		out[k] = c.s.typed(c.configPath(), k, masked(k, v))
	}
	return out, nil
}

// needSnapshot is like snapshot, with the error of the server.
func (g *Guest) needSnapshot(name string) (*Snapshot, error) {
	if s := g.snapshot(name); s != nil {
		return s, nil
	}
	return nil, failf("snapshot '%s' does not exist", name)
}

// snapshotDescribe changes the description of a snapshot.
func snapshotDescribe(c *call) (any, error) {
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	g, err := c.unlockedGuest()
	if err != nil {
		return nil, err
	}
	s, err := g.needSnapshot(c.p["snapname"])
	if err != nil {
		return nil, err
	}
	if err := c.w.write(g.Node, g.VMID, daemonPID); err != nil {
		return nil, err
	}
	if c.has("description") {
		s.Description = g.stored(c.p["description"])
	}
	return nil, nil
}

// snapshotJob is a change of snapshots. The guest has its lock from begin to end.
type snapshotJob struct {
	kind  string
	lock  string
	begin func(wk *worker, g *Guest) error // refuses the change before the lock is set
	end   func(wk *worker, g *Guest) error
}

func (c *call) snapshotWorker(job snapshotJob) (any, error) {
	vmid, node := c.vmid(), c.node
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g, err := c.guest()
		if err != nil {
			return pause{}, err
		}
		if err := job.begin(wk, g); err != nil {
			return pause{}, err
		}
		if err := c.w.write(g.Node, g.VMID, wk.task.PID); err != nil {
			return pause{}, err
		}
		g.Config["lock"] = job.lock
		return pause{d: 150 * time.Millisecond, main: true}, nil
	}, func() (pause, error) {
		g, err := c.guest()
		if err != nil {
			return pause{}, err
		}
		delete(g.Config, "lock")
		return pause{}, job.end(wk, g)
	}}
	return c.w.fork(node, job.kind, itoa(vmid), c.who, wk), nil
}

func snapshotCreate(c *call) (any, error) {
	name := c.p["snapname"]
	if c.reservedSnapshot(name) {
		return nil, failf("unable to use snapshot name '%s' (reserved name)", strings.ToLower(name))
	}
	if _, err := c.guest(); err != nil && !c.container() {
		return nil, err
	}
	var made *Snapshot
	return c.snapshotWorker(snapshotJob{kind: c.taskType("snapshot"), lock: "snapshot", begin: func(wk *worker, g *Guest) error {
		if err := c.w.snapshotPossible(g, name); err != nil {
			return err
		}
		if g.Running && g.agentEnabled() && !g.agentAnswers(c.w.now) && !c.flag("vmstate") {
			wk.logf("QEMU Guest Agent is not running - VM %d qmp command 'guest-ping' failed - got timeout", g.VMID)
		}
		made = &Snapshot{Name: name, Parent: g.Config["parent"], Description: g.stored(c.p["description"]),
			Time: c.w.now, Config: snapshotCopy(g.Config)}
		made.Config["snapstate"] = "prepare"
		if g.Running && c.flag("vmstate") {
			if err := c.w.saveState(wk, g, name, c.w.stateStorage(g), made.Config); err != nil {
				return err
			}
		}
		g.Snapshots = append(g.Snapshots, made)
		return nil
	}, end: func(wk *worker, g *Guest) error {
		if id := made.Config["vmstate"]; id != "" {
			wk.logf("saving VM state and RAM using storage '%s'\n0.00 B in 0s\ncompleted saving the VM state in 1s, saved 2.71 MiB", storageOf(id))
		}
		c.w.logSnapshot(wk, g, name)
		delete(made.Config, "snapstate")
		g.Config["parent"] = name
		return nil
	}})
}

// reservedSnapshot reports whether the server keeps the name of a snapshot for itself.
func (c *call) reservedSnapshot(name string) bool {
	if c.container() {
		return name == "current" || name == "vzdump"
	}
	return name == "current" || strings.EqualFold(name, "pending")
}

// logSnapshot logs the snapshots of a guest's disks.
func (w *cluster) logSnapshot(wk *worker, g *Guest, name string) {
	for _, k := range snapshotDisks(g.Config) {
		d := parseDrive(g.Config[k])
		if !g.container() {
			wk.logf("snapshotting 'drive-%s' (%s)", k, d.file)
		}
		w.logThin(wk, d, "snap_%[1]s_"+name, "created")
	}
}

// snapshotPossible returns the error of a snapshot that cannot be made.
func (w *cluster) snapshotPossible(g *Guest, name string) error {
	if g.template() {
		return failf("you can't take a snapshot if it's a template")
	}
	if err := g.locked(); err != nil {
		return err
	}
	if g.snapshot(name) != nil {
		return failf("snapshot name '%s' already used", name)
	}
	for _, k := range snapshotDisks(g.Config) {
		d := parseDrive(g.Config[k])
		s := w.storage(storageOf(d.file))
		if s == nil && g.container() || s != nil && !s.feature("snapshot", d.file) {
			return failf("snapshot feature is not available")
		}
	}
	return nil
}

// snapshotCopy returns what a snapshot has of a configuration, and what a rollback
// restores of a snapshot.
func snapshotCopy(conf map[string]string) map[string]string {
	out := cloneMap(conf)
	for _, k := range []string{"parent", "lock", "description", "vmstate", "snapstate"} {
		delete(out, k)
	}
	maps.DeleteFunc(out, func(k, _ string) bool { return strings.HasPrefix(k, "unused") })
	return out
}

// snapshotDisks returns the disks of a configuration that a snapshot has.
func snapshotDisks(conf map[string]string) []string {
	return slices.DeleteFunc(driveKeys(conf), func(k string) bool { return parseDrive(conf[k]).cdrom() })
}

// logThin logs the output of LVM about a volume of a thin pool, whose snapshots are
// volumes too.
func (w *cluster) logThin(wk *worker, d drive, name, what string) {
	if s := w.storage(storageOf(d.file)); s != nil && s.Type == "lvmthin" {
		wk.logf("  Logical volume \"%s\" %s.", fmt.Sprintf(name, plain(d.file)), what)
	}
}
