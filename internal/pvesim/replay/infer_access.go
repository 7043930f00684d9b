package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/schema"
)

// access adds the roles, groups and users that the recording shows, or proves to exist,
// before it makes them.
func (in *inferred) access() {
	a := &accounts{in: in, made: map[string]bool{}, touched: map[string]bool{}}
	for _, e := range in.s.Exchanges {
		part, id := accessPath(e)
		switch part {
		case "acl":
			a.byACL(e)
		case "roles", "groups", "users":
			a.byCall(e, part, id)
		}
	}
}

// accounts collects what a recording shows of roles, groups and users.
type accounts struct {
	in      *inferred
	made    map[string]bool // by the scenario, or changed by it: part/id
	touched map[string]bool // fields that the scenario wrote: part/id/field
}

// accessPath splits the path of a call about roles, groups, users or the ACL. The ID is empty
// for a list.
func accessPath(e *Exchange) (part, id string) {
	parts := strings.Split(e.api(), "/")
	if len(parts) < 3 || parts[1] != "access" {
		return "", ""
	}
	if len(parts) > 3 {
		id = parts[3]
	}
	return parts[2], strings.ReplaceAll(id, "%40", "@")
}

// byCall reads a call about roles, groups or users.
func (a *accounts) byCall(e *Exchange, part, id string) {
	m, _ := e.data().(map[string]any)
	names := map[string]string{"roles": "roleid", "groups": "groupid", "users": "userid"}
	if e.Method == http.MethodPost && id == "" {
		if id = e.str(names[part]); !e.ok() && strings.Contains(e.Reason, "already exists") && !a.made[part+"/"+id] {
			a.add(part, id, nil)
		}
		a.made[part+"/"+id] = a.made[part+"/"+id] || e.ok()
		return
	}
	if !e.ok() {
		return
	}
	switch {
	case e.Method != http.MethodGet:
		a.add(part, id, nil)
		for k := range e.form {
			a.touched[part+"/"+id+"/"+k] = true
		}
	case id == "":
		for _, x := range e.list() {
			if n, special := x["special"].(json.Number); !special || n == "0" {
				a.add(part, fmt.Sprint(x[names[part]]), x)
			}
		}
	case !strings.Contains(e.api(), "/token"):
		a.add(part, id, m)
	}
	if e.Method == http.MethodDelete && strings.Count(e.api(), "/") == 3 {
		a.made[part+"/"+id] = true // what has this name later is another one
	}
}

// byACL reads a change of the ACL, which needs the roles and those who get them, and a list.
func (a *accounts) byACL(e *Exchange) {
	if !e.ok() {
		return
	}
	for _, x := range e.list() {
		a.add("roles", fmt.Sprint(x["roleid"]), nil)
		if to := fmt.Sprint(x["ugid"]); x["type"] == "group" {
			a.add("groups", to, nil)
		} else {
			a.add("users", strings.SplitN(to, "!", 2)[0], nil)
		}
	}
	if e.Method != http.MethodPut {
		return
	}
	for part, field := range map[string]string{"roles": "roles", "groups": "groups", "users": "users"} {
		for _, id := range schema.SplitList(e.str(field)) {
			a.add(part, id, nil)
		}
	}
}

// add adds a role, a group or a user with what a response shows of it.
func (a *accounts) add(part, id string, m map[string]any) {
	if a.made[part+"/"+id] || id == "" {
		return
	}
	switch part {
	case "roles":
		a.addRole(id, m)
	case "groups":
		a.addGroup(id, m)
	case "users":
		a.addUser(id, m)
	}
}

func (a *accounts) addRole(id string, m map[string]any) {
	if pvesim.BuiltIn(a.in.seed.Version, id) {
		return
	}
	i := slices.IndexFunc(a.in.seed.Roles, func(r *pvesim.Role) bool { return r.ID == id })
	if i < 0 {
		i = len(a.in.seed.Roles)
		a.in.seed.Roles = append(a.in.seed.Roles, &pvesim.Role{ID: id})
	}
	r := a.in.seed.Roles[i]
	if len(r.Privileges) > 0 || a.touched["roles/"+id+"/privs"] || m == nil {
		return
	}
	if list, ok := m["privs"].(string); ok {
		r.Privileges = schema.SplitList(list)
		return
	}
	r.Privileges = slices.Sorted(maps.Keys(m))
}

func (a *accounts) addGroup(id string, m map[string]any) {
	seed := a.in.seed
	i := slices.IndexFunc(seed.Groups, func(g *pvesim.Group) bool { return g.ID == id })
	if i < 0 {
		i = len(seed.Groups)
		seed.Groups = append(seed.Groups, &pvesim.Group{ID: id})
	}
	if c, ok := m["comment"].(string); ok && seed.Groups[i].Comment == "" && !a.touched["groups/"+id+"/comment"] {
		seed.Groups[i].Comment = c
	}
	members := schema.SplitList(text(m["users"]))
	for _, x := range asList(m["members"]) {
		members = append(members, fmt.Sprint(x))
	}
	for _, user := range members {
		if !a.made["users/"+user] && !a.touched["users/"+user+"/groups"] {
			a.addUser(user, map[string]any{"groups": id})
		}
	}
}

func (a *accounts) addUser(id string, m map[string]any) {
	u := findUser(a.in.seed, id)
	if u == nil {
		u = &pvesim.User{ID: id, Password: password}
		a.in.seed.Users = append(a.in.seed.Users, u)
	}
	keep := func(field string) bool { return m[field] == nil || a.touched["users/"+id+"/"+field] }
	for field, to := range u.Fields() {
		if !keep(field) && *to == "" {
			*to = text(m[field])
		}
	}
	if !keep("expire") && u.Expire == 0 {
		u.Expire = int64(number(m["expire"]))
	}
	if !keep("enable") {
		u.Disabled = number(m["enable"]) == 0
	}
	if !keep("groups") {
		groups := schema.SplitList(text(m["groups"]))
		for _, x := range asList(m["groups"]) {
			groups = append(groups, fmt.Sprint(x))
		}
		for _, g := range groups {
			if !a.made["groups/"+g] && !slices.Contains(u.Groups, g) {
				u.Groups = append(u.Groups, g)
				a.addGroup(g, nil)
			}
		}
	}
	a.addTokens(u, m["tokens"])
}

// addTokens adds the tokens in an entry of a user.
func (a *accounts) addTokens(u *pvesim.User, tokens any) {
	list := map[string]map[string]any{}
	for _, t := range asMaps(tokens) {
		list[fmt.Sprint(t["tokenid"])] = t
	}
	if m, ok := tokens.(map[string]any); ok {
		for id, t := range m {
			list[id], _ = t.(map[string]any)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(list)) {
		if !slices.ContainsFunc(u.Tokens, func(t *pvesim.Token) bool { return t.ID == id }) && !a.in.makesToken(u.ID, id) {
			u.Tokens = append(u.Tokens, &pvesim.Token{ID: id, Secret: secret, Privsep: number(list[id]["privsep"]) == 1,
				Expire: int64(number(list[id]["expire"])), Comment: text(list[id]["comment"])})
		}
	}
}

// makesToken reports whether the scenario makes a token.
func (in *inferred) makesToken(user, id string) bool {
	return slices.ContainsFunc(in.s.Exchanges, func(e *Exchange) bool {
		return e.Method == http.MethodPost && strings.HasSuffix(strings.ReplaceAll(e.api(), "%40", "@"), "/access/users/"+user+"/token/"+id)
	})
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}
