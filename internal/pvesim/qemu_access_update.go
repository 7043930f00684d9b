package pvesim

import "slices"

// root reports whether the caller is root@pam, and no token.
func (c *call) root() bool { return c.who.user == "root@pam" && c.who.token == "" }

// checkUpdateRights checks what each option needs that is set or deleted, before the
// guest is read. What depends on the value that the guest has is checked with it.
func (u *update) checkUpdateRights(vmid int, set []string) error {
	has := map[string]string{}
	if g := u.c.w.guests[vmid]; g != nil {
		has = g.effective()
	}
	deleted := slices.DeleteFunc(slices.Clone(u.delete), func(k string) bool {
		_, ok := has[k]
		return serialKey.MatchString(k) || !ok && (isDriveKey(k) || usbKey.MatchString(k) || shareKey.MatchString(k))
	})
	if err := u.c.checkConfigRights(vmid, "", deleted, has); err != nil {
		return err
	}
	set = slices.DeleteFunc(set, serialKey.MatchString)
	return u.c.checkConfigRights(vmid, "", set, u.set)
}

// checkReplaced checks what the value that the guest has of an option needs before it is
// deleted or replaced: the privilege for that kind of drive, root for a device of the
// node, the use of its bridge.
func (u *update) checkReplaced(k string, deleted bool, value string) error {
	c, vmid, old := u.c, u.g.VMID, u.g.Config[k]
	switch {
	case c.root():
	case k == "tags":
		return c.checkTags(old, value)
	case serialKey.MatchString(k) && deleted:
		return c.serialRights(vmid, "", k, "delete", old)
	case serialKey.MatchString(k):
		return c.serialRights(vmid, "", k, "modify", old, value)
	case old == "":
	case netKey.MatchString(k):
		return c.checkBridges(map[string]string{k: old})
	case isDriveKey(k), usbKey.MatchString(k), passedKey.MatchString(k), shareKey.MatchString(k):
		return c.checkConfigRights(vmid, "", []string{k}, map[string]string{k: old})
	}
	return nil
}
