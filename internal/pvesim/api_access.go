package pvesim

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
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
		"GET /access/roles/{roleid}":                    roleGet,
		"PUT /access/roles/{roleid}":                    roleUpdate,
		"DELETE /access/roles/{roleid}":                 roleDelete,
		"GET /access/acl":                               aclList,
		"PUT /access/acl":                               aclUpdate,
		"GET /access/users":                             userList,
		"POST /access/users":                            userCreate,
		"GET /access/users/{userid}":                    userGet,
		"PUT /access/users/{userid}":                    userUpdate,
		"DELETE /access/users/{userid}":                 userDelete,
		"PUT /access/password":                          passwordUpdate,
		"GET /access/users/{userid}/token":              tokenList,
		"GET /access/users/{userid}/token/{tokenid}":    tokenGet,
		"POST /access/users/{userid}/token/{tokenid}":   tokenCreate,
		"PUT /access/users/{userid}/token/{tokenid}":    tokenUpdate,
		"DELETE /access/users/{userid}/token/{tokenid}": tokenDelete,
		"GET /access/groups":                            groupList,
		"POST /access/groups":                           groupCreate,
		"GET /access/groups/{groupid}":                  groupGet,
		"PUT /access/groups/{groupid}":                  groupUpdate,
		"DELETE /access/groups/{groupid}":               groupDelete,
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
	ok := c.w.active(u) && u.Password != "" && u.Password == c.p["password"]
	if !ok && c.w.active(u) {
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
	patterns := map[string]*regexp.Regexp{
		"access":  regexp.MustCompile(`^((User|Group)\.|Permissions\.Modify)`),
		"dc":      regexp.MustCompile(`^(Sys\.Audit|Sys\.Modify|SDN\.)`),
		"mapping": regexp.MustCompile(`^(Mapping\.|Permissions\.Modify)`),
		"nodes":   regexp.MustCompile(`^(Sys\.|Permissions\.Modify)`),
		"sdn":     regexp.MustCompile(`^(SDN\.|Permissions\.Modify)`),
		"storage": regexp.MustCompile(`^(Datastore\.|Permissions\.Modify)`),
		"vms":     regexp.MustCompile(`^(VM\.|Permissions\.Modify)`),
	}
	out := map[string]object{}
	for part := range patterns {
		out[part] = object{}
	}
	paths := map[string]bool{"/": true, "/nodes": true, "/access/groups": true, "/vms": true, "/storage": true, "/sdn": true, "/mapping": true}
	for _, g := range w.seed.ACL {
		for _, p := range levels(g.Path) {
			paths[p] = true
		}
	}
	for path := range paths {
		top := cmp.Or(strings.Split(path, "/")[1], "dc")
		tops := []string{top}
		if top == "pool" {
			tops = []string{"vms", "storage"}
		}
		for p := range w.userRights(user, path) {
			for _, part := range tops {
				if re := patterns[part]; re != nil && re.MatchString(p) {
					out[part][p] = 1
				}
			}
		}
	}
	caps := object{}
	for part, list := range out {
		caps[part] = list
	}
	return caps
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
	audit := c.w.allowed(c.who, "/access", "Sys.Audit")
	for _, g := range c.w.seed.ACL {
		if !audit && !c.w.allowed(c.who, g.Path, permModify(g.Path)...) {
			continue
		}
		out = append(out, object{"path": g.Path, "propagate": flag(!g.NoPropagate), "roleid": g.Role,
			"type": cmp.Or(g.Type, "user"), "ugid": g.To})
	}
	return out, nil
}

var validACLPath = regexp.MustCompile(`^/$|^/(access|access/(groups|realm)(/[\w.\-]+)?|nodes(/[\w.\-]+)?|pool(/[\w.\-]+){0,3})$|` +
	`^/sdn(/(controllers|dns|ipams)(/[\w\-]+)?|/zones(/[\w.\-]+){0,2}|/zones/[\w.\-]+/[\w.\-]+/[1-9][0-9]{0,3})?$|` +
	`^/storage(/[\w.\-]+)?$|^/vms(/[1-9][0-9]{2,})?$|^/mapping(/[\w.\-]+){0,2}$`)

func aclUpdate(c *call) (any, error) {
	if c.p["users"] == "" && c.p["groups"] == "" && c.p["tokens"] == "" {
		const missing = "either 'users', 'groups' or 'tokens' is required."
		return nil, badParams(map[string]string{"users": missing, "groups": missing, "tokens": missing})
	}
	path, ok := normalPath(c.p["path"])
	if !ok || !c.flag("delete") && !validACLPath.MatchString(path) {
		return nil, badParam("path", "invalid ACL path '%s'", c.p["path"])
	}
	if err := c.w.configLock("ACL update", "file-user_cfg"); err != nil {
		return nil, err
	}
	for _, role := range schema.SplitList(c.p["roles"]) {
		if _, ok := c.w.roles[role]; !ok {
			return nil, failf("ACL update failed: role '%s' does not exist", role)
		}
		if err := c.mayGrant(path, role); err != nil {
			return nil, err
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

// mayGrant returns the error of a caller who grants or removes more than the caller has.
func (c *call) mayGrant(path, role string) error {
	have := c.w.rightsOf(c.who, path)
	if _, all := have["Permissions.Modify"]; all {
		return nil
	}
	verb := "add"
	if c.flag("delete") {
		verb = "remove"
	}
	for _, p := range c.w.roles[role] {
		propagates, ok := have[p]
		switch {
		case !ok:
			return badParam("role", "Cannot %s role '%s' - requires 'Permissions.Modify' or superset of privileges.", verb, role)
		case c.p["propagate"] != "0" && !propagates && verb == "add":
			return badParam("role", "Cannot %s role '%s' with propagation - "+
				"requires 'Permissions.Modify' or propagated superset of privileges.", verb, role)
		}
	}
	if role == noAccess {
		return badParam("role", "Cannot %s role '%s' - requires 'Permissions.Modify'", verb, role)
	}
	return nil
}

// grantee returns an error if who gets a role does not exist.
func (c *call) grantee(kind, to string) error {
	switch kind {
	case "user":
		if c.w.user(to) == nil {
			return failf("ACL update failed: user '%s' does not exist", to)
		}
	case "group":
		if c.w.group(to) == nil {
			return failf("ACL update failed: group '%s' does not exist", to)
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

func (t *Token) entry() object {
	out := object{"expire": t.Expire, "privsep": flag(t.Privsep)}
	if t.Comment != "" {
		out["comment"] = t.Comment
	}
	return out
}

func noUser(id string) error { return failf("%s", fmt.Sprintf("no such user ('%s')", id)) }
