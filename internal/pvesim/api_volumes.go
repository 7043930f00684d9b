package pvesim

import (
	"cmp"
	"path"
	"sort"
	"strings"
	"time"
)

// storageContent lists the volumes of a storage that the caller may read, of the content
// types that it has.
func storageContent(c *call) (any, error) {
	s, err := c.w.checkStorage(c.p["storage"], c.node)
	if err != nil {
		return nil, err
	}
	var list []*Volume
	for _, v := range c.w.seed.Volumes {
		content := c.w.contentOf(v)
		switch {
		case storageOf(v.ID) != s.ID || v.Node != "" && v.Node != c.node, !s.allowsContent(content),
			c.has("content") && content != c.p["content"], c.has("vmid") && !listedFor(content, v.VMID, c.vmid()),
			c.mayReadVolume(0, v.ID) != nil:
			continue
		}
		list = append(list, v)
	}
	sort.Slice(list, func(i, j int) bool { return strings.ToLower(list[i].ID) < strings.ToLower(list[j].ID) })
	out := []object{}
	for _, v := range list {
		e := v.entry(s)
		e["content"] = c.w.contentOf(v)
		out = append(out, e)
	}
	return out, nil
}

// contentOf returns the content type of a volume: disks of containers have their own.
func (w *cluster) contentOf(v *Volume) string {
	if g := w.guests[v.VMID]; v.Content == "images" && g != nil && g.container() {
		return "rootdir"
	}
	return v.Content
}

// listedFor reports whether the list for a guest has a volume: files that belong to nobody
// are in it, except installation images and templates.
func listedFor(content string, owner, vmid int) bool {
	switch content {
	case "import", "snippets":
		return true
	case "iso", "vztmpl":
		return false
	}
	return owner == vmid
}

func (v *Volume) entry(s *Storage) object {
	out := object{"content": v.Content, "format": v.Format, "size": int64(v.Size), "volid": v.ID}
	switch {
	case v.Content != "images":
		out["ctime"] = v.Created.Unix()
	case s.fileBased():
		out["ctime"], out["used"], out["vmid"], out["parent"] = v.Created.Unix(), v.allocated(s), v.VMID, nil
		if v.Parent != "" {
			out["parent"] = v.Parent
		}
	case s.Type == "zfspool":
		out["vmid"] = v.VMID
		if v.Parent != "" {
			out["parent"] = v.Parent
		}
	default:
		out["ctime"], out["vmid"] = itoa(int(v.Created.Unix())), v.VMID
	}
	return out
}

func allocVolume(c *call) (any, error) {
	s, err := c.w.checkStorage(c.p["storage"], c.node)
	if err != nil {
		return nil, err
	}
	size, perr := parseSize(c.p["size"])
	if perr != nil {
		return nil, badParam("size", "value does not match the regex pattern")
	}
	if !strings.ContainsAny(c.p["size"], "KMGT") {
		size *= kib
	}
	name, format := c.p["filename"], c.p["format"]
	if ext := path.Ext(name); ext != "" && s.fileBased() {
		name, format = strings.TrimSuffix(name, ext), ext[1:]
	}
	if id := s.volumeID(c.vmid(), name, cmp.Or(format, "raw")); c.w.volumeOn(c.node, id) != nil {
		return nil, failf("disk image '%s' already exists", s.filePath(id))
	}
	v, _, aerr := c.w.alloc(c.node, s, c.vmid(), name, format, size)
	if aerr != nil {
		return nil, failf("%s", aerr.Error())
	}
	return v.ID, nil
}

// volumeID returns the ID of the volume that a call names with or without its storage.
func (c *call) volumeID() (string, error) {
	id := c.p["volume"]
	storage, _, named := strings.Cut(id, ":")
	switch {
	case !named:
		return c.p["storage"] + ":" + id, nil
	case c.has("storage") && storage != c.p["storage"]:
		return "", badParam("volume", "storage ID mismatch (%s != %s)\n", storage, c.p["storage"])
	}
	return id, nil
}

// volume returns the volume of a call. The error is that of a name that the storage cannot have.
func (c *call) volume() (string, *Volume, error) {
	id, err := c.volumeID()
	if err != nil {
		return "", nil, err
	}
	s := c.w.storage(storageOf(id))
	if s == nil {
		return "", nil, failf("storage '%s' does not exist", storageOf(id))
	}
	_, name, _ := strings.Cut(id, ":")
	if s.fileBased() && volumeKind(id) == "" {
		return "", nil, failf("unable to parse directory volume name '%s'", name)
	}
	return id, c.w.volumeOn(c.node, id), nil
}

func volumeInfo(c *call) (any, error) {
	id, v, err := c.volume()
	if err != nil {
		return nil, err
	}
	if err := c.mayReadVolume(0, id); err != nil {
		return nil, err
	}
	s := c.w.storage(storageOf(id))
	switch {
	case v == nil && s.fileBased():
		return nil, failf("volume_size_info on '%s' failed - no format", id)
	case v == nil:
		return nil, s.noVolume(id)
	}
	format := v.Format
	if v.Content != "images" && v.Content != "import" || format == "ova" {
		format = "raw"
	}
	return object{"format": format, "path": s.devicePath(v.ID), "size": v.diskSize(), "used": v.allocated(s)}, nil
}

// deleteVolume removes a volume in a task. The removal of a file that does not exist
// succeeds.
func deleteVolume(c *call) (any, error) {
	id, v, err := c.volume()
	if err != nil {
		return nil, err
	}
	s, owner := c.w.storage(storageOf(id)), volumeOwner(id, 0)
	if err := c.mayRemoveVolume(s, id, owner); err != nil {
		return nil, err
	}
	if v == nil && !s.fileBased() {
		return nil, s.noVolume(id)
	}
	at := s.ID
	if owner != 0 {
		at = itoa(owner) + "@" + at
	}
	wk := &worker{}
	wk.steps = []step{func() (pause, error) {
		switch {
		case v == nil:
			wk.logf("disk image '%s' does not exist", s.filePath(id))
		case c.w.baseInUse(v):
			return pause{}, failf("base volume '%s' is still in use by linked clones", plain(v.ID))
		default:
			c.w.removeVolume(v)
		}
		wk.logf("Removed volume '%s'", id)
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	return c.w.fork(c.node, "imgdel", at, c.who, wk), nil
}

// mayRemoveVolume returns an error if the caller may not remove a volume.
func (c *call) mayRemoveVolume(s *Storage, id string, owner int) error {
	if volumeKind(id) != "backup" || owner == 0 {
		return c.w.require(c.who, "/storage/"+s.ID, "Datastore.Allocate")
	}
	if err := c.w.require(c.who, "/storage/"+s.ID, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	return c.w.require(c.who, "/vms/"+itoa(owner), "VM.Backup")
}

// mayReadVolume returns an error if the caller may not read a volume. A guest may use its
// own: 0 is no guest.
func (c *call) mayReadVolume(vmid int, id string) error {
	storage := "/storage/" + storageOf(id)
	owner := volumeOwner(id, 0)
	if c.w.allowed(c.who, storage, "Datastore.Allocate") {
		return nil
	}
	switch kind := volumeKind(id); {
	case kind == "iso", kind == "vztmpl", kind == "import":
		return c.w.requireAny(c.who, storage, "Datastore.AllocateSpace", "Datastore.Audit")
	case owner != 0 && owner == vmid:
		return nil
	case kind == "backup" && owner != 0:
		if err := c.w.require(c.who, storage, "Datastore.AllocateSpace"); err != nil {
			return err
		}
		return c.w.require(c.who, "/vms/"+itoa(owner), "VM.Backup")
	case kind == "images" && owner != 0:
		if err := c.w.require(c.who, storage, "Datastore.Audit"); err != nil {
			return err
		}
		return c.w.require(c.who, "/vms/"+itoa(owner), "VM.Config.Disk")
	}
	return failf("missing privileges to access %s", id)
}
