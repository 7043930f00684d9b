package pvesim

import (
	"cmp"
	"slices"
	"strings"
)

func userList(c *call) (any, error) {
	out := []object{}
	all := c.w.allowed(c.who, "/access/groups", "User.Modify", "Sys.Audit")
	for _, u := range c.w.seed.Users {
		if !all && (u.ID != c.who.user || c.who.token != "") {
			continue
		}
		o := object{"enable": flag(!u.Disabled), "expire": 0, "realm-type": realmOf(u.ID), "userid": u.ID}
		if u.Comment != "" {
			o["comment"] = u.Comment
		}
		if c.flag("full") {
			o["groups"] = strings.Join(u.Groups, ",")
			tokens := []object{}
			for _, t := range u.Tokens {
				e := t.entry()
				e["tokenid"] = t.ID
				tokens = append(tokens, e)
			}
			o["tokens"] = tokens
		}
		out = append(out, o)
	}
	return out, nil
}

func userCreate(c *call) (any, error) {
	if err := c.w.configLock("create user", "file-user_cfg"); err != nil {
		return nil, err
	}
	id := c.p["userid"]
	if c.w.user(id) != nil {
		return nil, failf("create user failed: user '%s' already exists", id)
	}
	c.w.seed.Users = append(c.w.seed.Users, &User{ID: id, Comment: c.p["comment"], Password: c.p["password"],
		Disabled: c.p["enable"] == "0"})
	return nil, nil
}

func userGet(c *call) (any, error) {
	u := c.w.user(c.p["userid"])
	if u == nil {
		return nil, noUser(c.p["userid"])
	}
	tokens := object{}
	for _, t := range u.Tokens {
		tokens[t.ID] = t.entry()
	}
	groups := append([]string{}, u.Groups...)
	out := object{"enable": flag(!u.Disabled), "expire": 0, "groups": groups}
	if len(tokens) > 0 {
		out["tokens"] = tokens
	}
	if u.Comment != "" {
		out["comment"] = u.Comment
	}
	return out, nil
}

func userDelete(c *call) (any, error) {
	if err := c.w.configLock("delete user", "file-user_cfg"); err != nil {
		return nil, err
	}
	for i, u := range c.w.seed.Users {
		if u.ID == c.p["userid"] {
			c.w.seed.Users = append(c.w.seed.Users[:i], c.w.seed.Users[i+1:]...)
			c.w.seed.ACL = slices.DeleteFunc(c.w.seed.ACL, func(g *Grant) bool {
				owner, _, _ := strings.Cut(g.To, "!")
				return g.Type != "group" && owner == u.ID
			})
			return nil, nil
		}
	}
	return nil, failf("delete user failed: %s", noUser(c.p["userid"]).Error())
}

func tokenList(c *call) (any, error) {
	u := c.w.user(c.p["userid"])
	if u == nil {
		return nil, noUser(c.p["userid"])
	}
	out := []object{}
	for _, t := range u.Tokens {
		e := t.entry()
		e["tokenid"] = t.ID
		out = append(out, e)
	}
	return out, nil
}

func tokenGet(c *call) (any, error) {
	t := c.w.token(c.p["userid"], c.p["tokenid"])
	if t == nil {
		return nil, failf("no such token '%s' for user '%s'", c.p["tokenid"], c.p["userid"])
	}
	return t.entry(), nil
}

func tokenCreate(c *call) (any, error) {
	u := c.w.user(c.p["userid"])
	if u == nil {
		return nil, noUser(c.p["userid"])
	}
	if c.w.token(u.ID, c.p["tokenid"]) != nil {
		return nil, badParam("tokenid", "Token already exists.")
	}
	if err := c.w.configLock("generating token", "file-user_cfg"); err != nil {
		return nil, err
	}
	t := &Token{ID: c.p["tokenid"], Secret: c.w.uuid(), Privsep: c.p["privsep"] != "0", Comment: c.p["comment"]}
	u.Tokens = append(u.Tokens, t)
	info := object{"privsep": cmp.Or(c.p["privsep"], "1")}
	if t.Comment != "" {
		info["comment"] = t.Comment
	}
	return object{"full-tokenid": u.ID + "!" + t.ID, "info": info, "value": t.Secret}, nil
}

func tokenDelete(c *call) (any, error) {
	if u := c.w.user(c.p["userid"]); u != nil {
		for i, t := range u.Tokens {
			if t.ID == c.p["tokenid"] {
				u.Tokens = append(u.Tokens[:i], u.Tokens[i+1:]...)
				c.w.seed.ACL = slices.DeleteFunc(c.w.seed.ACL, func(g *Grant) bool { return g.Type == "token" && g.To == u.ID+"!"+t.ID })
				return nil, nil
			}
		}
	}
	return nil, failf("no such token '%s' for user '%s'", c.p["tokenid"], c.p["userid"])
}
