package pvesim

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/internal/pvesim/schema"
)

// entry returns what calls show of a user, in full with groups and tokens.
func (u *User) entry() object {
	out := object{"enable": flag(!u.Disabled), "expire": u.Expire}
	for k, v := range u.Fields() {
		// In its line of the file, an empty address ends only if a field follows.
		if *v != "" || k == "email" && u.Comment+u.Keys != "" {
			out[k] = *v
		}
	}
	return out
}

// Fields returns the fields of a user that are text, by their names in the API.
func (u *User) Fields() map[string]*string {
	return map[string]*string{"comment": &u.Comment, "email": &u.Email, "firstname": &u.First, "lastname": &u.Last, "keys": &u.Keys}
}

// groupNames returns the groups of a user, in order.
func (u *User) groupNames() []string { return slices.Sorted(slices.Values(u.Groups)) }

func userList(c *call) (any, error) {
	out := []object{}
	privs := []string{"User.Modify", "Sys.Audit"}
	all := c.w.allowed(c.who, "/access/groups", privs...)
	users := slices.SortedFunc(slices.Values(c.w.seed.Users), func(a, b *User) int { return strings.Compare(a.ID, b.ID) })
	for _, u := range users {
		listed := all || u.ID == c.who.String() ||
			slices.ContainsFunc(u.Groups, func(g string) bool { return c.w.allowed(c.who, "/access/groups/"+g, privs...) })
		if !listed || c.has("enabled") && c.flag("enabled") == u.Disabled {
			continue
		}
		o := u.entry()
		o["userid"] = u.ID
		if r := realmOf(u.ID); r == "pve" || r == "pam" { // the realms that the cluster has
			o["realm-type"] = r
		}
		if c.flag("full") {
			o["groups"], o["tokens"] = strings.Join(u.groupNames(), ","), nil
			if len(u.Tokens) > 0 {
				o["tokens"] = u.tokenList()
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// tokenList returns the tokens of a user, each with its ID.
func (u *User) tokenList() []object {
	out := []object{}
	for _, t := range u.Tokens {
		e := t.entry()
		e["tokenid"] = t.ID
		out = append(out, e)
	}
	return out
}

func userCreate(c *call) (any, error) {
	if err := c.w.configLock("create user", "file-user_cfg"); err != nil {
		return nil, err
	}
	u := &User{ID: c.p["userid"]}
	if c.w.user(u.ID) != nil {
		return nil, failf("create user failed: user '%s' already exists", u.ID)
	}
	if c.has("password") {
		if err := u.setPassword(c.p["password"]); err != nil {
			return nil, failf("create user failed: %s", err.Error())
		}
	}
	if err := c.setUser(u); err != nil {
		return nil, failf("create user failed: %s", err.Error())
	}
	c.w.seed.Users = append(c.w.seed.Users, u)
	return nil, nil
}

// setUser sets the fields of a user that the call has.
func (c *call) setUser(u *User) error {
	groups := u.Groups
	if c.has("groups") && !c.flag("append") {
		groups = nil
	}
	for _, g := range schema.SplitList(c.p["groups"]) {
		if c.w.group(g) == nil {
			return failf("no such group '%s'", g)
		}
		if !slices.Contains(groups, g) {
			groups = append(slices.Clone(groups), g)
		}
	}
	u.Groups = groups
	if c.has("enable") {
		u.Disabled = !c.flag("enable")
	}
	if c.has("expire") {
		u.Expire = int64(atoi(c.p["expire"]))
	}
	for k, to := range u.Fields() {
		if c.has(k) {
			*to = c.p[k]
		}
	}
	return nil
}

// setPassword returns an error for a user of a realm that the cluster does not have.
func (u *User) setPassword(password string) error {
	if r := realmOf(u.ID); r != "pve" && r != "pam" {
		return failf("auth domain '%s' does not exist", r)
	}
	u.Password = password
	return nil
}

func userUpdate(c *call) (any, error) {
	if err := c.w.configLock("update user", "file-user_cfg"); err != nil {
		return nil, err
	}
	u := c.w.user(c.p["userid"])
	if u == nil {
		return nil, failf("update user failed: %s", noUser(c.p["userid"]).Error())
	}
	if err := c.setUser(u); err != nil {
		return nil, failf("update user failed: %s", err.Error())
	}
	return nil, nil
}

// passwordUpdate sets a password. Who is not root confirms it with the own one.
func passwordUpdate(c *call) (any, error) {
	u, me := c.w.user(c.p["userid"]), c.w.user(c.who.user)
	switch {
	case u == nil:
		return nil, noUser(c.p["userid"])
	case c.who.user == "root@pam":
	case u.ID == "root@pam":
		return nil, denied("")
	case !c.has("confirmation-password"):
		return nil, badParam("confirmation-password", "password is required to modify user")
	case me == nil || me.Password != c.p["confirmation-password"]:
		return nil, failf("invalid credentials")
	case u.ID != c.who.user && realmOf(u.ID) == "pam":
		return nil, denied("")
	}
	return nil, u.setPassword(c.p["password"])
}

func userGet(c *call) (any, error) {
	u := c.w.user(c.p["userid"])
	if u == nil {
		return nil, noUser(c.p["userid"])
	}
	out := u.entry()
	out["groups"], out["tokens"] = append([]string{}, u.groupNames()...), nil
	if len(u.Tokens) > 0 {
		tokens := object{}
		for _, t := range u.Tokens {
			tokens[t.ID] = t.entry()
		}
		out["tokens"] = tokens
	}
	return out, nil
}

func userDelete(c *call) (any, error) {
	if err := c.w.configLock("delete user", "file-user_cfg"); err != nil {
		return nil, err
	}
	u := c.w.user(c.p["userid"])
	if u == nil {
		return nil, failf("delete user failed: %s", noUser(c.p["userid"]).Error())
	}
	c.w.seed.Users = slices.DeleteFunc(c.w.seed.Users, func(x *User) bool { return x == u })
	c.w.seed.ACL = slices.DeleteFunc(c.w.seed.ACL, func(g *Grant) bool {
		owner, _, _ := strings.Cut(g.To, "!")
		return g.Type != "group" && owner == u.ID
	})
	return nil, nil
}

func tokenList(c *call) (any, error) {
	u := c.w.user(c.p["userid"])
	if u == nil {
		return nil, noUser(c.p["userid"])
	}
	return u.tokenList(), nil
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
	t := &Token{ID: c.p["tokenid"], Secret: c.w.uuid(), Privsep: c.p["privsep"] != "0", Comment: c.p["comment"],
		Expire: int64(atoi(c.p["expire"]))}
	u.Tokens = append(u.Tokens, t)
	info := object{"privsep": cmp.Or(c.p["privsep"], "1")}
	if t.Comment != "" {
		info["comment"] = t.Comment
	}
	if c.has("expire") {
		info["expire"] = c.p["expire"]
	}
	return object{"full-tokenid": u.ID + "!" + t.ID, "info": info, "value": t.Secret}, nil
}

func tokenUpdate(c *call) (any, error) {
	t := c.w.token(c.p["userid"], c.p["tokenid"])
	if t == nil {
		return nil, failf("no such token '%s' for user '%s'", c.p["tokenid"], c.p["userid"])
	}
	if err := c.w.configLock("updating token info", "file-user_cfg"); err != nil {
		return nil, err
	}
	if c.has("privsep") {
		t.Privsep = c.flag("privsep")
	}
	if c.has("expire") {
		t.Expire = int64(atoi(c.p["expire"]))
	}
	if c.p["comment"] != "" {
		t.Comment = c.p["comment"]
	}
	return t.entry(), nil
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
