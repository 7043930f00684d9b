package pvesim

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// volumeOn returns the volume with an ID as a node sees it.
func (w *cluster) volumeOn(node, id string) *Volume {
	for _, v := range w.seed.Volumes {
		if v.ID == id && (v.Node == "" || v.Node == node) {
			return v
		}
	}
	return nil
}

func storageOf(volid string) string {
	s, _, _ := strings.Cut(volid, ":")
	return s
}

// plain returns the name of the volume without the base that it was cloned
// from.
func plain(volid string) string {
	_, name, _ := strings.Cut(volid, ":")
	parts := strings.Split(name, "/")
	if len(parts) == 4 {
		return strings.Join(parts[2:], "/")
	}
	if len(parts) == 2 && strings.HasPrefix(parts[0], "base-") {
		return parts[1]
	}
	return name
}

func (w *cluster) addVolume(v *Volume) *Volume {
	if s := w.storage(storageOf(v.ID)); s != nil && s.Shared {
		v.Node = ""
	}
	if v.Content == "" {
		v.Content = "images"
	}
	if v.Created.IsZero() {
		v.Created = w.now
	}
	w.seed.Volumes = append(w.seed.Volumes, v)
	return v
}

func (w *cluster) removeVolume(v *Volume) {
	for i, x := range w.seed.Volumes {
		if x == v {
			w.seed.Volumes = append(w.seed.Volumes[:i], w.seed.Volumes[i+1:]...)
			return
		}
	}
}

// ensureVolume adds the volume of a disk in the seed, if the seed does not list
// it.
func (w *cluster) ensureVolume(g *Guest, value string) {
	d := parseDrive(value)
	if d.file == "" || d.file == "none" || !strings.Contains(d.file, ":") || strings.Contains(d.file, ":iso/") {
		return
	}
	if w.storage(storageOf(d.file)) == nil || w.volumeOn(g.Node, d.file) != nil {
		return
	}
	size := 4 * mib
	if s, err := parseSize(d.opts["size"]); err == nil && d.opts["size"] != "" {
		size = s
	}
	w.addVolume(&Volume{ID: d.file, Node: g.Node, VMID: volumeOwner(d.file, g.VMID), Size: Size(size), Format: volumeFormat(d.file),
		Parent: parentOf(d.file)})
}

// parentOf returns the base in the ID of a linked volume, as storage contents
// show it.
func parentOf(volid string) string {
	_, name, _ := strings.Cut(volid, ":")
	parts := strings.Split(name, "/")
	switch {
	case len(parts) == 4:
		return "../" + parts[0] + "/" + parts[1]
	case len(parts) == 2 && strings.HasPrefix(parts[0], "base-"):
		return parts[0] + "@__base__"
	}
	return ""
}

func volumeOwner(volid string, fallback int) int {
	base := path.Base(plain(volid))
	if dir, _, in := strings.Cut(plain(volid), "/"); in {
		if n, err := strconv.Atoi(dir); err == nil {
			return n
		}
	}
	for _, prefix := range []string{"vm-", "base-", "subvol-"} {
		if rest, ok := strings.CutPrefix(base, prefix); ok {
			id, _, _ := strings.Cut(rest, "-")
			if n, err := strconv.Atoi(id); err == nil {
				return n
			}
		}
	}
	return fallback
}

func volumeFormat(volid string) string {
	switch ext := path.Ext(volid); ext {
	case ".qcow2", ".raw", ".vmdk", ".subvol":
		return ext[1:]
	}
	return "raw"
}

// fileBased reports whether a storage keeps images as files in a format of
// choice.
func (s *Storage) fileBased() bool {
	switch s.Type {
	case "dir", "nfs", "cifs", "btrfs", "glusterfs", "cephfs":
		return true
	}
	return false
}

func (s *Storage) onNode(node string) bool {
	if len(s.Nodes) == 0 {
		return true
	}
	return slices.Contains(s.Nodes, node)
}

func (s *Storage) imagePath() string {
	if s.Path == "" {
		return "/var/lib/vz"
	}
	return s.Path
}

// filePath returns the path of a file-based volume.
func (s *Storage) filePath(volid string) string {
	dirs := map[string]string{"iso": "template/iso", "vztmpl": "template/cache", "backup": "dump", "snippets": "snippets", "import": "import"}
	if dir, ok := dirs[volumeKind(volid)]; ok {
		return s.imagePath() + "/" + dir + "/" + path.Base(volid)
	}
	if name, ok := strings.CutSuffix(plain(volid), ".raw"); ok && s.Type == "btrfs" { // a subvolume with the image
		return s.imagePath() + "/images/" + name + "/disk.raw"
	}
	return s.imagePath() + "/images/" + plain(volid)
}

var (
	imageName  = regexp.MustCompile(`^((\d+/[^/\s]+/)?\d+/\S+|[^/\s]+|base-[^/\s]+/[^/\s]+)$`)
	fileName   = regexp.MustCompile(`^(iso|vztmpl|backup|snippets|import)/`)
	fileEnding = map[string]*regexp.Regexp{
		"iso":      regexp.MustCompile(`^iso/[^/]+\.(?i:iso|img)$`),
		"vztmpl":   regexp.MustCompile(`^vztmpl/[^/]+\.(?i:tar\.(gz|xz|zst|bz2))$`),
		"backup":   regexp.MustCompile(`^backup/[^/]+\.(tgz|(tar|vma)(\.(gz|lzo|zst|bz2))?)$`),
		"snippets": regexp.MustCompile(`^snippets/[^/]+$`),
		"import":   regexp.MustCompile(`^import/[ a-zA-Z0-9\-.+=_]+\.(ova/[ a-zA-Z0-9\-.+=_]+\.(qcow2|raw|vmdk)|ova|ovf|qcow2|raw|vmdk)$`),
	}
)

// volumeKind returns the content type in the name of a volume, or "" for a name that no
// volume has.
func volumeKind(volid string) string {
	_, name, _ := strings.Cut(volid, ":")
	if m := fileName.FindStringSubmatch(name); m != nil {
		if fileEnding[m[1]].MatchString(name) {
			return m[1]
		}
		return ""
	}
	if imageName.MatchString(name) {
		return "images"
	}
	return ""
}

// diskSize returns the size of the disk in an image.
func (v *Volume) diskSize() int64 { return int64(cmp.Or(v.Disk, v.Size)) }

// volumeID returns a new volume ID in the naming scheme of the storage.
func (s *Storage) volumeID(vmid int, name, format string) string {
	if s.fileBased() {
		return fmt.Sprintf("%s:%d/%s.%s", s.ID, vmid, name, format)
	}
	return s.ID + ":" + name
}

// freeDiskName returns the first unused vm-ID-disk-N.
func (w *cluster) freeDiskName(s *Storage, node string, vmid int) string {
	used := map[string]bool{}
	for _, v := range w.seed.Volumes {
		if storageOf(v.ID) == s.ID && (v.Node == "" || v.Node == node) {
			base := path.Base(plain(v.ID))
			base = strings.TrimSuffix(base, path.Ext(base))
			used[strings.Replace(base, "base-", "vm-", 1)] = true
		}
	}
	for n := 0; ; n++ {
		name := fmt.Sprintf("vm-%d-disk-%d", vmid, n)
		if !used[name] {
			return name
		}
	}
}

// alloc creates a volume and returns it with the output of the tool.
func (w *cluster) alloc(node string, s *Storage, vmid int, name, format string, size int64) (*Volume, []string, error) {
	if !s.fileBased() && format != "" && format != "raw" {
		return nil, nil, failf("unsupported format '%s' at /usr/share/perl5/PVE/Storage/%s line %d.", format, s.plugin(), 89)
	}
	format = cmp.Or(format, "raw")
	size = s.granted(size)
	if err := w.checkSpace(node, s, name, size); err != nil {
		return nil, nil, err
	}
	v := w.addVolume(&Volume{ID: s.volumeID(vmid, name, format), Node: node, VMID: vmid, Size: Size(size), Format: format})
	return v, []string{w.allocLine(s, v, "")}, nil
}

// granted returns the size that a storage gives to a volume: a file has any size,
// LVM has extents, and other storages count in MiB.
func (s *Storage) granted(size int64) int64 {
	unit := mib
	switch {
	case s.fileBased():
		return size
	case s.Type == "lvm" || s.Type == "lvmthin":
		unit = 4 * mib
	}
	return (size + unit - 1) / unit * unit
}

func (s *Storage) plugin() string {
	switch s.Type {
	case "lvmthin":
		return "LvmThinPlugin.pm"
	case "zfspool":
		return "ZFSPoolPlugin.pm"
	}
	return "LVMPlugin.pm"
}

// checkSpace returns the error of a storage that has no space for a volume.
func (w *cluster) checkSpace(node string, s *Storage, name string, size int64) error {
	if s.offline(node) {
		return failf("storage '%s' is not online", s.ID)
	}
	if s.Full {
		return failf("unable to create image: No space left on device")
	}
	if s.Type != "lvm" {
		return nil
	}
	_, avail := w.usage(node, s)
	const extent = 4 * mib
	if need := (size + extent - 1) / extent; size > avail {
		return failf("lvcreate '%s/%s' error:   Volume group \"%s\" has insufficient free space (%d extents): %d required.",
			s.VG, name, s.VG, avail/extent, need)
	}
	return nil
}

// allocLine returns the output of the storage's tool for a new volume.
func (w *cluster) allocLine(s *Storage, v *Volume, backing string) string {
	switch {
	case s.Type == "lvm" || s.Type == "lvmthin":
		return fmt.Sprintf("  Logical volume \"%s\" created.", plain(v.ID))
	case !s.fileBased(), s.Type == "btrfs" && v.Format == "raw":
		return ""
	case v.Format == "raw":
		return fmt.Sprintf("Formatting '%s', fmt=raw size=%d preallocation=off", s.filePath(v.ID), int64(v.Size))
	case v.Format == "vmdk":
		return fmt.Sprintf("Formatting '%s', fmt=vmdk size=%d compat6=off hwversion=undefined", s.filePath(v.ID), int64(v.Size))
	case backing != "":
		return fmt.Sprintf("Formatting '%s', fmt=qcow2 cluster_size=65536 extended_l2=off compression_type=zlib size=%d "+
			"backing_file=%s backing_fmt=%s lazy_refcounts=off refcount_bits=16",
			s.filePath(v.ID), int64(v.Size), backing, volumeFormat(backing))
	}
	return fmt.Sprintf("Formatting '%s', fmt=qcow2 cluster_size=65536 extended_l2=off preallocation=metadata "+
		"compression_type=zlib size=%d lazy_refcounts=off refcount_bits=16",
		s.filePath(v.ID), int64(v.Size))
}

// feature reports whether a volume can be cloned, copied, snapshotted or
// converted to a base.
func (s *Storage) feature(name string, volid string) bool {
	base := strings.HasPrefix(path.Base(plain(volid)), "base-")
	switch name {
	case "copy":
		return true
	case "sparseinit":
		return s.Type != "lvm"
	case "clone":
		return (base || s.Type == "btrfs" && volumeFormat(volid) == "raw") && s.Type != "lvm"
	case "template":
		return s.Type != "lvm" && !base
	case "snapshot":
		switch {
		case base:
			return false
		case s.Type == "btrfs":
			return true
		case s.fileBased():
			return volumeFormat(volid) == "qcow2"
		case s.Type == "lvm":
			return false
		}
		return true
	}
	return false
}

// usage returns the used and free bytes of a storage, as a node sees them.
func (w *cluster) usage(node string, s *Storage) (used, avail int64) {
	used = int64(s.Used)
	for _, v := range w.seed.Volumes {
		if storageOf(v.ID) == s.ID && (v.Node == "" || v.Node == node) {
			used += v.allocated(s)
		}
	}
	if s.Full {
		return int64(s.Size), 0
	}
	return used, max(int64(s.Size)-used-int64(s.Reserved), 0)
}

// allocated returns the bytes that a volume occupies: its full size on thick
// LVM, little on other storages.
func (v *Volume) allocated(s *Storage) int64 {
	switch s.Type {
	case "lvm":
		return int64(v.Size)
	case "lvmthin":
		return 0
	}
	if v.Content != "images" {
		const block = 4 * kib
		return (int64(v.Size) + block - 1) / block * block
	}
	return min(int64(v.Size), 256*kib)
}
