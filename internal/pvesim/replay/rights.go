package replay

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// rights are the privileges that unrecorded steps have given to a user on a path, in a
// role of its own.
type rights struct {
	role  string
	privs []string
}

// setRights gives a user exactly some privileges on a path, as an administrator's
// unrecorded step did.
func (p *player) setRights(user, path string, privs []string) bool {
	key := user + " " + path
	r := p.rights[key]
	if r != nil && slices.Equal(r.privs, privs) {
		return false
	}
	do := func(what string, with map[string]string) bool {
		return p.runStep(prepared{Before: 2, Do: what, With: with}) == nil
	}
	list := strings.Join(privs, ",")
	if r == nil {
		r = &rights{role: fmt.Sprintf("replay-%d", len(p.rights))}
		who := "users"
		if strings.Contains(user, "!") {
			who = "tokens"
		}
		if !do("POST /access/roles", map[string]string{"roleid": r.role, "privs": list}) ||
			!do("PUT /access/acl", map[string]string{"path": path, "roles": r.role, who: user}) {
			return false
		}
		p.rights[key] = r
	} else if !do("PUT /access/roles/"+r.role, map[string]string{"privs": list}) {
		return false
	}
	r.privs = privs
	p.log("rights of %s on %s: %s", user, path, list)
	return true
}

// addRight gives a user one more privilege on a path.
func (p *player) addRight(user, path, priv string) bool {
	var privs []string
	if r := p.rights[user+" "+path]; r != nil {
		privs = slices.Clone(r.privs)
	}
	if slices.Contains(privs, priv) {
		return false
	}
	privs = append(privs, priv)
	slices.Sort(privs)
	return p.setRights(user, path, privs)
}

// revoke takes the privileges from a user that a recorded 403 proves to be missing, if
// an unrecorded step gave them.
func (p *player) revoke(e *Exchange) {
	user, _ := caller(e.Auth)
	if e.Status != http.StatusForbidden || user == "" {
		return
	}
	path, privs := e.unnamedRight()
	if m := refusedFor.FindStringSubmatch(e.Reason); m != nil {
		path, privs = m[1], m[2]
	}
	r := p.rights[user+" "+path]
	if r == nil {
		return
	}
	left := slices.DeleteFunc(slices.Clone(r.privs), func(v string) bool { return slices.Contains(strings.Split(privs, "|"), v) })
	p.setRights(user, path, left)
}

// rightsForContent gives a user who lists the volumes of others the right to see all.
func (p *player) rightsForContent(e *Exchange, got any, user string) bool {
	m, _ := got.(map[string]any)
	have := map[any]bool{}
	for _, v := range asMaps(m["data"]) {
		have[v["volid"]] = true
	}
	for _, v := range e.list() {
		if v["content"] == "images" && !have[v["volid"]] {
			return p.addRight(user, "/storage/"+strings.Split(e.api(), "/")[4], "Datastore.Allocate")
		}
	}
	return false
}

// rightsForPath sets the rights of a user to those in the user's own permissions on one
// path.
func (p *player) rightsForPath(e *Exchange, user string) bool {
	want, _ := e.data().(map[string]any)
	done := false
	for _, path := range slices.Sorted(maps.Keys(want)) {
		privs, ok := want[path].(map[string]any)
		if ok && e.Query["path"] == path {
			done = p.setRights(user, path, slices.Sorted(maps.Keys(privs))) || done
		}
	}
	return done
}
