package pvesim

import (
	"regexp"
	"slices"
	"strings"
)

// identity is the caller of a request: a user, or a token of a user.
type identity struct {
	user    string
	token   string
	privsep bool
}

func (id *identity) String() string {
	if id.token == "" {
		return id.user
	}
	return id.user + "!" + id.token
}

// rights maps granted privileges to whether they propagate.
type rights map[string]bool

var aclPath = regexp.MustCompile(`^/[A-Za-z0-9.\-_/]*$`)

func normalPath(p string) (string, bool) {
	for strings.Contains(p, "//") {
		p = strings.ReplaceAll(p, "//", "/")
	}
	if len(p) > 1 {
		p = strings.TrimSuffix(p, "/")
	}
	return p, aclPath.MatchString(p)
}

// rightsOf returns the privileges of an identity on a path.
func (w *cluster) rightsOf(id *identity, path string) rights {
	out := w.userRights(id.user, path)
	if id.token == "" || !id.privsep {
		return out
	}
	own := w.entityRights("token", []string{id.String()}, path)
	for p := range own {
		if _, ok := out[p]; !ok {
			delete(own, p)
		}
	}
	return own
}

func (w *cluster) userRights(user, path string) rights {
	if user == "root@pam" {
		out := rights{}
		for p := range w.everything {
			out[p] = true
		}
		return out
	}
	return w.entityRights("user", []string{user}, path)
}

// entityRights collects privileges along a path. An entry on a deeper path
// replaces those above it.
func (w *cluster) entityRights(kind string, names []string, path string) rights {
	out, refused := w.pathRights(kind, names, path)
	pool := w.poolOfPath(path)
	if pool == "" || refused {
		return out
	}
	prefix := "VM."
	if strings.HasPrefix(path, "/storage/") {
		prefix = "Datastore."
	}
	granted, _ := w.pathRights(kind, names, "/pool/"+pool)
	for p := range granted {
		if _, have := out[p]; !have && strings.HasPrefix(p, prefix) {
			out[p] = false
		}
	}
	return out
}

// pathRights also reports whether NoAccess decides: then no pool adds rights.
func (w *cluster) pathRights(kind string, names []string, path string) (out rights, refused bool) {
	out = rights{}
	for _, level := range levels(path) {
		found := w.grantsAt(kind, names, level, level == path)
		if found == nil && kind == "user" {
			if u := w.user(names[0]); u != nil && len(u.Groups) > 0 {
				found = w.grantsAt("group", u.Groups, level, level == path)
			}
		}
		if found != nil {
			out, refused = found, len(found) == 0
		}
	}
	return out, refused
}

// grantsAt returns the roles granted at one level, or nil if it has no entry.
func (w *cluster) grantsAt(kind string, names []string, level string, exact bool) rights {
	var out rights
	for _, g := range w.seed.ACL {
		t := g.Type
		if t == "" {
			t = "user"
		}
		if t != kind || g.Path != level || !slices.Contains(names, g.To) || (g.NoPropagate && !exact) {
			continue
		}
		if g.Role == "NoAccess" {
			return rights{}
		}
		if out == nil {
			out = rights{}
		}
		for _, p := range w.roles[g.Role] {
			out[p] = out[p] || !g.NoPropagate
		}
	}
	return out
}

func levels(path string) []string {
	out := []string{"/"}
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			out = append(out, path[:i])
		}
	}
	if path != "/" {
		out = append(out, path)
	}
	return out
}

func (w *cluster) poolOfPath(path string) string {
	if id, ok := strings.CutPrefix(path, "/vms/"); ok {
		if p := w.poolOf(atoi(id)); p != nil {
			return p.ID
		}
	}
	if id, ok := strings.CutPrefix(path, "/storage/"); ok {
		for _, p := range w.seed.Pools {
			if slices.Contains(p.Storage, id) {
				return p.ID
			}
		}
	}
	return ""
}

// allowed reports whether an identity has one of the privileges on a path.
func (w *cluster) allowed(id *identity, path string, privs ...string) bool {
	have := w.everything
	if id.user != "root@pam" || id.token != "" && id.privsep {
		have = w.rightsOf(id, path)
	}
	for _, p := range privs {
		if _, ok := have[p]; ok {
			return true
		}
	}
	return false
}

// require returns a 403 unless the caller has all privileges.
func (w *cluster) require(id *identity, path string, all ...string) error {
	have := w.rightsOf(id, path)
	for _, p := range all {
		if _, ok := have[p]; !ok {
			return denied("%s, %s", path, p)
		}
	}
	return nil
}

// requireAny returns a 403 unless the caller has one of the privileges.
func (w *cluster) requireAny(id *identity, path string, privs ...string) error {
	if w.allowed(id, path, privs...) {
		return nil
	}
	return denied("%s, %s", path, strings.Join(privs, "|"))
}

// knownPaths returns the paths in a permission dump.
func (w *cluster) knownPaths() []string {
	set := map[string]bool{}
	for _, p := range []string{"/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"} {
		set[p] = true
	}
	for _, g := range w.seed.ACL {
		set[g.Path] = true
	}
	for _, p := range w.seed.Pools {
		for _, v := range p.Guests {
			set["/vms/"+itoa(v)] = true
		}
		for _, s := range p.Storage {
			set["/storage/"+s] = true
		}
	}
	out := make([]string, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
