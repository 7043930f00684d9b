package replay

import (
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

var (
	withheldNote = regexp.MustCompile(`\bwithout ([A-Z]\w+(?:\.\w+)+)$`)
	scopeNote    = regexp.MustCompile(`^rights on (the .*\bpool\b.*)`)
)

// followNote sets the privileges of a user with few of them as the note of a request says: all
// that the user's own permissions show, or all but one, on everything or on a pool and what else
// the note names.
func (p *player) followNote(e *Exchange) {
	user, _ := caller(e.Auth)
	full := p.s.rightsOnRoot(user)
	if !p.base.narrow || user == "root@pam" || len(full) == 0 {
		return
	}
	if m := scopeNote.FindStringSubmatch(e.Note); m != nil {
		p.scope = []string{"/pool/" + e.str("pool")}
		if strings.Contains(m[1], "storage") {
			storage, _, _ := strings.Cut(e.str("rootfs"), ":")
			p.scope = append(p.scope, "/storage/"+storage)
		}
		if strings.Contains(m[1], "zone") {
			p.scope = append(p.scope, "/sdn/zones/localnetwork")
		}
		p.dropRights(user, "/")
	}
	privs := full
	if m := withheldNote.FindStringSubmatch(e.Note); m != nil {
		privs = slices.DeleteFunc(slices.Clone(full), func(v string) bool { return v == m[1] })
	}
	scope := p.scope
	if len(scope) == 0 {
		scope = []string{"/"}
	}
	for _, path := range scope {
		p.setRights(user, path, privs)
	}
}

// dropRights removes the ACL entry of a user on a path that an unrecorded step made.
func (p *player) dropRights(user, path string) {
	r := p.rights[user+" "+path]
	if r == nil {
		return
	}
	p.sim.Change(func(s *pvesim.Seed) {
		s.ACL = slices.DeleteFunc(s.ACL, func(g *pvesim.Grant) bool { return g.Role == r.role })
	})
	p.log("no rights of %s on %s", user, path)
}

// rightsOnRoot returns the privileges on / in the first permissions that the recording shows of a
// user.
func (s *Scenario) rightsOnRoot(user string) []string {
	for _, e := range s.Exchanges {
		if who, _ := caller(e.Auth); who != user || e.api() != "/access/permissions" || !e.ok() || len(e.Query) > 0 {
			continue
		}
		paths, _ := e.data().(map[string]any)
		privs, _ := paths["/"].(map[string]any)
		var out []string
		for k := range privs {
			out = append(out, k)
		}
		slices.Sort(out)
		return out
	}
	return nil
}
