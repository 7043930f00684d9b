package pvesim

import (
	"cmp"
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
	own := w.entityRights("token", id.String(), path)
	for p, propagate := range own {
		of, ok := out[p]
		if own[p] = propagate && of; !ok {
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
	return w.entityRights("user", user, path)
}

// noAccess is the role that takes all others away.
const noAccess = "NoAccess"

// entityRights returns the privileges of the roles that a user or a token has on a path:
// those of the path, and without propagation those of the pools that have the guest or
// the storage. NoAccess on either wins.
func (w *cluster) entityRights(kind, name, path string) rights {
	roles := w.rolesOf(kind, name, path)
	if _, refused := roles[noAccess]; refused {
		return rights{}
	}
	for _, pool := range w.poolsOfPath(path) {
		for role := range w.rolesOf(kind, name, "/pool/"+pool) {
			if role == noAccess {
				return rights{}
			}
			if _, own := roles[role]; !own { // a role of the path itself keeps its propagation
				roles[role] = false
			}
		}
	}
	out := rights{}
	for role, propagate := range roles {
		for _, p := range w.roles[role] {
			out[p] = out[p] || propagate
		}
	}
	return out
}

// rolesOf returns the roles of a user or a token on a path, with whether they propagate. An
// entry on a deeper path replaces those above it, and one of a user those of groups.
func (w *cluster) rolesOf(kind, name, path string) map[string]bool {
	out := map[string]bool{}
	for _, level := range levels(path) {
		found := w.rolesAt(kind, []string{name}, level, level == path)
		if found == nil && kind == "user" {
			if u := w.user(name); u != nil {
				found = w.rolesAt("group", u.Groups, level, level == path)
			}
		}
		if found != nil {
			out = found
		}
	}
	if _, refused := out[noAccess]; refused {
		return map[string]bool{noAccess: false}
	}
	return out
}

// rolesAt returns the roles granted at one level, or nil if it has no entry.
func (w *cluster) rolesAt(kind string, names []string, level string, exact bool) map[string]bool {
	var out map[string]bool
	for _, g := range w.seed.ACL {
		if cmp.Or(g.Type, "user") != kind || g.Path != level || !slices.Contains(names, g.To) || g.NoPropagate && !exact {
			continue
		}
		if out == nil {
			out = map[string]bool{}
		}
		out[g.Role] = out[g.Role] || !g.NoPropagate
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

// poolsOfPath returns the pools that have the guest or the storage of a path.
func (w *cluster) poolsOfPath(path string) []string {
	var out []string
	vmid, guest := strings.CutPrefix(path, "/vms/")
	storage, isStorage := strings.CutPrefix(path, "/storage/")
	for _, p := range w.seed.Pools {
		if guest && slices.Contains(p.Guests, atoi(vmid)) || isStorage && slices.Contains(p.Storage, storage) {
			out = append(out, p.ID)
		}
	}
	return out
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
		for _, p := range levels(g.Path) {
			set[p] = true
		}
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
