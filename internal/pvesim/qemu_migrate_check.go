package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// localDisks returns the drives that a migration has to copy.
func (w *cluster) localDisks(g *Guest) []object {
	out := []object{}
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		d := parseDrive(g.Config[k])
		if !isDriveKey(k) && !strings.HasPrefix(k, "unused") || !strings.Contains(d.file, ":") {
			continue
		}
		s := w.storage(storageOf(d.file))
		if s == nil || s.Shared {
			continue
		}
		size := d.size()
		if v := w.volumeOn(g.Node, d.file); v != nil {
			size = int64(v.Size)
		}
		if d.cdrom() && d.opts["size"] == "" {
			size = 0
		}
		unused := strings.HasPrefix(k, "unused")
		o := object{"cdrom": flag(d.cdrom()), "drivename": k, "is_attached": flag(!unused), "is_tpmstate": flag(k == "tpmstate0"),
			"is_unused": flag(unused), "is_vmstate": 0, "replicate": 1, "shared": 0, "volid": d.file}
		if size > 0 {
			o["size"] = size
		}
		out = append(out, o)
	}
	return out
}

func qemuMigrateCheck(c *call) (any, error) {
	g, err := c.unlockedGuest()
	if err != nil {
		return nil, err
	}
	allowed, not := []string{}, object{}
	disks := c.w.localDisks(g)
	for _, n := range c.w.nodes {
		if n.Name == g.Node {
			continue
		}
		missing := []string{}
		for _, id := range g.storages() {
			if s := c.w.storage(id); s == nil || !s.onNode(n.Name) {
				missing = append(missing, id)
			}
		}
		o := object{}
		if len(missing) > 0 {
			o["unavailable_storages"] = missing
		} else {
			allowed = append(allowed, n.Name)
		}
		not[n.Name] = o
	}
	local, mapped := g.hostDevices()
	info := object{}
	for _, k := range mapped {
		info[k] = object{}
	}
	return object{"local_disks": disks, "local_resources": append([]string{}, slices.Concat(local, mapped)...),
		"mapped-resource-info": info, "mapped-resources": append([]string{}, mapped...),
		"running": flag(g.Running), "allowed_nodes": allowed, "not_allowed_nodes": not}, nil
}

func (g *Guest) storages() []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		if d := parseDrive(g.Config[k]); isDriveKey(k) && strings.Contains(d.file, ":") && !slices.Contains(out, storageOf(d.file)) {
			out = append(out, storageOf(d.file))
		}
	}
	return out
}

func (c *call) mapStorage(id string) string {
	to := c.p["targetstorage"]
	if to == "" || to == "1" {
		return id
	}
	if !strings.Contains(to, ":") {
		return to
	}
	for _, pair := range strings.Split(to, ",") {
		if from, dst, _ := strings.Cut(pair, ":"); from == id {
			return dst
		}
	}
	return id
}
