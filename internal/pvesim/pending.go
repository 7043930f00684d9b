package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// effective returns the configuration with all pending changes applied.
func (g *Guest) effective() map[string]string {
	conf := cloneMap(g.Config)
	for k := range g.Deleted {
		delete(conf, k)
	}
	for k, v := range g.Pending {
		conf[k] = v
	}
	return conf
}

// applyPending applies pending changes: all of them to a stopped guest, and to
// a running guest those that can be hot-plugged.
func (w *cluster) applyPending(g *Guest) {
	for _, k := range slices.Sorted(maps.Keys(g.Deleted)) {
		if g.Running && !hotDelete(k) {
			continue
		}
		if isDriveKey(k) {
			old := parseDrive(g.Config[k])
			delete(g.Config, k)
			if g.Deleted[k] == "2" {
				if v := w.ownVolume(g, old); v != nil {
					w.removeVolume(v)
				}
			} else {
				w.registerUnused(g, old)
			}
		}
		delete(g.Config, k)
		delete(g.Deleted, k)
	}
	for _, k := range slices.Sorted(maps.Keys(g.Pending)) {
		if g.Running && !hotSet(k, g) {
			continue
		}
		old, had := g.Config[k]
		g.Config[k] = g.Pending[k]
		delete(g.Pending, k)
		if had && isDriveKey(k) && parseDrive(old).file != parseDrive(g.Config[k]).file {
			w.registerUnused(g, parseDrive(old))
		}
	}
}

func hotSet(k string, g *Guest) bool {
	switch k {
	case "name", "description", "tags", "onboot", "protection", "startup", "shares", "hotplug", "hookscript",
		"vmstatestorage", "cpuunits", "cpulimit", "template":
		return true
	case "balloon":
		return g.Config["balloon"] != "0" && g.Pending["balloon"] != "0"
	}
	if netKey.MatchString(k) {
		return true
	}
	_, had := g.Config[k]
	return isDriveKey(k) && !had && (strings.HasPrefix(k, "scsi") || strings.HasPrefix(k, "virtio")) ||
		isDriveKey(k) && had && parseDrive(g.Config[k]).file == parseDrive(g.Pending[k]).file
}

func hotDelete(k string) bool {
	switch k {
	case "description", "tags", "onboot", "protection", "startup", "shares", "hotplug", "hookscript", "cpuunits", "cpulimit":
		return true
	}
	return netKey.MatchString(k) || strings.HasPrefix(k, "scsi") && isDriveKey(k) || strings.HasPrefix(k, "virtio") && isDriveKey(k)
}

func without(list []string, v string) []string {
	var out []string
	for _, s := range list {
		if s != v {
			out = append(out, s)
		}
	}
	return out
}
