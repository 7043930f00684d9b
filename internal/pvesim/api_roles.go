package pvesim

import (
	"maps"
	"slices"
	"strings"

	"stackgen/internal/pvesim/schema"
)

func roleList(c *call) (any, error) {
	_, builtin := privileges(c.w.seed.Version)
	out := []object{}
	for _, name := range slices.Sorted(maps.Keys(c.w.roles)) {
		list := append([]string{}, c.w.roles[name]...)
		slices.Sort(list)
		_, special := builtin[name]
		out = append(out, object{"privs": strings.Join(list, ","), "roleid": name, "special": flag(special)})
	}
	return out, nil
}

// role returns a role that an administrator has defined, or nil.
func (w *cluster) role(id string) *Role {
	for _, r := range w.seed.Roles {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func roleCreate(c *call) (any, error) {
	id := c.p["roleid"]
	if err := c.w.configLock("create role", "file-user_cfg"); err != nil {
		return nil, err
	}
	if _, exists := c.w.roles[id]; exists {
		return nil, failf("create role failed: role '%s' already exists", id)
	}
	r := &Role{ID: id}
	if err := c.setPrivileges(r, "create role", nil); err != nil {
		return nil, err
	}
	c.w.seed.Roles = append(c.w.seed.Roles, r)
	return nil, nil
}

func roleUpdate(c *call) (any, error) {
	r := c.w.role(c.p["roleid"])
	if err := c.w.configLock("update role", "file-user_cfg"); err != nil {
		return nil, err
	}
	if r == nil {
		return nil, failf("update role failed: role '%s' does not exist", c.p["roleid"])
	}
	var keep []string
	if c.flag("append") {
		keep = r.Privileges
	}
	return nil, c.setPrivileges(r, "update role", keep)
}

// setPrivileges gives a role the privileges of the call, and those that it keeps.
func (c *call) setPrivileges(r *Role, what string, keep []string) error {
	privileges := slices.Clone(keep)
	for _, p := range schema.SplitList(c.p["privs"]) {
		if _, known := c.w.everything[p]; !known {
			return failf("%s failed: invalid privilege '%s'", what, p)
		}
		if !slices.Contains(privileges, p) {
			privileges = append(privileges, p)
		}
	}
	r.Privileges, c.w.roles[r.ID] = privileges, privileges
	return nil
}

func roleDelete(c *call) (any, error) {
	id := c.p["roleid"]
	if err := c.w.configLock("delete role", "file-user_cfg"); err != nil {
		return nil, err
	}
	if c.w.role(id) == nil {
		return nil, failf("delete role failed: role '%s' does not exist", id)
	}
	c.w.seed.Roles = slices.DeleteFunc(c.w.seed.Roles, func(r *Role) bool { return r.ID == id })
	c.w.seed.ACL = slices.DeleteFunc(c.w.seed.ACL, func(g *Grant) bool { return g.Role == id })
	delete(c.w.roles, id)
	return nil, nil
}
