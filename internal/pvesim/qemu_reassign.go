package pvesim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// reassignDisk gives a disk of a VM to another VM of the node. Its volume gets a name of that VM.
func (c *call) reassignDisk(key string) (any, error) {
	w, vmid, to := c.w, c.vmid(), atoi(c.p["target-vmid"])
	if err := c.vmRight(to, "", "VM.Config.Disk"); err != nil {
		return nil, err
	}
	if to == vmid {
		return nil, badParam("target-vmid", "must be different than source VMID to reassign disk")
	}
	r := &reassign{from: w.guests[vmid], to: w.guests[to], key: key, key2: cmp.Or(c.p["target-disk"], key)}
	if err := r.check(c, vmid, to); err != nil {
		return nil, err
	}
	storage := storageOf(parseDrive(r.from.Config[key]).file)
	if err := w.require(c.who, "/storage/"+storage, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		if err := r.check(c, vmid, to); err != nil {
			return pause{}, err
		}
		wk.logf("reassign disk '%s' from VM '%d' as '%s' to VM '%d'", key, vmid, r.key2, to)
		r.move(w, wk)
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	return w.fork(c.node, "qmmove", fmt.Sprintf("%d-%s>%d-%s", vmid, key, to, r.key2), c.who, wk), nil
}

// A reassign is a disk that one VM gives to another.
type reassign struct {
	from, to  *Guest
	key, key2 string
}

// check refuses what Proxmox VE refuses, in its order.
func (r *reassign) check(c *call, vmid, to int) error {
	switch {
	case r.from == nil || r.from.container():
		return failf("could not find VM %d", vmid)
	case r.to == nil || r.to.container():
		return failf("could not find target VM %d", to)
	case r.from.Node != r.to.Node:
		return failf("Both VMs need to be on the same node (%s != %s)", r.from.Node, r.to.Node)
	}
	if err := cmp.Or(r.from.locked(), r.to.locked()); err != nil {
		return err
	}
	d := parseDrive(r.from.Config[r.key])
	s := c.w.storage(storageOf(d.file))
	switch {
	case r.from.template() || r.to.template():
		return failf("Can't move disks from or to template VMs")
	case r.from.Config[r.key] == "":
		return failf("Disk '%s' for VM '%d' does not exist", r.key, vmid)
	case r.to.Config[r.key2] != "":
		return failf("Target disk key '%s' is already in use for VM '%d'", r.key2, to)
	case d.file == "" || d.file == "none":
		return failf("disk '%s' has no associated volume", r.key)
	case d.cdrom():
		return failf("CD drive contents can't be moved to another VM")
	case s == nil:
		return failf("Volume '%s' not managed by PVE", d.file)
	case r.from.inSnapshots(d.file):
		return failf("Can't move disk used by a snapshot to another VM")
	case r.from.Running && !isIndexed(r.key, "unused"):
		return failf("Cannot move disk to another VM while the source VM is running - detach first")
	}
	return nil
}

// move renames the volume, and takes it from one configuration into the other.
func (r *reassign) move(w *cluster, wk *worker) {
	d := parseDrive(r.from.Config[r.key])
	if v := w.volumeOn(r.from.Node, d.file); v != nil {
		w.rename(v, r.to)
		d.file = v.ID
	}
	if order := bootOrder(r.from.Config); slices.Contains(order, r.key) {
		wk.logf("removing disk '%s' from boot order config", r.key)
		r.from.Config["boot"] = printBoot(without(order, r.key))
	}
	r.to.host = 0 // the system on it is another client of the DHCP server
	delete(r.from.Config, r.key)
	wk.logf("removing disk '%s' from VM '%d' config", r.key, r.from.VMID)
	if isIndexed(r.key2, "unused") {
		r.to.Config[r.key2] = d.file
		return
	}
	r.to.Config[r.key2] = d.String()
}

// rename gives a volume the next free name of a guest. A linked clone keeps the name of its base.
func (w *cluster) rename(v *Volume, g *Guest) {
	s := w.storage(storageOf(v.ID))
	own := 1
	if s.fileBased() {
		own = 2 // the folder of the guest, and the file
	}
	parts := strings.Split(plain(v.ID), "/")
	base := ""
	if len(parts) > own {
		base = strings.Join(parts[:len(parts)-own], "/") + "/"
	}
	id := s.volumeID(g.VMID, w.freeDiskName(s, g.Node, g.VMID), v.Format)
	v.ID, v.VMID = s.ID+":"+base+plain(id), g.VMID
}
