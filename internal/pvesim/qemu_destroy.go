package pvesim

import (
	"maps"
	"slices"
	"strings"
	"time"
)

func qemuDestroy(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	ha := c.w.haEntry(g)
	if ha != nil && !c.flag("purge") {
		return nil, failf("unable to remove VM %d - used in HA resources and purge parameter not set.", g.VMID)
	}
	if err := g.protected("can't remove VM " + itoa(g.VMID)); err != nil {
		return nil, err
	}
	if g.Running {
		return nil, failf("VM %d is running - destroy failed", g.VMID)
	}
	vmid, node, purge, skipLock := g.VMID, g.Node, c.flag("purge"), c.flag("skiplock")
	if skipLock && (c.who.user != "root@pam" || c.who.token != "") {
		return nil, badParam("skiplock", "Only root may use this option.")
	}
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g := c.w.guests[vmid]
		if g == nil || g.Node != node {
			return pause{}, failf("Configuration file 'nodes/%s/qemu-server/%d.conf' does not exist", node, vmid)
		}
		return pause{d: 150 * time.Millisecond, main: true}, c.w.mayDestroy(g, skipLock)
	}, func() (pause, error) {
		g := c.w.guests[vmid]
		if g == nil {
			return pause{}, nil
		}
		return pause{}, c.w.destroy(wk, g, purge)
	}}
	return c.w.fork(node, "qmdestroy", itoa(vmid), c.who, wk), nil
}

func (w *cluster) mayDestroy(g *Guest, skipLock bool) error {
	if err := g.locked(); err != nil && !skipLock {
		return err
	}
	if err := g.protected("can't remove VM " + itoa(g.VMID)); err != nil {
		return err
	}
	if g.Running {
		return failf("VM %d is running - destroy failed", g.VMID)
	}
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		if !isDriveKey(k) {
			continue
		}
		if v := w.ownVolume(g, parseDrive(g.Config[k])); v != nil && w.baseInUse(v) {
			return failf("base volume '%s' is still in use by linked cloned", v.ID)
		}
	}
	return nil
}

// destroy removes the disks first and the configuration last: without quorum,
// only the second step fails.
func (w *cluster) destroy(wk *worker, g *Guest, purge bool) error {
	seen := map[*Volume]bool{}
	remove := func(line string) {
		v := w.ownVolume(g, parseDrive(line))
		if v == nil || seen[v] {
			return
		}
		seen[v] = true
		if l := w.storage(storageOf(v.ID)).removeLine(v); l != "" {
			wk.log(l)
		}
		w.removeVolume(v)
	}
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		if isDriveKey(k) || strings.HasPrefix(k, "unused") {
			remove(g.Config[k])
		}
	}
	for _, s := range g.Snapshots {
		for _, k := range slices.Sorted(maps.Keys(s.Config)) {
			if isDriveKey(k) {
				remove(s.Config[k])
			}
		}
	}
	if err := w.write(g.Node, g.VMID, wk.task.PID); err != nil {
		return err
	}
	w.forget(g)
	for _, p := range w.seed.Pools {
		p.remove(g.VMID)
	}
	w.dropGrants("/vms/" + itoa(g.VMID))
	if purge {
		wk.logf("purging VM %d from related configurations..", g.VMID)
		if w.haRemove(g) {
			wk.logf("NOTE: removed VM %d from HA resource configuration.", g.VMID)
		}
	}
	return nil
}

// dropGrants removes the ACL entries of a removed guest.
func (w *cluster) dropGrants(path string) {
	kept := w.seed.ACL[:0]
	for _, g := range w.seed.ACL {
		if g.Path != path {
			kept = append(kept, g)
		}
	}
	w.seed.ACL = kept
}
