package pvesim

import (
	"cmp"
	"path"
	"slices"
	"sort"
	"strings"
	"time"
)

func storageHandlers() map[string]handler {
	return map[string]handler{
		"GET /storage":                                            storageConfigs,
		"GET /storage/{storage}":                                  storageConfig,
		"PUT /storage/{storage}":                                  updateStorage,
		"GET /nodes/{node}/storage":                               nodeStorages,
		"GET /nodes/{node}/storage/{storage}/status":              storageStatus,
		"GET /nodes/{node}/storage/{storage}/content":             storageContent,
		"POST /nodes/{node}/storage/{storage}/content":            allocVolume,
		"GET /nodes/{node}/storage/{storage}/content/{volume}":    volumeInfo,
		"DELETE /nodes/{node}/storage/{storage}/content/{volume}": deleteVolume,
		"GET /nodes/{node}/storage/{storage}":                     index("subdir", "content", "download-url", "file-restore", "import-metadata", "prunebackups", "rrd", "rrddata", "status", "upload"),
	}
}

func (s *Storage) config() object {
	out := object{"content": strings.Join(s.Content, ","), "digest": digestOf(s.ID + strings.Join(s.Content, ",")), "storage": s.ID, "type": s.Type}
	set := func(k, v string) {
		if v != "" {
			out[k] = v
		}
	}
	switch s.Type {
	case "dir":
		set("path", s.imagePath())
		if s.Shared {
			out["shared"] = 1
		}
	case "lvm", "lvmthin":
		set("vgname", s.VG)
		set("thinpool", s.Pool)
	case "zfspool":
		set("pool", s.Pool)
	default:
		set("path", s.Path)
	}
	set("nodes", strings.Join(s.Nodes, ","))
	return out
}

func storageConfigs(c *call) (any, error) {
	out := []object{}
	for _, s := range c.w.seed.Storages {
		if c.has("type") && s.Type != c.p["type"] || !c.w.allowed(c.who, "/storage/"+s.ID, "Datastore.Audit", "Datastore.AllocateSpace") {
			continue
		}
		out = append(out, s.config())
	}
	return out, nil
}

func storageConfig(c *call) (any, error) {
	s := c.w.storage(c.p["storage"])
	if s == nil {
		return nil, failf("storage '%s' does not exist", c.p["storage"])
	}
	return s.config(), nil
}

func updateStorage(c *call) (any, error) {
	if err := c.w.configLock("update storage", "file-storage_cfg"); err != nil {
		return nil, err
	}
	s := c.w.storage(c.p["storage"])
	if s == nil {
		return nil, failf("update storage failed: storage '%s' does not exist", c.p["storage"])
	}
	if c.has("content") {
		s.Content = strings.Split(c.p["content"], ",")
	}
	if c.has("nodes") {
		s.Nodes = strings.Split(c.p["nodes"], ",")
	}
	if c.has("disable") {
		s.Disabled = c.flag("disable")
	}
	return object{"storage": s.ID, "type": s.Type}, nil
}

// configLock returns an error for changes of cluster-wide files without quorum.
func (w *cluster) configLock(what, file string) error {
	if w.quorate() {
		return nil
	}
	e := failf("%s failed: cfs-lock '%s' error: no quorum!", what, file)
	e.delay = 9 * time.Second
	return e
}

// checkStorage returns an error for a storage that a node does not have.
func (w *cluster) checkStorage(id, node string) (*Storage, error) {
	s := w.storage(id)
	switch {
	case s == nil:
		return nil, failf("storage '%s' does not exist", id)
	case s.Disabled:
		return nil, failf("storage '%s' is disabled", id)
	case !s.onNode(node):
		return nil, failf("storage '%s' is not available on node '%s'", id, node)
	}
	return s, nil
}

func (c *call) storageFigures(s *Storage) object {
	on := s.onNode(c.node) && !s.Disabled
	out := object{"active": flag(on), "content": strings.Join(s.Content, ","), "enabled": flag(on), "shared": flag(s.Shared),
		"type": s.Type, "avail": 0, "total": 0, "used": 0}
	if on {
		used, avail := c.w.usage(c.node, s)
		out["used"], out["avail"], out["total"] = used, avail, int64(s.Size)
	}
	return out
}

func nodeStorages(c *call) (any, error) {
	out := []object{}
	for _, s := range c.w.seed.Storages {
		off := !s.onNode(c.node) || s.Disabled
		if off && c.flag("enabled") || c.has("storage") && c.p["storage"] != s.ID {
			continue
		}
		if t := c.p["target"]; t != "" && t != c.node && (off || !s.Shared || !s.onNode(t)) {
			continue
		}
		if !c.w.allowed(c.who, "/storage/"+s.ID, "Datastore.Audit", "Datastore.AllocateSpace") || !s.allowsContent(c.p["content"]) {
			continue
		}
		o := c.storageFigures(s)
		o["storage"] = s.ID
		if total := int64(s.Size); total > 0 && !off {
			used, _ := c.w.usage(c.node, s)
			o["used_fraction"] = float64(used) / float64(total)
		}
		out = append(out, o)
	}
	return out, nil
}

func (s *Storage) allowsContent(kinds string) bool {
	if kinds == "" {
		return true
	}
	for _, k := range strings.Split(kinds, ",") {
		if slices.Contains(s.Content, k) {
			return true
		}
	}
	return false
}

func storageStatus(c *call) (any, error) {
	s := c.w.storage(c.p["storage"])
	if s == nil {
		return nil, badParam("storage", "No such storage.")
	}
	return c.storageFigures(s), nil
}

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
		if v.Content == "images" && !c.w.allowed(c.who, "/storage/"+s.ID, "Datastore.Allocate") && !c.w.allowed(c.who, "/vms/"+itoa(v.VMID), "VM.Config.Disk", "VM.Audit") {
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
	if v == nil {
		return nil, failf("volume '%s' does not exist", id)
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

func deleteVolume(c *call) (any, error) {
	v, err := c.volume()
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
