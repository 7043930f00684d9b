package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// lxcFeature reports whether the volumes of a container can be cloned, copied or snapshotted.
func lxcFeature(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	conf := g.Config
	if name := c.p["snapname"]; name != "" {
		s, err := g.needSnapshot(name)
		if err != nil {
			return nil, err
		}
		conf = s.Config
	}
	has := true
	for _, k := range driveKeys(conf) {
		file := parseDrive(conf[k]).file
		s := c.w.storage(storageOf(file))
		has = has && s != nil && s.containerFeature(c.p["feature"], file)
	}
	return object{"hasFeature": flag(has)}, nil
}

// containerFeature is like feature, for a volume of a container: its clones are raw images or
// subvolumes, which folders cannot link.
func (s *Storage) containerFeature(name, volid string) bool {
	if name == "clone" && s.fileBased() {
		return s.Type == "btrfs"
	}
	return s.feature(name, volid)
}

// containerClone is one clone of a container.
type containerClone struct {
	c    *call
	src  *Guest
	conf map[string]string // of the source, or of its snapshot
	full bool
	g    *Guest
	wk   *worker
}

// lxcClone clones a container. Its source is locked until the task ends.
func lxcClone(c *call) (any, error) {
	if err := c.cloneTarget(); err != nil {
		return nil, err
	}
	if err := c.w.checkQuorum(); err != nil {
		return nil, err
	}
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	src, err := c.unlockedGuest()
	if err != nil {
		return nil, err
	}
	newid := atoi(c.p["newid"])
	if old, taken := c.w.guests[newid]; taken {
		return nil, old.taken()
	}
	j := &containerClone{c: c, src: src, conf: src.Config}
	if err := j.check(); err != nil {
		return nil, err
	}
	src.Config["lock"] = "disk"
	j.g = c.w.newGuest(newid, c.node, "create")
	j.g.Type = "lxc"
	j.copyOptions()
	j.wk = &worker{undo: func() {
		c.w.unlock("disk", []int{src.VMID})
		c.w.dropGuest(j.g)
	}}
	j.wk.steps = j.steps()
	return c.w.fork(c.node, "vzclone", itoa(src.VMID), c.who, j.wk), nil
}

// cloneTarget checks the pool, the node and the storage of a clone.
func (c *call) cloneTarget() error {
	w, pool, target, storage := c.w, c.p["pool"], c.p["target"], c.p["storage"]
	if pool != "" && w.pool(pool) == nil {
		return denied("pool '%s' does not exist", pool)
	}
	if target != "" && w.node(target) == nil {
		return failf("no such cluster node '%s'", target)
	}
	if storage == "" {
		return nil
	}
	s, err := w.checkStorage(storage, c.node)
	if err != nil || target == "" || target == c.node {
		return err
	}
	if _, err := w.checkStorage(storage, target); err != nil {
		return err
	}
	if !s.Shared {
		return failf("can't clone to non-shared storage '%s'", storage)
	}
	return nil
}

// check returns the errors that a clone finds before its worker starts, in the order of the
// genuine server.
func (j *containerClone) check() error {
	c := j.c
	j.full = !j.src.template()
	if c.has("full") {
		j.full = c.flag("full")
	}
	if c.has("storage") && !j.full {
		return failf("parameter 'storage' not allowed for linked clones")
	}
	if name := c.p["snapname"]; name != "" {
		s, err := j.src.needSnapshot(name)
		if err != nil {
			return err
		}
		j.conf = s.section()
	}
	shared := true
	for _, k := range slices.Sorted(maps.Keys(j.conf)) {
		switch {
		case isDriveKey(k):
			s, err := j.volumeCheck(k)
			if err != nil {
				return err
			}
			shared = shared && s.Shared
		case netKey.MatchString(k):
			if err := c.checkBridges(map[string]string{k: j.conf[k]}); err != nil {
				return err
			}
		}
	}
	if t := c.p["target"]; t != "" && t != c.node && !shared {
		return failf("can't clone CT to node '%s' (CT uses local storage)", t)
	}
	return nil
}

// volumeCheck checks one mount point, and returns the storage of its clone.
func (j *containerClone) volumeCheck(k string) (*Storage, error) {
	c, file := j.c, parseDrive(j.conf[k]).file
	if kind := mountType(file); kind != "volume" {
		return nil, failf("unable to clone mountpoint '%s' (type %s)", k, kind)
	}
	id := cmp.Or(c.p["storage"], storageOf(file))
	s := c.w.storage(id)
	if s == nil {
		return nil, failf("storage '%s' does not exist", id)
	}
	if err := c.w.require(c.who, "/storage/"+id, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	switch {
	case j.full && j.src.Running && c.p["snapname"] == "":
		return nil, failf("Cannot do full clones on a running container without snapshots")
	case !j.full && !s.containerFeature("clone", file):
		return nil, failf("Linked clone feature for '%s' is not available", file)
	}
	return s, nil
}

// copyOptions copies the options of the source, with new MAC addresses.
func (j *containerClone) copyOptions() {
	c, conf := j.c, j.g.Config
	for _, k := range slices.Sorted(maps.Keys(j.conf)) {
		switch v := j.conf[k]; {
		case isDriveKey(k), isIndexed(k, "unused"):
		case k == "parent", k == "snaptime", k == "snapstate", k == "template", k == "lock":
		case netKey.MatchString(k):
			n := parseDrive(v).opts
			delete(n, "hwaddr")
			conf[k] = c.w.containerNIC(strings.TrimPrefix(withFirst("name", n), ","))
		default:
			conf[k] = v
		}
	}
	if name := c.p["hostname"]; name != "" {
		conf["hostname"] = name
	}
	if d := c.p["description"]; d != "" {
		conf["description"] = j.g.stored(d)
	}
}

func (j *containerClone) steps() []step {
	c := j.c
	running := j.src.Running
	steps := []step{func() (pause, error) {
		if j.src.Running != running {
			return pause{}, failf("unexpected state change")
		}
		return pause{}, nil
	}}
	for _, k := range mountOrder(j.conf) {
		d := parseDrive(j.conf[k])
		done := func(v *Volume) {
			d.file, d.opts["size"] = v.ID, formatSize(int64(v.Size))
			j.g.Config[k] = d.String()
		}
		if j.full {
			steps = append(steps, j.copy(k, d, done)...)
			continue
		}
		steps = append(steps, func() (pause, error) {
			j.wk.logf("create linked clone of mount point %s (%s)", k, d.file)
			v, err := j.link(d)
			if err != nil {
				return pause{}, fmt.Errorf("clone failed: %w", err)
			}
			done(v)
			return pause{d: allocTime, main: true}, nil
		})
	}
	return append(steps, func() (pause, error) {
		if pool := c.p["pool"]; pool != "" {
			c.w.join(pool, j.g.VMID)
		}
		delete(j.src.Config, "lock")
		delete(j.g.Config, "lock")
		if t := c.p["target"]; t != "" {
			j.g.Node = t
		}
		return pause{}, nil
	})
}

// copy copies the files of one mount point.
func (j *containerClone) copy(k string, d drive, done func(*Volume)) []step {
	c, old := j.c, d.file
	begin := func() (pause, error) {
		j.wk.logf("create full clone of mountpoint %s (%s)", k, old)
		return pause{}, nil
	}
	src := c.w.volumeOn(c.node, old)
	if src == nil {
		return []step{begin, func() (pause, error) {
			return pause{}, failf("clone failed: volume '%s' does not exist", old)
		}}
	}
	steps := []step{begin}
	for _, do := range c.copySteps(j.wk, j.g, src, cmp.Or(c.p["storage"], storageOf(old)), done) {
		steps = append(steps, func() (pause, error) {
			p, err := do()
			if err != nil {
				err = fmt.Errorf("clone failed: %w", err)
			}
			return p, err
		})
	}
	return steps
}

// link makes a volume that shares the contents of another one.
func (j *containerClone) link(d drive) (*Volume, error) {
	w := j.c.w
	src, s := w.volumeOn(j.c.node, d.file), w.storage(storageOf(d.file))
	if src == nil {
		return nil, failf("volume '%s' does not exist", d.file)
	}
	name := w.freeDiskName(s, j.c.node, j.g.VMID)
	if src.Format == "subvol" {
		name = strings.Replace(name, "vm-", "subvol-", 1)
	}
	v := &Volume{Node: j.c.node, VMID: j.g.VMID, Size: src.Size, FS: src.FS, Format: src.Format, ID: s.volumeID(j.g.VMID, name, src.Format)}
	if s.Type == "zfspool" {
		v.ID = s.ID + ":" + plain(src.ID) + "/" + name
		v.Parent = plain(src.ID) + "@__base__"
	}
	w.addVolume(v)
	j.wk.logOutput(w.allocLineOfLink(s, v))
	return v, nil
}

// allocLineOfLink returns the output of the storage's tool for a volume that shares contents.
func (w *cluster) allocLineOfLink(s *Storage, v *Volume) string {
	if s.fileBased() {
		return ""
	}
	return w.allocLine(s, v, v.Parent)
}

// lxcTemplate makes a container a template. The call returns nothing.
func lxcTemplate(c *call) (any, error) {
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	g, err := c.unlockedGuest()
	if err != nil {
		return nil, err
	}
	switch {
	case len(g.Snapshots) > 0:
		return nil, failf("unable to create template, because CT contains snapshots")
	case g.template():
		return nil, failf("you can't convert a template to a template")
	case g.Running:
		return nil, failf("you can't convert a CT to template if the CT is running")
	}
	wk := &worker{}
	wk.steps = []step{func() (pause, error) {
		if err := c.w.write(g.Node, g.VMID, wk.task.PID); err != nil {
			return pause{}, err
		}
		for _, k := range driveKeys(g.Config) {
			file := parseDrive(g.Config[k]).file
			if s := c.w.storage(storageOf(file)); s == nil || !s.feature("template", file) {
				return pause{}, failf("Template feature is not available for '%s'", file)
			}
		}
		for _, k := range driveKeys(g.Config) {
			wk.logOutput(c.w.makeBase(g, k))
		}
		g.Config["template"] = "1"
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	c.w.fork(c.node, "vztemplate", itoa(g.VMID), c.who, wk)
	return nil, nil
}
