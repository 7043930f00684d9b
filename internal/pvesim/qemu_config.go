package pvesim

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"stackgen/internal/pvesim/schema"
)

// update is one change of a configuration.
type update struct {
	c      *call
	g      *Guest
	set    map[string]string
	delete []string
	force  bool
	pid    int
	log    func(string)
}

// daemonPID is the process ID of the API daemon's worker in messages of calls
// without a task.
const daemonPID = 110

// qemuUpdate handles PUT (without a task) and POST (with a task) on a
// configuration.
func qemuUpdate(c *call, sync bool) (any, error) {
	vmid := c.vmid()
	u := &update{c: c, set: map[string]string{}, force: c.flag("force"), pid: daemonPID}
	for k, v := range c.p {
		switch k {
		case "node", "vmid", "digest", "delete", "revert", "force", "skiplock", "background_delay", "skip_cloud_init":
		default:
			u.set[k] = v
		}
	}
	if c.has("skiplock") && (c.who.user != "root@pam" || c.who.token != "") {
		return nil, badParam("skiplock", "Only root may use this option.")
	}
	if len(u.set) == 0 && c.p["delete"] == "" && c.p["revert"] == "" && !c.anyNull() {
		return nil, failf("no options specified")
	}
	if cd, ok := u.set["cdrom"]; ok {
		u.set["ide2"] = cd
		delete(u.set, "cdrom")
	}
	if err := u.readDeletes(); err != nil {
		return nil, err
	}
	if err := c.checkConfigRights(vmid, "", u.delete, map[string]string{}); err != nil {
		return nil, err
	}
	if err := c.checkConfigRights(vmid, "", slices.Sorted(maps.Keys(u.set)), u.set); err != nil {
		return nil, err
	}
	if err := c.checkDiskAccess(vmid, u.set, ""); err != nil {
		return nil, err
	}
	if err := c.checkBridges(u.set); err != nil {
		return nil, err
	}
	if err := c.fileLock(vmid); err != nil {
		return nil, err
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	u.g = g
	if err := u.refuse(); err != nil {
		return nil, err
	}
	if sync {
		u.log = func(string) {}
		return nil, u.apply()
	}
	return u.fork(), nil
}

// anyNull reports whether a JSON body contains an option with a null value.
func (c *call) anyNull() bool {
	for _, v := range c.values {
		if v == nil {
			return true
		}
	}
	return false
}

func (u *update) readDeletes() error {
	for _, k := range schema.SplitList(u.c.p["delete"]) {
		if k == "cdrom" {
			k = "ide2"
		}
		if _, both := u.set[k]; both {
			return badParam("delete", "you can't use '-%s' and -delete %s' at the same time", k, k)
		}
		if !u.known(k) {
			return badParam("delete", "unknown option '%s'", k)
		}
		u.delete = append(u.delete, k)
	}
	return nil
}

func (u *update) known(k string) bool {
	switch k {
	case "lock", "parent", "snaptime", "vmstate", "meta", "node", "vmid", "digest", "delete", "force", "revert", "skiplock":
		return k == "lock" || k == "parent" || k == "vmstate"
	}
	return u.c.s.api.Paths[qemuConfigPath]["PUT"].Param(k) != nil
}

// refuse returns the errors that prevent a change from starting.
func (u *update) refuse() error {
	c, g := u.c, u.g
	if d := c.p["digest"]; d != "" && d != g.digest() {
		return failf("checksum mismatch (file change by other user?)")
	}
	if err := g.locked(); err != nil && !slices.Contains(u.delete, "lock") {
		return err
	}
	for _, k := range schema.SplitList(c.p["revert"]) {
		delete(g.Pending, k)
		delete(g.Deleted, k)
	}
	if b, ok := u.set["balloon"]; ok && atoi(b) > 0 {
		mem := cmp.Or(u.set["memory"], cmp.Or(g.Pending["memory"], cmp.Or(g.Config["memory"], "512")))
		if atoi(b) > atoi(mem) {
			return failf("balloon value too large (must be smaller than assigned memory)")
		}
	}
	return nil
}

func (u *update) fork() string {
	line := "update VM " + itoa(u.g.VMID) + ":"
	for _, k := range slices.Sorted(maps.Keys(u.set)) {
		v := u.set[k]
		if k == "cipassword" {
			v = "<hidden>"
		}
		line += " -" + k + " " + v
	}
	if len(u.delete) > 0 {
		line += " -delete " + strings.Join(u.delete, ",")
	}
	wk := &worker{lock: u.g.VMID, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		u.log = wk.log
		u.pid = wk.task.PID
		wk.log(line)
		return pause{d: 100 * time.Millisecond, main: true}, u.apply()
	}}
	return u.c.w.fork(u.g.Node, "qmconfig", itoa(u.g.VMID), u.c.who, wk)
}

// apply adds the change as pending, and then applies as much as the state of
// the guest allows.
func (u *update) apply() error {
	w, g := u.c.w, u.g
	if err := w.write(g.Node, g.VMID, u.pid); err != nil {
		return err
	}
	if g.Pending == nil {
		g.Pending, g.Deleted = map[string]string{}, map[string]string{}
	}
	if g.Deleted == nil {
		g.Deleted = map[string]string{}
	}
	for _, k := range u.delete {
		if err := u.deleteKey(k); err != nil {
			return err
		}
	}
	clean := w.cleanParams(u.set)
	for _, k := range slices.Sorted(maps.Keys(clean)) {
		if err := u.setKey(k, clean[k]); err != nil {
			return err
		}
	}
	for k, v := range g.Pending {
		if cur, ok := g.Config[k]; ok && cur == v {
			delete(g.Pending, k)
		}
	}
	w.applyPending(g)
	return nil
}

func (u *update) deleteKey(k string) error {
	g := u.g
	_, inConf := g.Config[k]
	pendingVal, inPending := g.Pending[k]
	if k == "lock" {
		delete(g.Config, "lock")
		return nil
	}
	if !inConf && !inPending {
		u.log("cannot delete '" + k + "' - not set in current configuration!")
		return nil
	}
	delete(g.Pending, k)
	if order := bootOrder(g.effective()); slices.Contains(order, k) {
		g.Pending["boot"] = printBoot(without(order, k))
	}
	switch {
	case strings.HasPrefix(k, "unused"):
		if err := g.protected("can't remove unused disk '" + g.Config[k] + "'"); err != nil {
			return err
		}
		if v := u.c.w.ownVolume(g, parseDrive(g.Config[k])); v != nil {
			u.c.w.removeVolume(v)
		}
		delete(g.Config, k)
		return nil
	case isDriveKey(k):
		if err := g.protected("can't remove drive '" + k + "'"); err != nil {
			return err
		}
		if inPending {
			u.c.w.registerUnused(g, parseDrive(pendingVal))
		}
	}
	if inConf {
		g.Deleted[k] = itoa(1 + flag(u.force))
	}
	return nil
}

func (u *update) setKey(k, v string) error {
	g := u.g
	if isDriveKey(k) {
		if old, ok := g.Config[k]; ok && parseDrive(old).file != parseDrive(v).file {
			if err := g.protected("can't change drive '" + k + "'"); err != nil {
				return err
			}
		}
		line, log, err := u.c.w.makeDisk(g, k, v, g.effective())
		if err != nil {
			return err
		}
		for _, l := range log {
			if l != "" {
				u.log(l)
			}
		}
		v = line
	}
	if k == "boot" {
		conf := g.effective()
		for _, dev := range bootOrder(map[string]string{"boot": v}) {
			if _, ok := conf[dev]; !ok && u.set[dev] == "" {
				return failf("invalid bootorder: device '%s' does not exist'", dev)
			}
		}
		if v == "" {
			v = " "
		}
	}
	delete(g.Deleted, k)
	g.Pending[k] = v
	return nil
}
