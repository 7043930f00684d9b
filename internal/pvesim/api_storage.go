package pvesim

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stackgen/internal/pvesim/schema"
)

func storageHandlers() map[string]handler {
	return map[string]handler{
		"GET /storage":                                            storageConfigs,
		"POST /storage":                                           createStorage,
		"GET /storage/{storage}":                                  storageConfig,
		"DELETE /storage/{storage}":                               dropStorage,
		"PUT /storage/{storage}":                                  updateStorage,
		"GET /nodes/{node}/storage":                               nodeStorages,
		"GET /nodes/{node}/storage/{storage}/status":              storageStatus,
		"GET /nodes/{node}/storage/{storage}/content":             storageContent,
		"POST /nodes/{node}/storage/{storage}/content":            allocVolume,
		"GET /nodes/{node}/storage/{storage}/content/{volume}":    volumeInfo,
		"DELETE /nodes/{node}/storage/{storage}/content/{volume}": deleteVolume,
		"GET /nodes/{node}/storage/{storage}": index("subdir", "content", "download-url", "file-restore", "import-metadata",
			"prunebackups", "rrd", "rrddata", "status", "upload"),
	}
}

func (s *Storage) config() object {
	content := strings.Join(s.Content, ",")
	out := object{"content": content, "digest": digestOf(s.ID + content), "storage": s.ID, "type": s.Type}
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
	if s.Disabled {
		out["disable"] = 1
	}
	if s.Chain {
		out["snapshot-as-volume-chain"] = 1
	}
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

func createStorage(c *call) (any, error) {
	if err := c.w.configLock("create storage", "file-storage_cfg"); err != nil {
		return nil, err
	}
	id := c.p["storage"]
	if c.w.storage(id) != nil {
		return nil, failf("create storage failed: storage ID '%s' already defined", id)
	}
	// A new storage has the space of the first one: the API does not say more.
	first := c.w.seed.Storages[0]
	c.w.seed.Storages = append(c.w.seed.Storages, &Storage{ID: id, Type: c.p["type"], Shared: c.flag("shared"),
		Content: schema.SplitList(c.p["content"]), Nodes: schema.SplitList(c.p["nodes"]),
		Path: c.p["path"], VG: c.p["vgname"], Pool: cmp.Or(c.p["thinpool"], c.p["pool"]),
		Disabled: c.flag("disable"), Chain: c.flag("snapshot-as-volume-chain"),
		Size: first.Size, Used: first.Used, Reserved: first.Reserved, Bandwidth: first.Bandwidth})
	return object{"storage": id, "type": c.p["type"]}, nil
}

func dropStorage(c *call) (any, error) {
	if err := c.w.configLock("delete storage", "file-storage_cfg"); err != nil {
		return nil, err
	}
	id := c.p["storage"]
	if c.w.storage(id) == nil {
		return nil, failf("delete storage failed: storage '%s' does not exist", id)
	}
	c.w.seed.Storages = slices.DeleteFunc(c.w.seed.Storages, func(s *Storage) bool { return s.ID == id })
	c.w.dropGrants("/storage/" + id)
	return nil, nil
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
		s.Nodes = schema.SplitList(c.p["nodes"])
	}
	if c.p["delete"] == "nodes" {
		s.Nodes = nil
	}
	if c.has("disable") {
		s.Disabled = c.flag("disable")
	}
	if c.has("snapshot-as-volume-chain") {
		s.Chain = c.flag("snapshot-as-volume-chain")
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

// offline reports whether a node cannot reach the storage.
func (s *Storage) offline(node string) bool { return slices.Contains(s.Offline, node) }

// checkImages returns an error for a storage whose content is not disk images.
func (s *Storage) checkImages() error {
	if s.allowsContent("images") {
		return nil
	}
	return badParam("storage", "storage '%s' does not support vm images", s.ID)
}

func (c *call) storageFigures(s *Storage) object {
	enabled := s.onNode(c.node) && !s.Disabled
	on := enabled && !s.offline(c.node)
	out := object{"active": flag(on), "content": strings.Join(s.Content, ","), "enabled": flag(enabled), "shared": flag(s.Shared),
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
		if c.flag("format") {
			o["format"] = s.formats()
		}
		if total := int64(s.Size); total > 0 && !off {
			used, _ := c.w.usage(c.node, s)
			o["used_fraction"] = float64(used) / float64(total)
		}
		out = append(out, o)
	}
	return out, nil
}

// formats returns the image formats of a storage, and its default.
func (s *Storage) formats() []any {
	kinds := object{"raw": 1}
	switch {
	case s.fileBased():
		kinds = object{"raw": 1, "qcow2": 1, "vmdk": 1, "subvol": 1}
	case s.Type == "zfspool":
		kinds["subvol"] = 1
	}
	return []any{kinds, "raw"}
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
