package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// qemuCreate creates a guest without a template.
func qemuCreate(c *call) (any, error) {
	vmid, pool := c.vmid(), c.p["pool"]
	if pool != "" && c.w.pool(pool) == nil {
		return nil, denied("pool '%s' does not exist", pool)
	}
	if !c.mayAllocate(vmid, pool) {
		return nil, denied("")
	}
	set := c.configOptions("node", "vmid", "pool", "storage", "start", "force", "unique", "archive", "bwlimit", "live-restore",
		"import-working-storage", "digest")
	if c.p["archive"] != "" {
		return nil, failf("unable to restore VM %d - archives are not simulated", vmid)
	}
	if keys, ok := set["sshkeys"]; ok && !validKeys(keys) {
		return nil, failf("SSH public key validation error")
	}
	if err := c.checkNew(vmid, pool, set); err != nil {
		return nil, err
	}
	if err := c.w.checkQuorum(); err != nil {
		return nil, err
	}
	if old, taken := c.w.guests[vmid]; taken {
		return nil, failf("unable to create VM %d - %s", vmid, old.taken().Error())
	}
	g := c.w.newGuest(vmid, c.node, "create")
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		return pause{copy: c.w.imports(c.node, set)}, nil
	}, func() (pause, error) {
		if err := c.w.fillNew(wk, g, set); err != nil {
			return pause{}, fmt.Errorf("unable to create VM %d - %s", vmid, err.Error())
		}
		return pause{d: 200 * time.Millisecond, main: true}, nil
	}, func() (pause, error) {
		delete(g.Config, "lock")
		if pool != "" {
			c.w.join(pool, vmid)
		}
		if c.flag("start") {
			wk.log("Execute autostart")
			c.w.fork(g.Node, "qmstart", itoa(vmid), c.who, c.w.startWorker(g))
		}
		return pause{}, nil
	}}
	wk.undo = func() { c.w.dropGuest(g) }
	return c.w.fork(c.node, "qmcreate", itoa(vmid), c.who, wk), nil
}

// checkNew returns an error if the caller may not create a guest with these options. Disks
// need privileges on their storages only.
func (c *call) checkNew(vmid int, pool string, set map[string]string) error {
	if err := c.checkDiskAccess(vmid, set, c.p["storage"]); err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(set)), isDriveKey)
	if err := c.checkConfigRights(vmid, pool, others, set); err != nil {
		return err
	}
	if err := c.checkBridges(set); err != nil {
		return err
	}
	if err := c.checkModels(set, nil); err != nil {
		return err
	}
	return c.checkDriveParams(set)
}

// mayAllocate reports whether the caller may create a guest, on its own or in a pool.
func (c *call) mayAllocate(vmid int, pool string) bool {
	return c.w.allowed(c.who, "/vms/"+itoa(vmid), "VM.Allocate") || pool != "" && c.w.allowed(c.who, "/pool/"+pool, "VM.Allocate")
}

// newGuest writes the first, locked configuration of a guest.
func (w *cluster) newGuest(vmid int, node, lock string) *Guest {
	g := &Guest{VMID: vmid, Type: "qemu", Node: node, Config: map[string]string{"lock": lock}}
	w.guests[vmid] = g
	w.seed.Guests = append(w.seed.Guests, g)
	return g
}

// dropGuest removes a guest and its volumes.
func (w *cluster) dropGuest(g *Guest) {
	w.forget(g)
	for _, v := range append([]*Volume{}, w.seed.Volumes...) {
		if v.VMID == g.VMID && (v.Node == "" || v.Node == g.Node) && volumeOwner(v.ID, 0) == g.VMID {
			w.removeVolume(v)
		}
	}
}

// forget removes a guest from all lists.
func (w *cluster) forget(g *Guest) {
	if w.guests[g.VMID] == g {
		delete(w.guests, g.VMID)
	}
	for i, x := range w.seed.Guests {
		if x == g {
			w.seed.Guests = append(w.seed.Guests[:i], w.seed.Guests[i+1:]...)
			break
		}
	}
}

func (w *cluster) join(pool string, vmid int) {
	if p := w.pool(pool); p != nil && !slices.Contains(p.Guests, vmid) {
		p.Guests = append(p.Guests, vmid)
	}
}

// qemuVersion is the version in the meta line of new guests.
const qemuVersion = "9.2.0"

func (w *cluster) fillNew(wk *worker, g *Guest, set map[string]string) error {
	conf := w.cleanParams(set)
	maps.DeleteFunc(conf, lostEmpty)
	if conf["description"] == "" {
		delete(conf, "description")
	}
	for _, k := range driveKeys(conf) {
		line, log, err := w.makeDisk(g, k, conf[k], conf)
		if err != nil {
			return err
		}
		wk.logOutput(log...)
		conf[k] = line
	}
	for k, v := range conf {
		g.Config[k] = v
	}
	if machine := w.node(g.Node).pin(conf["machine"], conf["ostype"]); machine != "" {
		g.Config["machine"] = machine
	}
	if strings.TrimSpace(conf["boot"]) == "" {
		g.Config["boot"] = defaultBoot(conf)
	}
	if !strings.Contains(g.Config["smbios1"], "uuid=") {
		g.Config["smbios1"] = "uuid=" + w.uuid()
	}
	if g.Config["vmgenid"] == "" {
		g.Config["vmgenid"] = w.uuid()
	}
	g.Config["meta"] = fmt.Sprintf("creation-qemu=%s,ctime=%d", qemuVersion, w.now.Unix())
	return nil
}
