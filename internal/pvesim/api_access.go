package pvesim

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"stackgen/internal/pvesim/schema"
)

func accessHandlers() map[string]handler {
	return map[string]handler{
		"GET /access/domains":                           domains,
		"GET /access/ticket":                            func(*call) (any, error) { return nil, nil },
		"POST /access/ticket":                           login,
		"GET /access/permissions":                       permissions,
		"GET /access/roles":                             roleList,
		"POST /access/roles":                            roleCreate,
		"PUT /access/roles/{roleid}":                    roleUpdate,
		"DELETE /access/roles/{roleid}":                 roleDelete,
		"GET /access/acl":                               aclList,
		"PUT /access/acl":                               aclUpdate,
		"GET /access/users":                             userList,
		"POST /access/users":                            userCreate,
		"GET /access/users/{userid}":                    userGet,
		"DELETE /access/users/{userid}":                 userDelete,
		"GET /access/users/{userid}/token":              tokenList,
		"GET /access/users/{userid}/token/{tokenid}":    tokenGet,
		"POST /access/users/{userid}/token/{tokenid}":   tokenCreate,
		"DELETE /access/users/{userid}/token/{tokenid}": tokenDelete,
		"GET /access/groups":                            groupList,
	}
}

func digestOf(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

func domains(*call) (any, error) {
	return []object{{"comment": "Proxmox VE authentication server", "realm": "pve", "type": "pve"},
		{"comment": "Linux PAM standard authentication", "realm": "pam", "type": "pam"}}, nil
}

func login(c *call) (any, error) {
	name := c.p["username"]
	if c.has("realm") && !strings.Contains(name, "@") {
		name += "@" + c.p["realm"]
	}
	u := c.w.user(name)
	ok := u != nil && !u.Disabled && u.Password != "" && u.Password == c.p["password"]
	if !ok && u != nil {
		// A ticket is accepted as the password, to renew a login.
		who, good := c.s.ticketUser(c.p["password"])
		ok = good && who == name
	}
	if !ok {
		e := unauthorized("authentication failure")
		e.bare = false
		return nil, e
	}
	out := object{"username": name, "ticket": c.s.ticket(name), "CSRFPreventionToken": c.s.csrf(name), "cap": c.w.capabilities(name)}
	if c.w.seed.Cluster != "" {
		out["clustername"] = c.w.seed.Cluster
	}
	return out, nil
}

// capabilities lists, by section of the web interface, the privileges that a
// user has on any path.
func (w *cluster) capabilities(user string) object {
	patterns := map[string]string{
		"access":  `^(User|Group|Realm)\.|^Permissions\.Modify`,
		"dc":      `^Sys\.|^SDN\.`,
		"mapping": `^Mapping\.|^Permissions\.Modify`,
		"nodes":   `^Sys\.|^Permissions\.Modify`,
		"sdn":     `^SDN\.|^Permissions\.Modify`,
		"storage": `^Datastore\.|^Permissions\.Modify`,
		"vms":     `^VM\.|^Permissions\.Modify`,
	}
	tops := map[string][]string{"access": {"/access"}, "dc": {"/"}, "mapping": {"/mapping"}, "nodes": {"/nodes"}, "sdn": {"/sdn"},
		"storage": {"/storage"}, "vms": {"/vms", "/pool"}}
	out := object{}
	for part, pattern := range patterns {
		re := regexp.MustCompile(pattern)
		caps := object{}
		for _, path := range w.knownPaths() {
			for _, top := range tops[part] {
				if path != top && !strings.HasPrefix(path, top+"/") && path != "/" {
					continue
				}
				for p := range w.userRights(user, path) {
					if re.MatchString(p) {
						caps[p] = 1
					}
				}
			}
		}
		out[part] = caps
	}
	return out
}

func permissions(c *call) (any, error) {
	who := c.who
	if id := c.p["userid"]; id != "" && id != c.who.String() {
		user, token, _ := strings.Cut(id, "!")
		if user != c.who.user || c.who.token != "" {
			if err := c.w.require(c.who, "/access", "Sys.Audit"); err != nil {
				return nil, err
			}
		}
		who = &identity{user: user, token: token}
		if t := c.w.token(user, token); t != nil {
			who.privsep = t.Privsep
		}
	}
	out := object{}
	if path, ok := c.p["path"]; ok {
		out[path] = flags(c.w.rightsOf(who, path))
		return out, nil
	}
	for _, path := range c.w.knownPaths() {
		if r := c.w.rightsOf(who, path); len(r) > 0 {
			out[path] = flags(r)
		}
	}
	return out, nil
}

func flags(r rights) object {
	out := object{}
	for p, propagate := range r {
		out[p] = flag(propagate)
	}
	return out
}

func aclList(c *call) (any, error) {
	out := []object{}
	for _, g := range c.w.seed.ACL {
		if !c.w.allowed(c.who, g.Path, "Permissions.Modify") && !c.w.allowed(c.who, "/access", "Sys.Audit", "Permissions.Modify") {
			continue
		}
		out = append(out, object{"path": g.Path, "propagate": flag(!g.NoPropagate), "roleid": g.Role,
			"type": cmp.Or(g.Type, "user"), "ugid": g.To})
	}
	return out, nil
}

var validACLPath = regexp.MustCompile(`^/$|` +
	`^/(access|access/groups|access/realm|nodes|pool|sdn|sdn/zones|storage|vms|mapping|mapping/(pci|usb|dir))$|` +
	`^/access/(groups|realm)/[^/]+$|^/nodes/[^/]+$|^/pool/.+$|^/sdn/zones/.+$|^/sdn/[^/]+(/[^/]+)?$|` +
	`^/storage/[^/]+$|^/vms/[1-9][0-9]{2,}$|^/mapping/[^/]+/[^/]+$`)

func aclUpdate(c *call) (any, error) {
	path, ok := normalPath(c.p["path"])
	if !ok || !validACLPath.MatchString(path) {
		return nil, badParam("path", "invalid ACL path '%s'", c.p["path"])
	}
	if err := c.w.configLock("ACL update", "file-user_cfg"); err != nil {
		return nil, err
	}
	for _, role := range schema.SplitList(c.p["roles"]) {
		if _, ok := c.w.roles[role]; !ok {
			return nil, failf("ACL update failed: role '%s' does not exist", role)
		}
		for _, kind := range []string{"group", "user", "token"} {
			for _, to := range schema.SplitList(c.p[kind+"s"]) {
				if err := c.grantee(kind, to); err != nil {
					return nil, err
				}
				c.w.grant(&Grant{Path: path, Type: kind, To: to, Role: role, NoPropagate: c.p["propagate"] == "0"}, c.flag("delete"))
			}
		}
	}
	return nil, nil
}

func (c *call) grantee(kind, to string) error {
	switch kind {
	case "user":
		if c.w.user(to) == nil {
			return failf("ACL update failed: user '%s' does not exist", to)
		}
	case "token":
		user, id, _ := strings.Cut(to, "!")
		if c.w.token(user, id) == nil {
			return failf("ACL update failed: no such token '%s' for user '%s'", id, user)
		}
	}
	return nil
}

func (w *cluster) grant(g *Grant, remove bool) {
	for i, old := range w.seed.ACL {
		if old.Path == g.Path && cmp.Or(old.Type, "user") == g.Type && old.To == g.To && old.Role == g.Role {
			w.seed.ACL = append(w.seed.ACL[:i], w.seed.ACL[i+1:]...)
			break
		}
	}
	if !remove {
		w.seed.ACL = append(w.seed.ACL, g)
	}
	sort.SliceStable(w.seed.ACL, func(i, j int) bool { return w.seed.ACL[i].Path < w.seed.ACL[j].Path })
}

func (w *cluster) token(user, id string) *Token {
	u := w.user(user)
	if u == nil {
		return nil
	}
	for _, t := range u.Tokens {
		if t.ID == id {
			return t
		}
	}
	return nil
}

func groupList(c *call) (any, error) {
	out := []object{}
	for _, g := range c.w.seed.Groups {
		var users []string
		for _, u := range c.w.seed.Users {
			if slices.Contains(u.Groups, g.ID) {
				users = append(users, u.ID)
			}
		}
		o := object{"groupid": g.ID, "users": strings.Join(users, ",")}
		if g.Comment != "" {
			o["comment"] = g.Comment
		}
		out = append(out, o)
	}
	return out, nil
}

func (t *Token) entry() object {
	out := object{"expire": 0, "privsep": flag(t.Privsep)}
	if t.Comment != "" {
		out["comment"] = t.Comment
	}
	return out
}

func noUser(id string) error { return failf("%s", fmt.Sprintf("no such user ('%s')", id)) }
