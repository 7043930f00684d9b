package pvesim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// makeMountPoint turns the line of a mount point into the stored line. It creates a new volume,
// and returns the output of the tools.
func (w *cluster) makeMountPoint(g *Guest, value string) (string, []string, error) {
	d := parseDrive(value)
	if mountType(d.file) != "volume" {
		return d.String(), nil, nil
	}
	s, err := w.checkStorage(storageOf(d.file), g.Node)
	if err != nil {
		return "", nil, err
	}
	if !newVolume.MatchString(d.file) {
		v := w.volumeOn(g.Node, d.file)
		if v == nil {
			return "", nil, s.noVolume(d.file)
		}
		d.opts["size"] = formatSize(int64(v.Size))
		return d.String(), nil, nil
	}
	_, spec, _ := strings.Cut(d.file, ":")
	size, perr := parseSize(spec + "G")
	if perr != nil {
		return "", nil, failf("unable to parse size '%s'", spec)
	}
	v, log, err := w.allocContainer(g, s, size)
	if err != nil {
		return "", nil, err
	}
	d.file, d.opts["size"] = v.ID, formatSize(size)
	return d.String(), log, nil
}

// allocContainer creates a volume of a container: a file system in an image, or a subvolume.
func (w *cluster) allocContainer(g *Guest, s *Storage, size int64) (*Volume, []string, error) {
	if !s.allowsContent("rootdir") {
		return nil, nil, failf("content type 'rootdir' is not available or configured on storage '%s'", s.ID)
	}
	name := w.freeDiskName(s, g.Node, g.VMID)
	if s.Type == "zfspool" || s.fileBased() && size == 0 {
		v := &Volume{ID: s.ID + ":" + strings.Replace(name, "vm-", "subvol-", 1), Node: g.Node, VMID: g.VMID, Size: Size(size), Format: "subvol"}
		if s.fileBased() {
			v.ID = s.volumeID(g.VMID, strings.Replace(name, "vm-", "subvol-", 1), "subvol")
		}
		return w.addVolume(v), nil, w.checkSpace(g.Node, s, name, size)
	}
	v, log, err := w.alloc(g.Node, s, g.VMID, name, "raw", size)
	if err != nil {
		return nil, nil, err
	}
	return v, append(log, mkfsLines(int64(v.Size), w.uuid())...), nil
}

// rootSize returns the size of the root file system of a container: of its volume, or what the
// file system has if it runs.
func (w *cluster) rootSize(g *Guest) int64 {
	d := parseDrive(g.Config["rootfs"])
	v := w.volumeOn(g.Node, d.file)
	switch {
	case g.Running && v != nil && v.Format == "raw":
		size := int64(v.Size)
		if v.FS > 0 {
			size = int64(v.FS)
		}
		return ext4Total(size)
	case d.size() == 0:
		return 4 * gib
	}
	return d.size()
}

// mountPoint returns the volume of a mount point of a container, with the error of a server that
// parses its line.
func (c *call) mountPoint(g *Guest, key string) (drive, *Volume, error) {
	line, ok := g.Config[key]
	if !ok {
		missing := map[string]string{"volume": "property is missing and it is not optional"}
		if key != "rootfs" {
			missing["mp"] = missing["volume"]
		}
		e := failf("format error")
		e.fields = missing
		return drive{}, nil, e
	}
	d := parseDrive(line)
	v := c.w.volumeOn(g.Node, d.file)
	if v == nil {
		return d, nil, failf("volume '%s' does not exist", d.file)
	}
	return d, v, nil
}

// growth checks a resize of a mount point of a container, and returns its new size.
func (c *call) growth() (*Guest, drive, *Volume, int64, error) {
	none := func(err error) (*Guest, drive, *Volume, int64, error) { return nil, drive{}, nil, 0, err }
	g, err := c.unlockedGuest()
	if err != nil {
		return none(err)
	}
	o := containerOptions{c: c, vmid: g.VMID, old: g.Config}
	if err := o.check(map[string]string{"disk": c.p["disk"]}, nil); err != nil {
		return none(err)
	}
	if err := c.checkDigest(g); err != nil {
		return none(err)
	}
	d, v, err := c.mountPoint(g, c.p["disk"])
	if err != nil {
		return none(err)
	}
	if err := c.w.require(c.who, "/storage/"+storageOf(d.file), "Datastore.AllocateSpace"); err != nil {
		return none(err)
	}
	text, relative := strings.CutPrefix(c.p["size"], "+")
	size, perr := parseSize(text)
	if perr != nil {
		return none(failf("invalid size string"))
	}
	if relative {
		size += int64(v.Size)
	}
	switch {
	case size < int64(v.Size):
		return none(failf("unable to shrink disk size"))
	case size == int64(v.Size):
		return none(failf("disk is already at specified size"))
	}
	return g, d, v, size, nil
}

// lxcResize grows a volume of a container, and its file system.
func lxcResize(c *call) (any, error) {
	if _, _, _, _, err := c.growth(); err != nil {
		return nil, err
	}
	wk := &worker{lock: c.vmid(), wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g, d, v, size, err := c.growth()
		if err != nil {
			return pause{}, err
		}
		if s := c.w.storage(storageOf(v.ID)); s.Type == "lvm" {
			if err := c.w.checkSpace(g.Node, s, plain(v.ID), size-int64(v.Size)); err != nil {
				return pause{}, err
			}
		}
		if err := c.w.write(g.Node, g.VMID, wk.task.PID); err != nil {
			return pause{}, err
		}
		c.w.growFileSystem(wk, g, v, size)
		d.opts["size"] = formatSize(size)
		g.Config[c.p["disk"]] = d.String()
		return pause{d: 200 * time.Millisecond, main: true}, nil
	}}
	return c.w.fork(c.node, "resize", itoa(c.vmid()), c.who, wk), nil
}

// resizer is the version of the tools of the file system.
const resizer = "1.47.0 (5-Feb-2023)"

// growFileSystem sets the size of a volume, and of the file system in it as far as the node lets
// a mounted one grow.
func (w *cluster) growFileSystem(wk *worker, g *Guest, v *Volume, size int64) {
	old := int64(v.Size)
	if v.FS > 0 {
		old = int64(v.FS)
	}
	v.Size = Size(size)
	if v.Format != "raw" {
		return
	}
	s := w.storage(storageOf(v.ID))
	dev := s.devicePath(v.ID)
	if s.fileBased() {
		wk.log("Image resized.")
	}
	if g.Running {
		if s.fileBased() {
			dev = "/dev/loop1"
		}
		wk.log("resize2fs " + resizer)
		lines := []string{fmt.Sprintf("Filesystem at %s is mounted on /tmp; on-line resizing required", dev),
			fmt.Sprintf("old_desc_blocks = %d, new_desc_blocks = %d", descBlocks(old), descBlocks(size))}
		if w.node(g.Node).NoGrow {
			wk.log("resize2fs: Permission denied to resize filesystem")
			wk.log(strings.Join(lines, "\n"))
			wk.logf("Failed to update the container's filesystem: command 'unshare -m -- sh -c "+
				"'mount --make-rprivate / && mount %s /tmp && resize2fs %s'' failed: exit code 1\n", dev, dev)
			v.FS = Size(old)
			return
		}
		v.FS = 0
		wk.log(strings.Join(lines, "\n"))
		wk.logf("The filesystem on %s is now %d (4k) blocks long.\n", dev, size/blockSize)
		return
	}
	v.FS = 0
	wk.log("e2fsck " + resizer + "\nPass 1: Checking inodes, blocks, and sizes\nPass 2: Checking directory structure\n" +
		"Pass 3: Checking directory connectivity\nPass 4: Checking reference counts\nPass 5: Checking group summary information")
	wk.logf("%s: 334/%d files (0.0%% non-contiguous), %d/%d blocks", dev, ext4Inodes(old), (old-ext4Total(old))/blockSize+538, old/blockSize)
	wk.logf("resize2fs %s\nResizing the filesystem on %s to %d (4k) blocks.", resizer, dev, size/blockSize)
	wk.logf("The filesystem on %s is now %d (4k) blocks long.\n", dev, size/blockSize)
}

// descBlocks returns the blocks of the descriptors of a file system's groups.
func descBlocks(size int64) int64 {
	groups, _ := ext4Groups(size)
	return (groups + 63) / 64
}

// lxcMoveVolume moves a volume of a stopped container to another storage.
func lxcMoveVolume(c *call) (any, error) {
	key, storage, target := c.p["volume"], c.p["storage"], c.p["target-vmid"]
	switch {
	case storage != "" && target != "":
		return nil, failf("either set storage or target-vmid, but not both")
	case target != "":
		return c.reassignVolume(key)
	case storage == "":
		why := "both 'storage' and 'target-vmid' missing, either needs to be set"
		return nil, badParams(map[string]string{"storage": why, "target-vmid": why})
	}
	if err := c.w.require(c.who, "/storage/"+storage, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	g, err := c.unlockedGuest()
	if err != nil {
		return nil, err
	}
	if g.Running {
		return nil, failf("cannot move volumes of a running container")
	}
	if isIndexed(key, "unused") {
		return nil, failf("cannot move volume '%s', only configured volumes can be moved to another storage", key)
	}
	d, src, err := c.mountPoint(g, key)
	if err != nil {
		return nil, err
	}
	if c.flag("delete") && g.inSnapshots(d.file) {
		return nil, failf("you can't move a volume with snapshots and delete the source")
	}
	if err := c.checkDigest(g); err != nil {
		return nil, err
	}
	g.Config["lock"] = "disk"
	wk := &worker{undo: func() { c.w.unlock("disk", []int{g.VMID}) }}
	wk.steps = c.copySteps(wk, g, src, storage, func(v *Volume) {
		d.file = v.ID
		d.opts["size"] = formatSize(int64(v.Size))
		g.Config[key] = d.String()
		if c.flag("delete") {
			c.w.removeVolume(src)
			wk.logOutput(c.w.storage(storageOf(src.ID)).removeLine(src))
		} else {
			g.addUnused(src.ID)
		}
		if g.template() {
			wk.logOutput(c.w.makeBase(g, key))
		}
		delete(g.Config, "lock")
	})
	return c.w.fork(c.node, "move_volume", itoa(g.VMID), c.who, wk), nil
}

// inSnapshots reports whether a snapshot has a volume.
func (g *Guest) inSnapshots(volid string) bool {
	return slices.ContainsFunc(g.Snapshots, func(s *Snapshot) bool { return attached(s.Config, volid) })
}

// copySteps copies a volume to one that a container gets on a storage: first the file system, then
// its files.
func (c *call) copySteps(wk *worker, g *Guest, src *Volume, storage string, done func(*Volume)) []step {
	var v *Volume
	undo := wk.undo
	wk.undo = func() {
		if v != nil {
			c.w.removeVolume(v)
		}
		undo()
	}
	return []step{func() (pause, error) {
		s, err := c.w.checkStorage(storage, g.Node)
		if err != nil {
			return pause{}, err
		}
		var log []string
		if v, log, err = c.w.allocContainer(g, s, int64(src.Size)); err != nil {
			return pause{}, err
		}
		wk.logOutput(log...)
		return pause{copy: &transfer{storage: s.ID, total: float64(src.Size), limit: c.bandwidth()}, main: true}, nil
	}, func() (pause, error) {
		logCopied(wk)
		done(v)
		v = nil
		return pause{}, nil
	}}
}

// logCopied logs what rsync says about the files of a container.
func logCopied(wk *worker) {
	wk.log(`
Number of files: 1,024 (reg: 512, dir: 128, link: 384)
Number of created files: 1,023 (reg: 512, dir: 127, link: 384)
Number of deleted files: 0
Number of regular files transferred: 512
Total file size: 524,288,000 bytes
Total transferred file size: 524,288,000 bytes
Literal data: 524,288,000 bytes
Matched data: 0 bytes
File list size: 32,768
File list generation time: 0.001 seconds
File list transfer time: 0.000 seconds
Total bytes sent: 524,416,000
Total bytes received: 10,240

sent 524,416,000 bytes  received 10,240 bytes  209,770,496.00 bytes/sec
total size is 524,288,000  speedup is 1.00`)
}

// reassignVolume moves a volume to another container of the node.
func (c *call) reassignVolume(key string) (any, error) {
	w, vmid, to := c.w, c.vmid(), atoi(c.p["target-vmid"])
	key2 := key
	if c.has("target-volume") {
		key2 = c.p["target-volume"]
	}
	if err := c.vmRight(to, "", "VM.Config.Disk"); err != nil {
		return nil, err
	}
	src, dst := w.guests[vmid], w.guests[to]
	var err error
	switch {
	case key == "rootfs" || key2 == "rootfs":
		err = failf("Cannot move to/from 'rootfs'")
	case isIndexed(key, "unused") && !isIndexed(key2, "unused"):
		err = failf("Moving an unused volume to a used one is not possible")
	case src == nil || !src.container():
		err = failf("could not find CT %d", vmid)
	case dst == nil || !dst.container():
		err = failf("could not find CT %d", to)
	case src.Node != dst.Node:
		err = failf("Both containers need to be on the same node (%s != %s)", src.Node, dst.Node)
	case src.locked() != nil:
		err = src.locked()
	case dst.locked() != nil:
		err = dst.locked()
	case src.template() || dst.template():
		err = failf("Can't move volumes from or to template CT")
	case src.Config[key] == "":
		err = failf("volume '%s' for container '%d' does not exist", key, vmid)
	case dst.Config[key2] != "":
		err = failf("Target volume key '%s' is already in use for container '%d'", key2, to)
	case src.inSnapshots(parseDrive(src.Config[key]).file):
		err = failf("Cannot move volume used by a snapshot to another container")
	case mountType(parseDrive(src.Config[key]).file) != "volume":
		err = failf("Cannot move a bindmount or device mount to another container")
	case src.Running && !isIndexed(key, "unused"):
		err = failf("Cannot move in-use volume while the source CT is running - detach or shutdown first")
	default:
		err = w.require(c.who, "/storage/"+storageOf(parseDrive(src.Config[key]).file), "Datastore.AllocateSpace")
	}
	if err != nil {
		return nil, err
	}
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		wk.logf("moving volume '%s' from container '%d' to '%d'", key, vmid, to)
		d := parseDrive(src.Config[key])
		if v := w.volumeOn(src.Node, d.file); v != nil {
			s := w.storage(storageOf(v.ID))
			v.ID, v.VMID = s.volumeID(to, w.freeDiskName(s, src.Node, to), v.Format), to
			d.file = v.ID
		}
		delete(src.Config, key)
		wk.logf("removing volume '%s' from container '%d' config", key, vmid)
		dst.Config[key2] = d.String()
		wk.logf("target container '%d' updated with '%s'", to, key2)
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	return w.fork(c.node, "move_volume", fmt.Sprintf("%d-%s>%d-%s", vmid, key, to, key2), c.who, wk), nil
}
