package pvesim

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

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
	modified := map[string]bool{}
	order := bootOrder(g.Config)
	for _, k := range u.delete {
		if err := u.deleteKey(k); err != nil {
			return err
		}
		modified[k] = true
		if slices.Contains(order, k) {
			order = without(order, k)
			g.Pending["boot"], modified["boot"] = printBoot(order), true
		}
	}
	clean := w.cleanParams(u.set)
	maps.DeleteFunc(clean, lostEmpty)
	if v, ok := clean["description"]; ok { // what ends a description is lost in its lines of comments
		clean["description"] = strings.TrimRight(v, " \t\r\n")
	}
	if v, ok := clean["tags"]; ok {
		rules := w.tagRules()
		clean["tags"] = rules.uniqueTags(v)
	}
	for _, k := range slices.Sorted(maps.Keys(clean)) {
		if err := u.setKey(k, clean[k]); err != nil {
			return err
		}
		modified[k] = true
		d := parseDrive(clean[k])
		image := isDriveKey(k) && d.cdrom() && !d.cloudinit()
		if image && len(order) > 0 && !slices.Contains(order, k) && clean["boot"] == "" {
			order = append(slices.Clone(order), k) // a new CD-ROM is bootable
			g.Pending["boot"], modified["boot"] = printBoot(order), true
		}
	}
	return w.settlePending(g, modified)
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
	if err := u.checkReplaced(k, true, ""); err != nil {
		return err
	}
	delete(g.Pending, k)
	switch {
	case strings.HasPrefix(k, "unused"):
		if err := g.protected("can't remove unused disk '" + g.Config[k] + "'"); err != nil {
			return err
		}
		if v := u.c.w.ownVolume(g, parseDrive(g.Config[k])); v != nil {
			if err := g.stillUsed(k, v.ID); err != nil {
				return err
			}
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
	pending, changed := g.Pending[k]
	if changed && pending == v {
		return nil
	}
	if err := u.checkReplaced(k, false, v); err != nil {
		return err
	}
	if isDriveKey(k) {
		if changed {
			delete(g.Pending, k)
			u.c.w.registerUnused(g, parseDrive(pending))
		}
		line, err := u.makeDrive(k, v)
		if err != nil {
			return err
		}
		v = line
	}
	if k == "boot" {
		if err := u.checkBoot(v); err != nil {
			return err
		}
		v = cmp.Or(v, " ")
	}
	if k == "description" && v == "" {
		return u.deleteKey(k)
	}
	if k == "ostype" {
		u.pinMachine(v)
	}
	delete(g.Deleted, k)
	g.Pending[k] = v
	return nil
}

// pinMachine pins the machine type to a version for another operating system, unless the request says something of it.
func (u *update) pinMachine(osType string) {
	g, is := u.g, u.g.Config["machine"]
	_, set := u.set["machine"]
	if set || g.Pending["machine"] != "" || is != "" && slices.Contains(u.delete, "machine") {
		return
	}
	if pinned := u.c.w.node(g.Node).pin(is, osType); pinned != is {
		g.Pending["machine"] = pinned
	}
}

// makeDrive makes the volume of a drive that is set, and returns the line that the
// configuration stores.
func (u *update) makeDrive(k, v string) (string, error) {
	g := u.g
	line, log, err := u.c.w.makeDisk(g, k, v, g.effective())
	if err != nil {
		return "", err
	}
	for _, l := range log {
		if l != "" {
			u.log(l)
		}
	}
	return line, nil
}

// checkBoot refuses a boot order with a device that the guest does not have.
func (u *update) checkBoot(v string) error {
	conf := u.g.effective()
	for _, dev := range bootOrder(map[string]string{"boot": v}) {
		if _, ok := conf[dev]; !ok && u.set[dev] == "" {
			return failf("invalid bootorder: device '%s' does not exist'", dev)
		}
	}
	return nil
}
