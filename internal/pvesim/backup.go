package pvesim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"stackgen/internal/pvesim/schema"
)

// Backup starts a backup of guests on a node, as a job at night does: one task for
// all of them, which has a VMID only if there is one. Each guest is locked while it
// is copied. Options.Durations may set the time of a copy, by the type vzdump.
func (s *Server) Backup(node string, vmids ...int) (upid string, err error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.advance(s.clk.Now())
	if s.w.node(node) == nil {
		return "", fmt.Errorf("no node %q", node)
	}
	return s.w.startBackup(node, vmids, "local", &identity{user: "root@pam"}), nil
}

func (w *cluster) startBackup(node string, vmids []int, storage string, who *identity) string {
	id := ""
	if len(vmids) == 1 {
		id = itoa(vmids[0])
	}
	wk := &worker{undo: func() { w.unlock("backup", vmids) }, cancel: "interrupted by signal"}
	if w.node(node).NoMail {
		wk.steps = []step{func() (pause, error) { return pause{main: true}, failf("unable to find command 'sendmail'") }}
		vmids = nil
	}
	if s := w.storage(storage); s == nil || !s.allowsContent("backup") {
		wk.steps = []step{func() (pause, error) {
			const wrong = "could not get storage information for '%s': can't use storage '%[1]s' for backups - wrong content type"
			return pause{main: true}, failf(wrong, storage)
		}}
		vmids = nil
	}
	failed := false
	for _, vmid := range vmids {
		wk.steps = append(wk.steps, w.backup(wk, node, vmid, storage, &failed)...)
	}
	if len(vmids) > 0 {
		wk.steps = append(wk.steps, func() (pause, error) {
			if failed {
				return pause{}, failf("job errors")
			}
			return pause{}, nil
		})
	}
	upid := w.fork(node, "vzdump", id, who, wk)
	wk.hinted = false // each guest has its own duration
	return upid
}

// unlock removes a lock from guests, as the end of a task does.
func (w *cluster) unlock(lock string, vmids []int) {
	for _, vmid := range vmids {
		if g := w.guests[vmid]; g != nil && g.Config["lock"] == lock {
			delete(g.Config, "lock")
		}
	}
}

// backup are the steps for one guest. A guest that cannot be copied does not keep the task from
// copying the others.
func (w *cluster) backup(wk *worker, node string, vmid int, storage string, failed *bool) []step {
	copying := false
	return []step{func() (pause, error) {
		g := w.guests[vmid]
		kind := "qemu"
		if g != nil {
			kind = g.Type
		}
		wk.logf("INFO: Starting Backup of VM %d (%s)", vmid, kind)
		if g == nil || g.Node != node {
			*failed = true
			wk.logf("ERROR: Backup of VM %d failed - unable to find VM '%d'", vmid, vmid)
			return pause{}, nil
		}
		if err := g.locked(); err != nil {
			*failed = true
			wk.logf("ERROR: Backup of VM %d failed - %s", vmid, err)
			return pause{}, nil
		}
		g.Config["lock"], copying = "backup", true
		d := 5 * time.Second
		if w.durations != nil {
			if set, ok := w.durations("vzdump", vmid); ok {
				d = set
			}
		}
		return pause{d: d}, nil
	}, func() (pause, error) {
		if g := w.guests[vmid]; g != nil && copying {
			delete(g.Config, "lock")
			w.addVolume(w.backupFile(g, storage))
			wk.logf("INFO: Finished Backup of VM %d", vmid)
		}
		return pause{}, nil
	}}
}

// backupFile is the file of a backup of a guest that was made now.
func (w *cluster) backupFile(g *Guest, storage string) *Volume {
	kind, suffix := "qemu", "vma.zst"
	if g.container() {
		kind, suffix = "lxc", "tar.zst"
	}
	v := &Volume{Node: g.Node, VMID: g.VMID, Format: suffix, Content: "backup",
		ID: fmt.Sprintf("%s:backup/vzdump-%s-%d-%s.%s", storage, kind, g.VMID, w.now.Format("2006_01_02-15_04_05"), suffix)}
	for _, key := range driveKeys(g.Config) {
		v.Size += Size(parseDrive(g.Config[key]).size()) / 2
	}
	return v
}

// nodeBackup starts a backup of the guests of a node that a request names.
func nodeBackup(c *call) (any, error) {
	if err := c.rootOnly("dumpdir"); err != nil {
		return nil, err
	}
	if c.p["vmid"] == "" && !c.flag("all") && !c.flag("stop") && c.p["pool"] == "" {
		return nil, badParam("vmid", "property is missing")
	}
	if c.p["dumpdir"] == "" {
		if err := c.w.require(c.who, "/storage/"+cmp.Or(c.p["storage"], "local"), "Datastore.AllocateSpace"); err != nil {
			return nil, err
		}
	}
	excluded := schema.SplitList(c.p["exclude"])
	var vmids []int
	var refused error
	for _, id := range c.w.vmids() {
		g, name := c.w.guests[id], itoa(id)
		wanted := c.flag("all") || slices.Contains(schema.SplitList(c.p["vmid"]), name) || c.p["pool"] != "" && c.w.inPool(c.p["pool"], id)
		if g.Node == c.node && wanted && !slices.Contains(excluded, name) {
			err := c.w.require(c.who, "/vms/"+name, "VM.Backup")
			switch {
			case err == nil:
				vmids = append(vmids, id)
			case !c.flag("all"):
				vmids, refused = append(vmids, id), cmp.Or(refused, err)
			}
		}
	}
	if len(vmids) == 0 && !c.flag("all") {
		return "OK", nil
	}
	if refused != nil { // the task finds that, before it copies
		wk := &worker{steps: []step{func() (pause, error) { return pause{main: true}, failf("403 %s", refused) }}}
		id := ""
		if len(vmids) == 1 {
			id = itoa(vmids[0])
		}
		return c.w.fork(c.node, "vzdump", id, c.who, wk), nil
	}
	return c.w.startBackup(c.node, vmids, cmp.Or(c.p["storage"], "local"), c.who), nil
}
