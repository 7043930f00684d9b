package pvesim

import (
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
			if err == nil || strings.Contains(err.Error(), "does not exist") {
				return err
			}
		}
		return denied("")
	case "perm":
		return c.checkPerm(rule)
	case "perm-modify":
		path, _ := c.fill(rule[1].(string))
		return c.w.require(c.who, path, "Permissions.Modify")
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

func (c *call) checkUserRule(kind string, rule []any) error {
	if kind == "userid-param" {
		if rule[1] == "self" && c.raw("userid") == c.who.user {
			return nil
		}
		if rule[1] == "self" {
			return denied("")
		}
		return c.w.require(c.who, "/access/realm/"+realmOf(c.raw("userid")), rule[1].(string))
	}
	if c.w.allowed(c.who, "/access/groups", asStrings(rule[1])...) {
		return nil
	}
	if u := c.w.user(c.raw("userid")); u != nil {
		for _, g := range u.Groups {
			if c.w.allowed(c.who, "/access/groups/"+g, asStrings(rule[1])...) {
				return nil
			}
		}
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
