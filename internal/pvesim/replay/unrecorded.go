package replay

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// maxUnrecordedSteps limits the unrecorded steps before one request.
const maxUnrecordedSteps = 8

var (
	refusedFor = regexp.MustCompile(`^Permission check failed \((/[^,]*), ([A-Za-z.|]+)\)`)
	emptied    = regexp.MustCompile(`^delete pool failed: pool '[^']*' is not empty \(contains VM (\d+)\)`)
	roleInNote = regexp.MustCompile(`\b(PVE[A-Za-z]+|Administrator)\b`)
	noteInList = regexp.MustCompile(`^(qemu|lxc|storage)/(.+)$`)
)

// addUnrecordedStep carries out a step that the recording lacks but its
// response proves: a privilege was granted, or a guest was removed before its
// VMID was used again. It changes only the state before the request; the
// response still comes from the simulator. It reports whether it changed
// anything.
func (p *player) addUnrecordedStep(e *Exchange, resp pvesim.Response, got any) bool {
	if p.removedBefore(e, resp) || p.removedFromList(e, got) || p.addMissingGuest(e, resp) ||
		p.movedVolume(e, got) || p.endedByAdministrator(e, got) {
		return true
	}
	user, token := caller(e.Auth)
	if user == "" {
		user = p.user
	}
	if user == "" || user == "root@pam" {
		return false
	}
	if resp.Status == 403 && (e.Status != 403 || e.Reason != resp.Reason) {
		return p.grantForError(e, resp.Reason, user, token)
	}
	if e.ok() && resp.Status == 200 {
		return p.grantForResponse(e, got, user, token)
	}
	return false
}

func caller(auth string) (user, token string) {
	id, _, _ := strings.Cut(strings.TrimPrefix(auth, "PVEAPIToken="), "=")
	user, token, _ = strings.Cut(id, "!")
	if !strings.HasPrefix(auth, "PVEAPIToken=") {
		return "", ""
	}
	return user, token
}

// removedBefore removes the guest whose VMID the recorded request could use.
func (p *player) removedBefore(e *Exchange, resp pvesim.Response) bool {
	if resp.Status != 500 {
		return false
	}
	vmid := 0
	switch {
	case !strings.Contains(e.Reason, "already exists") && strings.Contains(resp.Reason, "already exists") && e.Method == http.MethodPost:
		vmid = number(e.str("newid"))
		if vmid == 0 {
			vmid = number(e.str("vmid"))
		}
	case e.ok() && emptied.MatchString(resp.Reason):
		vmid = number(emptied.FindStringSubmatch(resp.Reason)[1])
	default:
		return false
	}
	found := false
	p.sim.Change(func(s *pvesim.Seed) { found = pvesimGuest(s, vmid) != nil })
	if found {
		p.log("%d is removed before %d", vmid, e.Seq)
		p.sim.Remove(vmid)
	}
	return found
}

// removedFromList removes the guests that a recorded complete list lacks and
// that the scenario itself never deletes.
func (p *player) removedFromList(e *Exchange, got any) bool {
	if e.api() != "/cluster/resources" || !e.ok() || !strings.Contains(e.Auth, "root@pam") {
		return false
	}
	want := map[int]bool{}
	for _, x := range e.list() {
		want[number(x["vmid"])] = true
	}
	m, _ := got.(map[string]any)
	done := false
	for _, x := range asMaps(m["data"]) {
		vmid := number(x["vmid"])
		if vmid == 0 || want[vmid] || p.s.isForeign(p.one, vmid) || p.deletes(vmid) {
			continue
		}
		p.log("%d is removed before %d", vmid, e.Seq)
		p.sim.Remove(vmid)
		done = true
	}
	return done
}

// deletes reports whether the scenario itself deletes a guest.
func (p *player) deletes(vmid int) bool {
	for _, e := range p.s.Exchanges {
		if _, _, id, rest := e.guest(); id == vmid && e.Method == http.MethodDelete && rest == "" {
			return true
		}
	}
	return false
}

// grantForError grants the privilege that a 403 names, with the role in the
// notes or else the role with the fewest privileges.
func (p *player) grantForError(e *Exchange, reason, user, token string) bool {
	m := refusedFor.FindStringSubmatch(reason)
	if m == nil {
		if e.str("pool") != "" && reason == "Permission check failed" {
			return p.grant(user, "PVEVMAdmin", "/pool/"+e.str("pool"))
		}
		path, priv := e.unnamedRight()
		return p.base.narrow && priv != "" && reason == "Permission check failed" && p.addRight(user, path, priv)
	}
	path, priv := m[1], strings.Split(m[2], "|")[0]
	if zone, ok := strings.CutPrefix(path, "/sdn/zones/"); ok {
		path = "/sdn/zones/" + strings.Split(zone, "/")[0]
	}
	role := p.roleWith(e, priv)
	if p.base.narrow && role == "" {
		return p.addRight(user, path, priv) || token != "" && p.addRight(user+"!"+token, path, priv)
	}
	if role == "" {
		role = pvesim.SmallestRole("8.4", priv)
	}
	return p.grant(user, role, path) || token != "" && p.grant(user+"!"+token, role, path)
}

// unnamedRight returns the path and the privilege that a call needs whose refusal names none,
// because others would do as well.
func (e *Exchange) unnamedRight() (path, priv string) {
	parts := strings.Split(e.api(), "/")
	switch {
	case strings.HasSuffix(e.api(), "/query-url-metadata"), strings.HasSuffix(e.api(), "/download-url"):
		return "/nodes/" + parts[2], "Sys.AccessNetwork"
	case e.Method == http.MethodPost && len(parts) == 4 && (parts[3] == "qemu" || parts[3] == "lxc"):
		return "/vms/" + e.str("vmid"), "VM.Allocate"
	}
	return "", ""
}

// roleWith returns the role in the note that has a privilege, or "".
func (p *player) roleWith(e *Exchange, priv string) string {
	for _, r := range roleInNote.FindAllString(e.Note, -1) {
		if pvesim.RoleHas("8.4", r, priv) {
			return r
		}
	}
	return ""
}

// grant adds an ACL entry and reports whether it is new.
func (p *player) grant(to, role, path string) bool {
	key := to + " " + role + " " + path
	if p.granted[key] {
		return false
	}
	p.granted[key] = true
	p.log("grant %s", key)
	kind := "user"
	if strings.Contains(to, "!") {
		kind = "token"
	}
	p.sim.Change(func(s *pvesim.Seed) {
		s.ACL = append(s.ACL, &pvesim.Grant{Path: path, Type: kind, To: to, Role: role})
	})
	return true
}

// grantForResponse grants the privileges that a recorded list needs, and those
// in a caller's own permission dump.
func (p *player) grantForResponse(e *Exchange, got any, user, token string) bool {
	switch {
	case e.api() == "/cluster/resources":
		return p.grantForList(e, got, user)
	case strings.HasSuffix(e.api(), "/content") && e.Method == http.MethodGet && p.base.narrow:
		return p.rightsForContent(e, got, user)
	case e.api() == "/access/permissions" && e.Query["path"] != nil && p.base.narrow:
		return p.rightsForPath(e, user)
	case e.api() == "/access/permissions" && len(e.Query) == 0:
		return p.grantForDump(e, got, user, token)
	case e.api() == "/access/ticket" && e.Method == http.MethodPost:
		return p.grantForLogin(e, got)
	}
	return false
}

// grantForList grants the privileges on the entries of the recorded list that the
// simulator's list lacks.
func (p *player) grantForList(e *Exchange, got any, user string) bool {
	have := map[string]bool{}
	m, _ := got.(map[string]any)
	for _, x := range asMaps(m["data"]) {
		have[fmt.Sprint(x["id"])] = true
		have["pool of "+fmt.Sprint(x["id"])] = x["pool"] != nil
	}
	done := false
	for _, x := range e.list() {
		id := fmt.Sprint(x["id"])
		parts := noteInList.FindStringSubmatch(id)
		if pool, ok := x["pool"].(string); ok && have[id] && !have["pool of "+id] {
			done = p.grant(user, "PVEPoolUser", "/pool/"+pool) || done
		}
		if have[id] || parts == nil {
			continue
		}
		if parts[1] == "storage" {
			_, storage, _ := strings.Cut(parts[2], "/")
			done = p.grant(user, "PVEDatastoreUser", "/storage/"+storage) || done
			continue
		}
		done = p.grant(user, "PVEAuditor", "/vms/"+parts[2]) || done
	}
	return done
}

func (p *player) grantForDump(e *Exchange, got any, user, token string) bool {
	m, _ := got.(map[string]any)
	mine, _ := m["data"].(map[string]any)
	want, _ := e.data().(map[string]any)
	done := false
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if _, ok := mine[path]; ok {
			continue
		}
		privs, _ := want[path].(map[string]any)
		role := pvesim.RoleOf("8.4", slices.Sorted(maps.Keys(privs)))
		if named := roleInNote.FindString(e.Note); named != "" {
			role = named
		}
		if role == "" {
			continue
		}
		forToken := token != "" && strings.Contains(e.Note, "token")
		if !forToken && p.grant(user, role, path) {
			done = true
			continue
		}
		if token != "" {
			done = p.grant(user+"!"+token, role, path) || done
		}
	}
	return done
}

// grantForLogin grants the privileges that the response to a login contains.
func (p *player) grantForLogin(e *Exchange, got any) bool {
	m, _ := got.(map[string]any)
	mine, _ := m["data"].(map[string]any)
	have, _ := mine["cap"].(map[string]any)
	data, _ := e.data().(map[string]any)
	caps, _ := data["cap"].(map[string]any)
	vms, _ := caps["vms"].(map[string]any)
	mineVMs, _ := have["vms"].(map[string]any)
	if len(vms) == 0 || len(mineVMs) > 0 {
		return false
	}
	role := pvesim.RoleOf("8.4", slices.Sorted(maps.Keys(vms)))
	if role == "" {
		role = pvesim.SmallestRole("8.4", slices.Sorted(maps.Keys(vms))[0])
		if _, only := vms["VM.Audit"]; only && len(vms) == 1 {
			role = "PVEAuditor"
		}
	}
	return p.grant(fmt.Sprint(data["username"]), role, "/vms/9000")
}

// grantFromNote grants the role that a note names and revokes those of earlier
// notes.
func (p *player) grantFromNote(e *Exchange) {
	m := grantNote.FindStringSubmatch(e.Note)
	if m == nil || p.granted[m[0]] {
		return
	}
	p.granted[m[0]] = true
	user, _ := caller(e.Auth)
	if user == "root@pam" || user == "" {
		return
	}
	p.sim.Change(func(s *pvesim.Seed) {
		s.ACL = slices.DeleteFunc(s.ACL, func(g *pvesim.Grant) bool { return g.To == user })
		s.ACL = append(s.ACL, &pvesim.Grant{Path: m[2], To: user, Role: m[1]})
	})
}
