package pvesim

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"stackgen/internal/pvesim/schema"
)

func qemuResize(c *call) (any, error) {
	vmid := c.vmid()
	key, spec := c.p["disk"], c.p["size"]
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		return pause{d: 100 * time.Millisecond, main: true}, c.resize(wk, key, spec)
	}}
	return c.w.fork(c.node, "resize", itoa(vmid), c.who, wk), nil
}

func (c *call) resize(wk *worker, key, spec string) error {
	g, err := c.guest()
	if err != nil {
		return err
	}
	if err := c.checkDigest(g); err != nil {
		return err
	}
	if err := g.locked(); err != nil {
		return err
	}
	line, ok := g.Config[key]
	if !ok {
		return failf("disk '%s' does not exist", key)
	}
	d := parseDrive(line)
	if d.cdrom() {
		return failf("you can't resize a cdrom")
	}
	if err := c.w.require(c.who, "/storage/"+storageOf(d.file), "Datastore.AllocateSpace"); err != nil {
		return err
	}
	v := c.w.volumeOn(g.Node, d.file)
	if v == nil {
		return failf("disk '%s' has no attached volume", key)
	}
	size, err := v.grown(spec)
	if err != nil || size == int64(v.Size) {
		return err
	}
	s := c.w.storage(storageOf(v.ID))
	if s.Type == "lvm" {
		if err := c.w.checkSpace(g.Node, s, plain(v.ID), size-int64(v.Size)); err != nil {
			return err
		}
	}
	if s.fileBased() && strings.HasPrefix(path.Base(plain(v.ID)), "base-") { // the file is immutable
		wk.logf("qemu-img: Could not open '%s': Could not open '%s': Operation not permitted", s.filePath(v.ID), s.filePath(v.ID))
		return failf("command '/usr/bin/qemu-img resize -f %s %s %d' failed: exit code 1", v.Format, s.filePath(v.ID), size)
	}
	v.Size = Size(size)
	if s.fileBased() && v.Format == "qcow2" || s.fileBased() && v.Format == "raw" {
		wk.log("Image resized.")
	}
	if err := c.w.write(g.Node, g.VMID, wk.task.PID); err != nil {
		return err
	}
	d.opts["size"] = formatSize(size)
	g.Config[key] = d.String()
	return nil
}

// grown returns the size of a volume after a resize: the given one, or after a plus
// sign what is added.
func (v *Volume) grown(spec string) (int64, error) {
	text, relative := strings.CutPrefix(spec, "+")
	size, err := parseSize(text)
	if err != nil {
		return 0, failf("unable to parse size '%s'", spec)
	}
	if relative {
		size += int64(v.Size)
	}
	if size < int64(v.Size) {
		return 0, failf("shrinking disks is not supported")
	}
	return size, nil
}

func qemuUnlink(c *call) (any, error) {
	delete(c.p, "idlist")
	ids := c.raw("idlist")
	for _, k := range schema.SplitList(ids) {
		if !isDriveKey(k) && !strings.HasPrefix(k, "unused") {
			return nil, badParam("idlist", "invalid disk ID")
		}
	}
	c.p["delete"] = ids
	return qemuUpdate(c, true)
}

func qemuMoveDisk(c *call) (any, error) {
	key, storage, target := c.p["disk"], c.p["storage"], c.p["target-vmid"]
	switch {
	case storage != "" && target != "":
		why := "either set 'storage' or 'target-vmid', but not both"
		return nil, badParams(map[string]string{"storage": why, "target-vmid": why})
	case target != "":
		return c.reassignDisk(key)
	case storage == "":
		why := "both 'storage' and 'target-vmid' missing, either needs to be set"
		return nil, badParams(map[string]string{"storage": why, "target-vmid": why})
	}
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	dst, err := c.w.checkStorage(storage, c.node)
	if err != nil {
		return nil, err
	}
	if err := c.w.require(c.who, "/storage/"+storage, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	if err := dst.checkImages(); err != nil {
		return nil, err
	}
	if err := c.checkDigest(g); err != nil {
		return nil, err
	}
	if err := g.locked(); err != nil {
		return nil, err
	}
	line, ok := g.Config[key]
	if !ok {
		return nil, failf("disk '%s' does not exist", key)
	}
	d := parseDrive(line)
	if d.cdrom() && !d.cloudinit() {
		return nil, failf("you can't move a cdrom")
	}
	src := c.w.volumeOn(c.node, d.file)
	if src == nil {
		return nil, failf("disk '%s' has no associated volume", key)
	}
	format := "raw"
	if dst.fileBased() {
		format = cmp.Or(c.p["format"], src.Format)
	}
	if storageOf(d.file) == storage && (c.p["format"] == "" || src.Format == format) {
		return nil, failf("you can't move to the same storage with same format")
	}
	inSnapshot := func(s *Snapshot) bool { return parseDrive(s.Config[key]).file == d.file }
	if c.flag("delete") && slices.ContainsFunc(g.Snapshots, inSnapshot) {
		return nil, failf("you can't move a disk with snapshots and delete the source")
	}
	return c.w.fork(c.node, "qmmove", itoa(g.VMID), c.who, c.moveWorker(g, key, d, src, dst, format)), nil
}

func (c *call) moveWorker(g *Guest, key string, d drive, src *Volume, dst *Storage, format string) *worker {
	w := c.w
	var v *Volume
	wk := &worker{lock: g.VMID, wait: lockWait, cancel: "storage migration failed: interrupted by signal", copyLines: true}
	wk.undo = func() {
		if v != nil {
			w.removeVolume(v)
		}
	}
	wk.steps = []step{func() (pause, error) {
		wk.logf("create full clone of drive %s (%s)", key, d.file)
		var lines []string
		var err error
		name := w.freeDiskName(dst, g.Node, g.VMID)
		if d.cloudinit() {
			name = fmt.Sprintf("vm-%d-cloudinit", g.VMID)
		}
		v, lines, err = w.alloc(g.Node, dst, g.VMID, name, format, int64(src.Size))
		if err != nil {
			return pause{}, fmt.Errorf("storage migration failed: %w", err)
		}
		wk.logOutput(lines...)
		if d.cloudinit() { // the next start writes it
			return pause{main: true}, nil
		}
		wk.logf("transferred 0.0 B of %s (0.00%%)", humanSize(int64(src.Size)))
		return pause{copy: &transfer{storage: dst.ID, total: float64(src.Size), limit: c.bandwidth()}, main: true}, nil
	}, func() (pause, error) {
		if size := humanSize(int64(src.Size)); !d.cloudinit() {
			wk.logf("transferred %s of %s (100.00%%)", size, size)
		}
		if err := w.write(g.Node, g.VMID, wk.task.PID); err != nil {
			return pause{}, err
		}
		out := drive{file: v.ID, opts: cloneMap(d.opts)}
		out.opts["size"] = formatSize(int64(v.Size))
		delete(out.opts, "format") // of the volume that it had
		g.Config[key] = out.String()
		if c.flag("delete") {
			w.removeVolume(src)
		} else {
			w.registerUnused(g, d)
		}
		return pause{}, nil
	}}
	return wk
}

func qemuTemplate(c *call) (any, error) {
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	g, err := c.unlockedGuest()
	if err != nil {
		return nil, err
	}
	if len(g.Snapshots) > 0 {
		return nil, failf("unable to create template, because VM contains snapshots")
	}
	if g.template() && c.p["disk"] == "" {
		return nil, failf("you can't convert a template to a template")
	}
	if g.Running {
		return nil, failf("you can't convert a VM to template if VM is running")
	}
	wk := &worker{lock: g.VMID, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		if err := c.w.write(g.Node, g.VMID, wk.task.PID); err != nil {
			return pause{}, err
		}
		g.Config["template"] = "1"
		for _, k := range snapshotDisks(g.Config) {
			wk.logOutput(c.w.makeBase(g, k))
		}
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	return c.w.fork(c.node, "qmtemplate", itoa(g.VMID), c.who, wk), nil
}

// makeBase renames a disk to a base image, if the storage type has them, and
// returns the output of the tool.
func (w *cluster) makeBase(g *Guest, key string) string {
	d := parseDrive(g.Config[key])
	v := w.volumeOn(g.Node, d.file)
	s := w.storage(storageOf(d.file))
	if v == nil || s == nil || !s.feature("template", v.ID) {
		return ""
	}
	dir, name := path.Split(v.ID) // of a linked clone, with the base that it keeps
	if dir == "" {
		dir, name = s.ID+":", plain(v.ID)
	}
	base := strings.Replace(name, "vm-", "base-", 1)
	v.ID = dir + base
	d.file = v.ID
	g.Config[key] = d.String()
	if s.Type == "lvmthin" {
		return fmt.Sprintf("  Renamed \"%s\" to \"%s\" in volume group \"%s\"", name, base, s.VG)
	}
	return ""
}
