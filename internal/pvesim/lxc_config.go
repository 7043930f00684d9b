package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// lxcUpdate changes the configuration of a container. What a running one cannot take stays
// pending.
func lxcUpdate(c *call) (any, error) {
	u := &update{c: c, set: c.configOptions("node", "vmid", "digest", "delete", "revert")}
	if len(u.set) == 0 && !c.has("delete") && !c.has("revert") && !c.anyNull() {
		return nil, failf("no options specified")
	}
	if err := c.fileLock(c.vmid()); err != nil {
		return nil, err
	}
	g, err := c.unlockedGuest()
	if err != nil {
		return nil, err
	}
	if err := c.checkDigest(g); err != nil {
		return nil, err
	}
	u.g, u.delete, u.revert = g, splitOptions(c.p["delete"]), splitOptions(c.p["revert"])
	o := containerOptions{c: c, vmid: g.VMID, old: g.Config, unprivileged: g.Config["unprivileged"] == "1"}
	if err := o.check(nil, slices.Concat(u.delete, u.revert)); err != nil {
		return nil, err
	}
	if err := u.contradictions(); err != nil {
		return nil, err
	}
	if err := o.check(u.set, nil); err != nil {
		return nil, err
	}
	if err := c.w.write(g.Node, g.VMID, daemonPID); err != nil {
		return nil, err
	}
	return nil, u.settle()
}

// contradictions returns the error of options that are unknown, or changed twice.
func (u *update) contradictions() error {
	for _, k := range u.revert {
		if !u.containerOption(k) {
			return badParam("revert", "unknown option '%s'", k)
		}
		if _, both := u.set[k]; both {
			return badParam("revert", "you can't use '-%s' and '-revert %s' at the same time", k, k)
		}
	}
	for _, k := range u.delete {
		if !u.containerOption(k) {
			return badParam("delete", "unknown option '%s'", k)
		}
		if _, both := u.set[k]; both {
			return badParam("delete", "you can't use '-%s' and -delete %s' at the same time", k, k)
		}
		if slices.Contains(u.revert, k) {
			return badParam("delete", "you can't use '-delete %s' and '-revert %s' at the same time", k, k)
		}
	}
	return nil
}

func (u *update) containerOption(k string) bool {
	switch k {
	case "node", "vmid", "digest", "delete", "revert":
		return false
	case "parent", "snaptime":
		return true
	}
	return u.c.s.api.Paths[lxcConfigPath]["PUT"].Param(k) != nil
}

// settle adds the change of a container as pending, and applies what its state allows. After
// an error nothing has changed.
func (u *update) settle() error {
	g := u.g
	config, pending, deleted := g.Config, g.Pending, g.Deleted
	g.Config, g.Pending, g.Deleted = cloneMap(config), cloneMap(pending), cloneMap(deleted)
	modified := map[string]bool{}
	err := u.addPending(modified)
	if err == nil {
		err = u.c.w.settleContainer(g, modified, g.Running)
	}
	if err != nil {
		g.Config, g.Pending, g.Deleted = config, pending, deleted
	}
	return err
}

func (u *update) addPending(modified map[string]bool) error {
	g := u.g
	for _, k := range u.revert {
		delete(g.Pending, k)
		delete(g.Deleted, k)
	}
	for _, k := range u.delete {
		if g.Config[k] == "" && g.Pending[k] == "" {
			continue
		}
		if err := g.deletable(k); err != nil {
			return err
		}
		modified[k] = true
		delete(g.Pending, k)
		g.Deleted[k] = "1"
	}
	for _, k := range slices.Sorted(maps.Keys(u.set)) {
		v := u.set[k]
		if err := u.c.w.settable(g, k, v); err != nil {
			return err
		}
		if k == "tags" {
			rules := u.c.w.tagRules()
			v = rules.uniqueTags(v)
		}
		modified[k] = true
		g.Pending[k] = v
		delete(g.Deleted, k)
	}
	return nil
}

// deletable returns the error of an option of a container that cannot be deleted.
func (g *Guest) deletable(k string) error {
	switch {
	case k == "memory", k == "rootfs", k == "ostype":
		return failf("unable to delete required option '%s'", k)
	case k == "unprivileged":
		return failf("unable to delete read-only option: '%s'", k)
	case isDriveKey(k), isIndexed(k, "unused"):
		return g.protected("can't remove CT " + itoa(g.VMID) + " drive '" + k + "'")
	}
	return nil
}

// settable returns the error of an option of a container that cannot have a value.
func (w *cluster) settable(g *Guest, k, v string) error {
	switch {
	case k == "unprivileged":
		return failf("unable to modify read-only option: '%s'", k)
	case isDriveKey(k):
		if err := g.protected("can't update CT " + itoa(g.VMID) + " drive '" + k + "'"); err != nil {
			return err
		}
		d := parseDrive(v)
		if mountType(d.file) != "volume" {
			return nil
		}
		s := w.storage(storageOf(d.file))
		if s == nil {
			return failf("storage '%s' does not exist", storageOf(d.file))
		}
		if !s.allowsContent("rootdir") {
			return failf("storage '%s' does not allow content type 'rootdir' (Container)", s.ID)
		}
	}
	return nil
}

// settleContainer applies pending changes: those of keys, or all of them. A running container
// takes some at once, if hot is set, and the others stay pending.
func (w *cluster) settleContainer(g *Guest, keys map[string]bool, hot bool) error {
	g.cleanPending()
	now := func(k string, takes func(string) bool) bool {
		return (keys == nil || keys[k]) && (!hot || fastContainer(k) || takes(k))
	}
	for _, k := range slices.Sorted(maps.Keys(g.Deleted)) {
		if now(k, hotDelete) {
			w.dropOption(g, k)
		}
	}
	g.cleanPending()
	failed := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(g.Pending)) {
		if !now(k, g.hotSet) {
			continue
		}
		v, err := w.containerValue(g, k, g.Pending[k], hot)
		switch {
		case err != nil && hot:
			failed[k] = "unable to hotplug " + k + ": " + err.Error() + "\n"
		case err != nil:
			failed[k] = "unable to apply pending change " + k + " : " + err.Error() + "\n"
		case v == "":
			delete(g.Config, k) // the file has no notation for it
			delete(g.Pending, k)
		default:
			g.Pending[k] = v
			w.commit(g, k)
		}
	}
	if len(failed) > 0 {
		return badParams(failed)
	}
	return nil
}

// fastContainer reports whether an option has no effect on a container that runs.
func fastContainer(k string) bool {
	switch k {
	case "description", "onboot", "startup", "protection", "hostname", "hookscript", "cores", "tags", "lock":
		return true
	}
	return false
}

// hotDelete reports whether a running container takes the deletion of an option.
func hotDelete(k string) bool {
	return k == "swap" || k == "cpulimit" || k == "cpuunits" || netKey.MatchString(k) || isIndexed(k, "unused")
}

// hotSet reports whether a running container takes a new value: not for a mount point that
// it has.
func (g *Guest) hotSet(k string) bool {
	_, has := g.Config[k]
	return k == "memory" || k == "swap" || k == "cpulimit" || k == "cpuunits" || netKey.MatchString(k) || isIndexed(k, "mp") && !has
}

// dropOption deletes an option of a container. Its volume becomes unused, and an unused one
// is removed.
func (w *cluster) dropOption(g *Guest, k string) {
	d := parseDrive(g.Config[k])
	delete(g.Config, k)
	delete(g.Deleted, k)
	delete(g.leases, k)
	switch {
	case isDriveKey(k):
		w.registerUnused(g, d)
	case isIndexed(k, "unused"):
		if v := w.ownVolume(g, d); v != nil && g.stillUsed(k, v.ID) == nil {
			w.removeVolume(v)
		}
	}
}

// containerValue returns the value that a container gets of an option: it makes a new volume,
// and gives a NIC its MAC address.
func (w *cluster) containerValue(g *Guest, k, v string, hot bool) (string, error) {
	switch {
	case k == "description":
		return g.stored(v), nil
	case netKey.MatchString(k):
		n := w.containerNIC(v)
		if hot {
			node, nic := w.node(g.Node), parseDrive(n).opts
			if b := nic["bridge"]; b != "" && !w.hasBridge(node, b) {
				return "", failf("bridge '%s' does not exist", b)
			}
			plugged := same(parseDrive(g.Config[k]).opts, nic, "name", "hwaddr", "bridge", "tag", "trunks", "firewall")
			if err := w.unpluggable(node, nic); err != nil && !plugged && nic["link_down"] != "1" {
				return "", err
			}
			w.changeNIC(g, k, n)
		}
		return n, nil
	case isIndexed(k, "mp"):
		line, _, err := w.makeMountPoint(g, v)
		return line, err
	}
	return v, nil
}

// containerNIC returns the line of a NIC as the configuration stores it.
func (w *cluster) containerNIC(v string) string {
	n := parseDrive(v).opts
	if n["hwaddr"] == "" {
		n["hwaddr"] = w.mac()
	}
	n["type"] = "veth"
	return strings.TrimPrefix(withFirst("name", n), ",")
}
