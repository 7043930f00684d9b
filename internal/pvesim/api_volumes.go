package pvesim

import (
	"cmp"
	"path"
	"sort"
	"strings"
	"time"
)

func storageContent(c *call) (any, error) {
	s, err := c.w.checkStorage(c.p["storage"], c.node)
	if err != nil {
		return nil, err
	}
	var list []*Volume
	for _, v := range c.w.seed.Volumes {
		if storageOf(v.ID) != s.ID || v.Node != "" && v.Node != c.node {
			continue
		}
		if c.has("vmid") && v.Content == "images" && v.VMID != c.vmid() || c.has("content") && v.Content != c.p["content"] {
			continue
		}
		if v.Content == "images" && !c.w.allowed(c.who, "/storage/"+s.ID, "Datastore.Allocate") &&
			!c.w.allowed(c.who, "/vms/"+itoa(v.VMID), "VM.Config.Disk", "VM.Audit") {
			continue
		}
		list = append(list, v)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	out := []object{}
	for _, v := range list {
		out = append(out, v.entry(s))
	}
	return out, nil
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

func (c *call) volume() (*Volume, error) {
	id := c.p["volume"]
	if !strings.Contains(id, ":") {
		id = c.p["storage"] + ":" + id
	}
	v := c.w.volumeOn(c.node, id)
	if s := c.w.storage(storageOf(id)); v == nil && s != nil && s.fileBased() {
		return nil, failf("volume_size_info on '%s' failed - no format", id)
	}
	if v == nil {
		return nil, c.w.storage(storageOf(id)).noVolume(id)
	}
	return v, nil
}

func volumeInfo(c *call) (any, error) {
	v, err := c.volume()
	if err != nil {
		return nil, err
	}
	s := c.w.storage(storageOf(v.ID))
	return object{"format": v.Format, "path": s.filePath(v.ID), "size": int64(v.Size), "used": v.allocated(s)}, nil
}

// removeMissing is the task that removes a file which does not exist: it succeeds.
func (c *call) removeMissing(s *Storage, id string) (any, error) {
	wk := &worker{}
	wk.steps = []step{func() (pause, error) {
		wk.logf("disk image '%s' does not exist", s.filePath(id))
		wk.logf("Removed volume '%s'", id)
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	return c.w.fork(c.node, "imgdel", itoa(volumeOwner(id, 0))+"@"+s.ID, c.who, wk), nil
}

func deleteVolume(c *call) (any, error) {
	v, err := c.volume()
	if s := c.w.storage(c.p["storage"]); err != nil && s != nil && s.fileBased() && volumeOwner(c.p["volume"], 0) != 0 {
		id := c.p["volume"]
		if !strings.Contains(id, ":") {
			id = s.ID + ":" + id
		}
		return c.removeMissing(s, id)
	}
	if err != nil {
		return nil, err
	}
	id := c.p["storage"]
	if v.VMID != 0 {
		id = itoa(v.VMID) + "@" + id
	}
	wk := &worker{}
	wk.steps = []step{func() (pause, error) {
		if c.w.baseInUse(v) {
			return pause{}, failf("base volume '%s' is still in use by linked clones", plain(v.ID))
		}
		c.w.removeVolume(v)
		wk.logf("Removed volume '%s'", v.ID)
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	return c.w.fork(c.node, "imgdel", id, c.who, wk), nil
}
