package pvesim

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// storageLock waits for the lock of a storage, which creates one volume at a
// time.
func (w *cluster) storageLock(s *Storage) pause {
	if w.lockedUntil == nil {
		w.lockedUntil = map[string]time.Time{}
	}
	at := w.lockedUntil[s.ID]
	if at.Before(w.now) {
		at = w.now
	}
	w.lockedUntil[s.ID] = at.Add(allocTime)
	return pause{d: at.Sub(w.now)}
}

func (j *cloneJob) dest(d drive) *Storage {
	if j.storage != "" {
		return j.c.w.storage(j.storage)
	}
	return j.c.w.storage(storageOf(d.file))
}

func (j *cloneJob) volume(d drive, full bool) (*Volume, error) {
	w := j.c.w
	src := w.volumeOn(j.c.node, d.file)
	if src == nil {
		return nil, failf("volume '%s' does not exist", d.file)
	}
	s := j.dest(d)
	if !full {
		return j.link(s, src)
	}
	format := "raw"
	if s.fileBased() {
		format = cmp.Or(j.format, src.Format)
	}
	name := w.freeDiskName(s, j.c.node, j.newid)
	if d.cloudinit() {
		name = fmt.Sprintf("vm-%d-cloudinit", j.newid)
	}
	v, lines, err := w.alloc(j.c.node, s, j.newid, name, format, int64(src.Size))
	if err != nil {
		return nil, err
	}
	j.wk.logOutput(lines...)
	return v, nil
}

// link creates a volume that references the base volume.
func (j *cloneJob) link(s *Storage, src *Volume) (*Volume, error) {
	w := j.c.w
	name := w.freeDiskName(s, j.c.node, j.newid)
	v := &Volume{Node: j.c.node, VMID: j.newid, Size: src.Size, Format: "raw"}
	_, base, _ := strings.Cut(src.ID, ":")
	switch {
	case s.Type == "btrfs" && src.Format == "raw": // shares its blocks, and has no base
		v.ID = s.volumeID(j.newid, name, "raw")
	case s.fileBased():
		v.Format = "qcow2"
		v.ID = fmt.Sprintf("%s:%s/%d/%s.qcow2", s.ID, base, j.newid, name)
		v.Parent = "../" + base
		j.wk.logf("clone %s: images, %s.qcow2, %d to %s.qcow2 (base=../%s)", base, name, j.newid, name, base)
	case s.Type == "zfspool" || s.Type == "rbd":
		v.ID = s.ID + ":" + base + "/" + name
		v.Parent = base + "@__base__"
	default:
		v.ID = s.ID + ":" + name
	}
	w.addVolume(v)
	j.wk.logOutput(w.allocLine(s, v, v.Parent))
	return v, nil
}

func (j *cloneJob) cancelText(d drive, v *Volume) string {
	rate := ""
	if limit, ok := j.c.p["bwlimit"]; ok {
		rate = " -r " + limit + "K"
	}
	if name := j.c.p["snapname"]; name != "" {
		rate = " -l snapshot.name=" + name + rate
	}
	src, dst := j.c.w.storage(storageOf(d.file)), j.c.w.storage(storageOf(v.ID))
	return fmt.Sprintf("clone failed: copy failed: "+
		"command '/usr/bin/qemu-img convert -p -n%s -f %s -O %s %s zeroinit:%s' failed: interrupted by signal",
		rate, volumeFormat(d.file), v.Format, src.devicePath(d.file), dst.devicePath(v.ID))
}

// devicePath returns the path of a volume on its node.
func (s *Storage) devicePath(volid string) string {
	switch {
	case s.fileBased():
		return s.filePath(volid)
	case s.Type == "zfspool":
		return "/dev/zvol/" + s.Pool + "/" + plain(volid)
	}
	return "/dev/" + s.VG + "/" + plain(volid)
}
