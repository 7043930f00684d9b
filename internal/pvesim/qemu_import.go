package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// emptySpec is the volume of a drive that is filled from another image: storage:0.
var emptySpec = regexp.MustCompile(`^([^/:\s]+:)?0+(\.0+)?$`)

// checkDriveParams returns the error of a drive whose options do not fit together.
func (c *call) checkDriveParams(conf map[string]string) error {
	for _, k := range driveKeys(conf) {
		d := parseDrive(conf[k])
		if d.opts["import-from"] == "" {
			if volumeKind(d.file) == "iso" && !d.cdrom() {
				return badParam(k, "explicit 'media=cdrom' is required for iso images")
			}
			continue
		}
		if !emptySpec.MatchString(d.file) {
			return badParam(k, "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>")
		}
		required := map[string][]string{"efidisk0": {"efitype", "pre-enrolled-keys"}, "tpmstate0": {"version"}}
		for _, o := range required[k] {
			if _, ok := d.opts[o]; !ok {
				return badParam(k, "need to specify '%s' when using 'import-from'", o)
			}
		}
	}
	return nil
}

// importAccess returns an error if a drive may not be filled from an image: the image is
// of another content type, or the caller may not read it.
func (c *call) importAccess(vmid int, key, src string) error {
	if strings.HasPrefix(src, "/") {
		if c.root() {
			return nil
		}
		return failf("Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 581.")
	}
	s := c.w.storage(storageOf(src))
	if s == nil {
		return failf("storage '%s' does not exist", storageOf(src))
	}
	_, name, _ := strings.Cut(src, ":")
	kind := volumeKind(src)
	switch {
	case kind == "":
		return failf("unable to parse directory volume name '%s'", name)
	case kind != "images" && kind != "import":
		return badParam(key, "%s has wrong type '%s' - needs to be 'images' or 'import'", src, kind)
	case strings.HasSuffix(name, ".ova") || strings.HasSuffix(name, ".ovf"):
		return failf("volume '%s' - not a QEMU image format '%s'", src, name[len(name)-3:])
	}
	if owner := volumeOwner(src, 0); owner != 0 {
		return c.w.require(c.who, "/vms/"+itoa(owner), "VM.Clone")
	}
	return c.mayReadVolume(vmid, src)
}

// importSource returns the volume that a drive is filled from.
func (w *cluster) importSource(node, src string) (*Volume, error) {
	s, v := w.storage(storageOf(src)), w.volumeOn(node, src)
	switch {
	case strings.HasPrefix(src, "/"): // the nodes have no other files than those on storages
		return nil, failf("can't find file '%s'", src)
	case strings.Contains(src, ".ova/"):
		return nil, failf("the simulator does not extract images from '%s'", src)
	case volumeKind(src) == "import" && v == nil:
		return nil, failf("failed to stat '%s'", s.filePath(src))
	case v == nil:
		return nil, failf("cannot import from '%s' - could not get size of %s", src, src)
	case strings.Contains(src, "cloudinit"):
		return nil, failf("cannot import from '%s' - cannot import from cloudinit disk", src)
	}
	return v, nil
}

// importVolume makes a volume and fills it with an image. It returns the lines of the task.
func (w *cluster) importVolume(g *Guest, key string, d drive, s *Storage, size int64) (*Volume, []string, error) {
	src := d.opts["import-from"]
	v, err := w.importSource(g.Node, src)
	if err != nil {
		return nil, nil, err
	}
	if key != "efidisk0" && key != "tpmstate0" {
		size = v.diskSize()
	}
	format := cmp.Or(d.opts["format"], v.Format)
	if key == "tpmstate0" || !s.supports(format) {
		format = "raw"
	}
	from := ""
	if owner := w.guests[volumeOwner(src, 0)]; owner != nil {
		for _, k := range slices.Sorted(maps.Keys(owner.Config)) {
			if from == "" && (isDriveKey(k) || strings.HasPrefix(k, "unused")) && parseDrive(owner.Config[k]).file == src {
				from = k + " "
			}
		}
	}
	out, lines, err := w.alloc(g.Node, s, g.VMID, w.freeDiskName(s, g.Node, g.VMID), format, size)
	if err != nil {
		return nil, nil, failf("cannot import from '%s' - %s", src, err.Error())
	}
	lines = append([]string{fmt.Sprintf("create full clone of drive %s(%s)", from, src)}, lines...)
	if key != "efidisk0" {
		h := humanSize(size)
		lines = append(lines, fmt.Sprintf("transferred 0.0 B of %s (0.00%%)", h), fmt.Sprintf("transferred %s of %s (100.00%%)", h, h))
	}
	return out, lines, nil
}

// supports reports whether a storage has images of a format.
func (s *Storage) supports(format string) bool {
	kinds, _ := s.formats()[0].(object)
	return kinds[format] != nil && format != "subvol"
}

// imports returns the copies that fill the new drives of a change, or nil without any.
func (w *cluster) imports(node string, conf map[string]string) *transfer {
	var out *transfer
	for _, k := range driveKeys(conf) {
		d := parseDrive(conf[k])
		src := d.opts["import-from"]
		if src == "" {
			continue
		}
		v, err := w.importSource(node, src)
		if err != nil {
			return nil // the change fails before it copies
		}
		if out == nil {
			out = &transfer{storage: storageOf(d.file)}
		}
		out.total += float64(v.diskSize())
	}
	return out
}
