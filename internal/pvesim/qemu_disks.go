package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// makeDisk turns a drive line into the stored line. It creates a new volume or
// looks up an existing one, and returns the output of the tools.
func (w *cluster) makeDisk(g *Guest, key, value string, conf map[string]string) (string, []string, error) {
	d := parseDrive(value)
	if d.file == "none" || d.file == "cdrom" {
		d.opts["media"] = "cdrom"
		return d.String(), nil, nil
	}
	storeID := storageOf(d.file)
	s, err := w.checkStorage(storeID, g.Node)
	if err != nil {
		return "", nil, err
	}
	_, spec, _ := strings.Cut(d.file, ":")
	switch {
	case spec == "cloudinit":
		return w.makeCloudinit(g, key, d, s, conf)
	case newDiskSpec.MatchString(d.file):
		return w.makeVolume(g, key, value, d, s, conf)
	}
	v := w.volumeOn(g.Node, d.file)
	if v == nil {
		return "", nil, s.noVolume(d.file)
	}
	if f := d.opts["format"]; f != "" && f != v.Format {
		return "", nil, failf("drive '%s' - volume '%s' - 'format=%s' option different from storage format '%s'", key, d.file, f, v.Format)
	}
	d.opts["size"] = formatSize(int64(v.Size))
	return d.String(), nil, nil
}

// noVolume returns the error of a storage that does not have a volume.
func (s *Storage) noVolume(id string) error {
	if s != nil && (s.Type == "lvm" || s.Type == "lvmthin") {
		return failf("no such logical volume %s/%s", s.VG, plain(id))
	}
	return failf("volume '%s' does not exist", id)
}

// firmware returns an error if a node does not have the image of the firmware that a
// guest with an EFI disk needs.
func (w *cluster) firmware(node, efidisk string, conf map[string]string) error {
	if n := w.node(node); n == nil || !n.NoOVMF {
		return nil
	}
	image := "OVMF_CODE.fd"
	if parseDrive(efidisk).opts["efitype"] == "4m" {
		image = "OVMF_CODE_4M.fd"
		if strings.Contains(conf["machine"], "q35") {
			image = "OVMF_CODE_4M.secboot.fd"
		}
	}
	return failf("EFI base image '/usr/share/pve-edk2-firmware//%s' not found", image)
}

// noActive returns the error of a start whose volume is missing.
func (s *Storage) noActive(id string) error {
	if s != nil && (s.Type == "lvm" || s.Type == "lvmthin") {
		return failf("can't activate LV '/dev/%s/%s':   Failed to find logical volume \"%s/%s\"", s.VG, plain(id), s.VG, plain(id))
	}
	return failf("volume '%s' does not exist", id)
}

func (w *cluster) makeCloudinit(g *Guest, key string, d drive, s *Storage, conf map[string]string) (string, []string, error) {
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		if k != key && isDriveKey(k) && parseDrive(conf[k]).cloudinit() {
			return "", nil, failf("%s - cloud-init drive is already attached at '%s'", key, k)
		}
	}
	name, format := fmt.Sprintf("vm-%d-cloudinit", g.VMID), "raw"
	if s.fileBased() {
		format = cmp.Or(d.opts["format"], "qcow2")
	}
	d.file = s.volumeID(g.VMID, name, format)
	d.opts["media"] = "cdrom"
	delete(d.opts, "format")
	delete(d.opts, "size")
	if v := w.volumeOn(g.Node, d.file); v != nil {
		w.removeVolume(v)
	}
	_, lines, err := w.alloc(g.Node, s, g.VMID, name, format, 4*mib)
	if err != nil {
		return "", nil, err
	}
	lines = append(lines, fmt.Sprintf("%s: successfully created disk '%s'", key, d.String()))
	return d.String(), lines, nil
}

func (w *cluster) makeVolume(g *Guest, key, value string, d drive, s *Storage, conf map[string]string) (string, []string, error) {
	_, spec, _ := strings.Cut(d.file, ":")
	size, err := parseSize(spec + "G")
	if err != nil {
		return "", nil, failf("unable to parse size '%s'", spec)
	}
	switch key {
	case "efidisk0":
		if err := w.firmware(g.Node, value, conf); err != nil {
			return "", nil, err
		}
		size = 128 * kib // what the firmware's variables take
		if d.opts["efitype"] == "4m" {
			size = 528 * kib
		}
	case "tpmstate0":
		size = 4 * mib
	}
	v, lines, err := w.newVolume(g, key, d, s, size)
	if err != nil {
		return "", nil, failf("%s", err.Error())
	}
	delete(d.opts, "format")
	delete(d.opts, "import-from")
	d.file = v.ID
	d.opts["size"] = formatSize(int64(v.Size))
	lines = append(lines, fmt.Sprintf("%s: successfully created disk '%s'", key, d.String()))
	return d.String(), lines, nil
}

// newVolume makes a volume: an empty one, or a copy of an image.
func (w *cluster) newVolume(g *Guest, key string, d drive, s *Storage, size int64) (*Volume, []string, error) {
	if d.opts["import-from"] != "" {
		return w.importVolume(g, key, d, s, size)
	}
	return w.alloc(g.Node, s, g.VMID, w.freeDiskName(s, g.Node, g.VMID), d.opts["format"], size)
}

// ownVolume returns the volume of a drive if it belongs to the guest.
func (w *cluster) ownVolume(g *Guest, d drive) *Volume {
	v := w.volumeOn(g.Node, d.file)
	if v == nil || volumeOwner(v.ID, g.VMID) != g.VMID {
		return nil
	}
	return v
}

// registerUnused keeps a detached volume as unusedN.
func (w *cluster) registerUnused(g *Guest, d drive) {
	v := w.ownVolume(g, d)
	if v == nil {
		return
	}
	if d.cloudinit() {
		w.removeVolume(v)
		return
	}
	if !d.cdrom() && !attached(g.Config, d.file) {
		g.addUnused(d.file)
	}
}

// addUnused keeps a volume as the first free unusedN.
func (g *Guest) addUnused(volid string) {
	for i := 0; ; i++ {
		key := "unused" + itoa(i)
		switch v, taken := g.Config[key]; {
		case v == volid:
			return
		case !taken:
			g.Config[key] = volid
			return
		}
	}
}

// attached reports whether a configuration has a volume, as a disk or unused.
func attached(conf map[string]string, volid string) bool {
	for k, v := range conf {
		if (isDriveKey(k) || strings.HasPrefix(k, "unused")) && parseDrive(v).file == volid {
			return true
		}
	}
	return false
}

// stillUsed returns the error of removing a volume that another key or a snapshot has.
func (g *Guest) stillUsed(key, volid string) error {
	rest := cloneMap(g.Config)
	delete(rest, key)
	maps.DeleteFunc(rest, func(k, _ string) bool { return strings.HasPrefix(k, "unused") })
	used := attached(rest, volid)
	for _, s := range g.Snapshots {
		used = used || attached(s.Config, volid)
	}
	if used {
		return failf("unable to delete '%s' - volume is still in use (snapshot?)", volid)
	}
	return nil
}

// baseInUse reports whether a base volume has linked clones. On LVM-thin, which has
// no references between volumes, it has none.
func (w *cluster) baseInUse(v *Volume) bool {
	if !strings.HasPrefix(path.Base(plain(v.ID)), "base-") {
		return false
	}
	for _, x := range w.seed.Volumes {
		if x != v && (x.Node == v.Node) && x.Parent != "" && strings.HasPrefix(x.ID, v.ID+"/") {
			return true
		}
	}
	return false
}

// removeLine returns the output of removing a volume.
func (s *Storage) removeLine(v *Volume) string {
	if s.Type == "lvm" || s.Type == "lvmthin" {
		return fmt.Sprintf("  Logical volume \"%s\" successfully removed.", plain(v.ID))
	}
	return ""
}
