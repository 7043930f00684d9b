package pvesim

import (
	"slices"
	"strings"
)

func (w *cluster) group(id string) *Group {
	for _, g := range w.seed.Groups {
		if g.ID == id {
			return g
		}
	}
	return nil
}

// members returns the users of a group, in order.
func (w *cluster) members(group string) []string {
	out := []string{}
	for _, u := range w.seed.Users {
		if slices.Contains(u.Groups, group) {
			out = append(out, u.ID)
		}
	}
	slices.Sort(out)
	return out
}

func groupList(c *call) (any, error) {
	out := []object{}
	for _, g := range c.w.seed.Groups {
		if !c.w.allowed(c.who, "/access/groups/"+g.ID, "User.Modify", "Sys.Audit", "Group.Allocate") {
			continue
		}
		o := object{"groupid": g.ID, "users": strings.Join(c.w.members(g.ID), ",")}
		if g.Comment != "" {
			o["comment"] = g.Comment
		}
		out = append(out, o)
	}
	return out, nil
}

func groupCreate(c *call) (any, error) {
	if err := c.w.configLock("create group", "file-user_cfg"); err != nil {
		return nil, err
	}
	if id := c.p["groupid"]; c.w.group(id) != nil {
		return nil, failf("create group failed: group '%s' already exists", id)
	}
	c.w.seed.Groups = append(c.w.seed.Groups, &Group{ID: c.p["groupid"], Comment: c.p["comment"]})
	return nil, nil
}

func groupGet(c *call) (any, error) {
	g := c.w.group(c.p["groupid"])
	if g == nil {
		return nil, failf("group '%s' does not exist", c.p["groupid"])
	}
	out := object{"members": c.w.members(g.ID)}
	if g.Comment != "" {
		out["comment"] = g.Comment
	}
	return out, nil
}

func groupUpdate(c *call) (any, error) {
	if err := c.w.configLock("update group", "file-user_cfg"); err != nil {
		return nil, err
	}
	g := c.w.group(c.p["groupid"])
	if g == nil {
		return nil, failf("update group failed: group '%s' does not exist", c.p["groupid"])
	}
	if c.has("comment") {
		g.Comment = c.p["comment"]
	}
	return nil, nil
}

// groupDelete removes a group from its users and from the access control list, too.
func groupDelete(c *call) (any, error) {
	if err := c.w.configLock("delete group", "file-user_cfg"); err != nil {
		return nil, err
	}
	g := c.w.group(c.p["groupid"])
	if g == nil {
		return nil, failf("delete group failed: group '%s' does not exist", c.p["groupid"])
	}
	c.w.seed.Groups = slices.DeleteFunc(c.w.seed.Groups, func(x *Group) bool { return x == g })
	for _, u := range c.w.seed.Users {
		u.Groups = without(u.Groups, g.ID)
	}
	c.w.seed.ACL = slices.DeleteFunc(c.w.seed.ACL, func(x *Grant) bool { return x.Type == "group" && x.To == g.ID })
	return nil, nil
}
