package pvesim

import (
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/pvesim/schema"
)

// checkPermission applies the permission rule of the API description.
func (c *call) checkPermission(m *schema.Method) error {
	p := m.Permission
	if p == nil || p.Root != 0 {
		if c.who.user == "root@pam" && c.who.token == "" {
			return nil
		}
		if p != nil && p.Root != 0 || c.who.user != "root@pam" {
			return denied("user != root@pam")
		}
		return nil
	}
	if p.User != "" {
		return nil
	}
	return c.checkRule(p.Check)
}

func (c *call) checkRule(rule []any) error {
	if len(rule) == 0 {
		return nil
	}
	kind, _ := rule[0].(string)
	switch kind {
	case "and":
		for _, r := range rule[1:] {
			if err := c.checkRule(asList(r)); err != nil {
				return err
			}
		}
		return nil
	case "or":
		for _, r := range rule[1:] {
			err := c.checkRule(asList(r))
			// An alternative of several rules fails with its own error.
			if several := asList(r)[0] == "and"; err == nil || several || strings.Contains(err.Error(), "does not exist") {
				return err
			}
		}
		return denied("")
	case "perm":
		return c.checkPerm(rule)
	case "perm-modify":
		path, _ := c.fill(rule[1].(string))
		return c.w.requireAny(c.who, path, permModify(path)...)
	case "userid-group", "userid-param":
		return c.checkUserRule(kind, rule)
	}
	return denied("")
}

func (c *call) checkPerm(rule []any) error {
	opts := map[string]any{}
	for i := 3; i+1 < len(rule); i += 2 {
		if k, ok := rule[i].(string); ok {
			opts[k] = rule[i+1]
		}
	}
	if name, ok := opts["require_param"].(string); ok {
		if c.raw(name) == "" {
			return denied("")
		}
		if name == "pool" && c.w.pool(c.raw("pool")) == nil {
			return denied("pool '%s' does not exist", c.raw("pool"))
		}
	}
	path, ok := c.fill(rule[1].(string))
	privs := asStrings(rule[2])
	if !ok {
		return denied(", %s", strings.Join(privs, "|"))
	}
	if opts["any"] != nil {
		return c.w.requireAny(c.who, path, privs...)
	}
	return c.w.require(c.who, path, privs...)
}

// permModify returns the privileges of which a caller needs one to change the ACL of a path.
func permModify(path string) []string {
	out := []string{"Permissions.Modify"}
	for top, p := range map[string]string{"/storage/": "Datastore.Allocate", "/vms/": "VM.Allocate", "/pool/": "Pool.Allocate"} {
		if strings.HasPrefix(path, top) {
			out = append(out, p)
		}
	}
	return out
}

// validUser is the form of a user's name.
var validUser = regexp.MustCompile(`^[^\s:/]+@[A-Za-z][A-Za-z0-9.\-_]+$`)

// checkUserRule checks a rule about the user that a call names. Of a user that does not
// exist, only a creation may be allowed.
func (c *call) checkUserRule(kind string, rule []any) error {
	id := c.raw("userid")
	if !validUser.MatchString(id) {
		return failf("value '%s' does not look like a valid user name", id)
	}
	create := slices.Contains(rule, any("create"))
	u := c.w.user(id)
	if kind == "userid-param" && rule[1] != "self" {
		return c.w.require(c.who, "/access/realm/"+realmOf(id), rule[1].(string))
	}
	if u == nil && !create && !c.root() {
		return noUser(id)
	}
	if kind == "userid-param" {
		if id == c.who.String() {
			return nil
		}
		return denied("")
	}
	privs := asStrings(rule[1])
	if c.w.allowed(c.who, "/access/groups", privs...) {
		return nil
	}
	if slices.Contains(rule, any("groups_param")) {
		groups := schema.SplitList(c.raw("groups"))
		if len(groups) == 0 {
			return denied("/access/groups, %s", strings.Join(privs, "|"))
		}
		for _, g := range groups {
			if err := c.w.requireAny(c.who, "/access/groups/"+g, privs...); err != nil {
				return err
			}
		}
	}
	if create || u != nil && slices.ContainsFunc(u.Groups, func(g string) bool { return c.w.allowed(c.who, "/access/groups/"+g, privs...) }) {
		return nil
	}
	return denied("")
}

func realmOf(user string) string {
	_, realm, _ := strings.Cut(user, "@")
	return realm
}

// fill inserts parameters into a path template. It returns false if the result
// is not a path.
func (c *call) fill(template string) (string, bool) {
	out := ""
	for template != "" {
		before, rest, ok := strings.Cut(template, "{")
		out += before
		if !ok {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		out += c.raw(name)
		template = after
	}
	return normalPath(out)
}

func asList(v any) []any {
	l, _ := v.([]any)
	return l
}

func asStrings(v any) []string {
	var out []string
	for _, e := range asList(v) {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
