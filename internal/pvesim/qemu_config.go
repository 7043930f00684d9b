package pvesim

import (
	"cmp"
	"errors"
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
	revert []string
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
	u := &update{c: c, force: c.flag("force"), pid: daemonPID}
	u.set = c.configOptions("node", "vmid", "digest", "delete", "revert", "force", "skiplock", "background_delay", "skip_cloud_init")
	if keys, ok := u.set["sshkeys"]; ok && !validKeys(keys) {
		return nil, failf("SSH public key validation error")
	}
	if c.has("skiplock") && !c.root() {
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
	if err := c.checkDriveParams(u.set); err != nil {
		return nil, err
	}
	if err := c.checkReplication(vmid, u.set); err != nil {
		return nil, err
	}
	if err := u.checkUpdateRights(vmid, slices.Sorted(maps.Keys(u.set))); err != nil {
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
	if err := c.checkModels(u.set, g.Config); err != nil {
		return nil, err
	}
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
	for _, k := range schema.SplitList(u.c.p["revert"]) {
		if _, both := u.set[k]; both {
			return badParam("delete", "you can't use '-%s' and -revert %s' at the same time", k, k)
		}
		if !u.known(k) {
			return badParam("revert", "unknown option '%s'", k)
		}
		u.revert = append(u.revert, k)
	}
	for _, k := range schema.SplitList(u.c.p["delete"]) {
		if k == "cdrom" {
			k = "ide2"
		}
		if _, both := u.set[k]; both {
			return badParam("delete", "you can't use '-%s' and -delete %s' at the same time", k, k)
		}
		if slices.Contains(u.revert, k) {
			return badParam("revert", "you can't use '-delete %s' and -revert %s' at the same time", k, k)
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
	if err := c.checkDigest(g); err != nil {
		return err
	}
	if err := g.locked(); err != nil && !slices.Contains(u.delete, "lock") {
		return err
	}
	for _, k := range u.revert {
		if v, ok := g.Config[k]; ok {
			u.set[k] = v
		} else if _, ok := g.Pending[k]; ok {
			u.delete = append(u.delete, k)
		}
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
	var failed error
	wk.steps = []step{func() (pause, error) {
		wk.log(line)
		return pause{copy: u.c.w.imports(u.g.Node, u.set)}, nil
	}, func() (pause, error) {
		u.log = wk.log
		u.pid = wk.task.PID
		failed = u.apply()
		var refused *apiError
		if !errors.As(failed, &refused) || refused.fields == nil {
			return pause{d: 100 * time.Millisecond, main: true}, failed
		}
		failed = refused.oneLine()
		return pause{d: refused.delay, main: true}, nil
	}, func() (pause, error) {
		return pause{}, failed
	}}
	return u.c.w.fork(u.g.Node, "qmconfig", itoa(u.g.VMID), u.c.who, wk)
}
