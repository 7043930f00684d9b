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

func roleGet(c *call) (any, error) {
	list, ok := c.w.roles[c.p["roleid"]]
	if !ok {
		return nil, failf("role '%s' does not exist", c.p["roleid"])
	}
	out := object{}
	for _, p := range list {
		out[p] = 1
	}
	return out, nil
}

// checkPrivileges returns the error of a list with an unknown privilege.
func (c *call) checkPrivileges() error {
	for _, p := range schema.SplitList(c.p["privs"]) {
		if _, known := c.w.everything[p]; !known {
			return badParam("privs", "invalid format - invalid privilege '%s'\n", p)
		}
	}
	return nil
}

// builtIn returns the error of a change of a role of Proxmox VE.
func (c *call) builtIn(what string) error {
	if _, builtIn := c.w.roles[c.p["roleid"]]; builtIn && c.w.role(c.p["roleid"]) == nil {
		return failf("auto-generated role '%s' cannot be %s", c.p["roleid"], what)
	}
	return nil
}

func roleCreate(c *call) (any, error) {
	id := c.p["roleid"]
	if err := c.checkPrivileges(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.ToUpper(id), "PVE") {
		return nil, badParam("roleid", "cannot use role ID starting with the (case-insensitive) 'PVE' namespace")
	}
	if err := c.w.configLock("create role", "file-user_cfg"); err != nil {
		return nil, err
	}
	if _, exists := c.w.roles[id]; exists {
		return nil, failf("create role failed: role '%s' already exists", id)
	}
	r := &Role{ID: id}
	c.setPrivileges(r, nil)
	c.w.seed.Roles = append(c.w.seed.Roles, r)
	return nil, nil
}

func roleUpdate(c *call) (any, error) {
	if err := c.checkPrivileges(); err != nil {
		return nil, err
	}
	if err := c.builtIn("modified"); err != nil {
		return nil, err
	}
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
	c.setPrivileges(r, keep)
	return nil, nil
}

// setPrivileges gives a role the privileges of the call, and those that it keeps.
func (c *call) setPrivileges(r *Role, keep []string) {
	privileges := slices.Clone(keep)
	for _, p := range schema.SplitList(c.p["privs"]) {
		if !slices.Contains(privileges, p) {
			privileges = append(privileges, p)
		}
	}
	r.Privileges, c.w.roles[r.ID] = privileges, privileges
}

func roleDelete(c *call) (any, error) {
	id := c.p["roleid"]
	if err := c.builtIn("deleted"); err != nil {
		return nil, err
	}
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
