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

// settlePending applies the changes of keys: all pending changes to a stopped
// guest, and to a running guest those that it can take. What it cannot take stays
// pending. An error names the devices that could not be unplugged.
func (w *cluster) settlePending(g *Guest, keys map[string]bool) error {
	g.cleanPending()
	if !g.Running {
		return w.coldplug(g)
	}
	return w.hotplug(g, keys)
}

// cleanPending drops changes that change nothing.
func (g *Guest) cleanPending() {
	for k, v := range g.Pending {
		if cur, ok := g.Config[k]; ok && cur == v {
			delete(g.Pending, k)
		}
	}
	for k := range g.Deleted {
		if _, ok := g.Config[k]; !ok {
			delete(g.Deleted, k)
		}
	}
	g.dropAttachedUnused()
}

// coldplug applies all pending changes to a guest without a process.
func (w *cluster) coldplug(g *Guest) error {
	if g.container() {
		return w.settleContainer(g, nil, false)
	}
	failed := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(g.Deleted)) {
		if isDriveKey(k) {
			if err := w.detach(g, k); err != nil {
				failed[k] = "unable to apply pending change " + k + " : " + err.Error() + "\n"
				continue
			}
		}
		delete(g.Config, k)
		delete(g.Deleted, k)
	}
	for _, k := range slices.Sorted(maps.Keys(g.Pending)) {
		w.commit(g, k)
	}
	g.dropAttachedUnused()
	if len(failed) > 0 {
		return badParams(failed)
	}
	return nil
}

// commit makes a pending value current. A disk that it replaces becomes unused.
func (w *cluster) commit(g *Guest, k string) {
	old, had := g.Config[k]
	g.Config[k] = g.Pending[k]
	delete(g.Pending, k)
	if had && isDriveKey(k) && parseDrive(old).file != parseDrive(g.Config[k]).file {
		w.registerUnused(g, parseDrive(old))
	}
}

// detach takes a drive off the configuration: its volume becomes unused, or is
// removed if the deletion was forced.
func (w *cluster) detach(g *Guest, k string) error {
	old := parseDrive(g.Config[k])
	v := w.ownVolume(g, old)
	if g.Deleted[k] != "2" {
		delete(g.Config, k)
		w.registerUnused(g, old)
		return nil
	}
	if v != nil && !old.cdrom() {
		if err := g.stillUsed(k, v.ID); err != nil {
			return err
		}
		w.removeVolume(v)
	}
	delete(g.Config, k)
	return nil
}

// dropAttachedUnused drops unusedN where the volume is attached as well.
func (g *Guest) dropAttachedUnused() {
	attached := map[string]bool{}
	for _, m := range []map[string]string{g.Config, g.Pending} {
		for k, v := range m {
			if isDriveKey(k) {
				attached[parseDrive(v).file] = true
			}
		}
	}
	for k, v := range g.Config {
		if strings.HasPrefix(k, "unused") && attached[parseDrive(v).file] {
			delete(g.Config, k)
		}
	}
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
