package replay

import (
	"fmt"
	"regexp"
	"strings"

	"stackgen/internal/pvesim"
)

// maxAmends bounds how many unrecorded steps one request may need.
const maxAmends = 8

var (
	refusedFor = regexp.MustCompile(`^Permission check failed \((/[^,]*), ([A-Za-z.|]+)\)`)
	roleInNote = regexp.MustCompile(`\b(PVE[A-Za-z]+|Administrator)\b`)
	noteInList = regexp.MustCompile(`^(qemu|lxc|storage)/(.+)$`)
)

// amend makes up for steps the recording leaves out, when the recorded answer
// proves that they were taken: a right that was granted before, a guest that
// was removed before its number was used again. It only ever changes the world
// before the request; the answer still is the simulator's.
func (p *player) amend(e *Exchange, resp pvesim.Response, got any) bool {
	if p.removedBefore(e, resp) || p.removedFromList(e, got) {
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
		return p.grantFor(e, resp.Reason, user, token)
	}
	if e.ok() && resp.Status == 200 {
		return p.grantSeen(e, got, user, token)
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

// removedBefore: a number the scenario could use was free, so whatever had it was gone.
func (p *player) removedBefore(e *Exchange, resp pvesim.Response) bool {
	if resp.Status != 500 {
		return false
	}
	vmid := 0
	switch {
	case e.ok() && strings.Contains(resp.Reason, "already exists") && e.Method == "POST":
		vmid = number(e.str("newid"))
		if vmid == 0 {
			vmid = number(e.str("vmid"))
		}
	default:
		return false
	}
	found := false
	p.sim.Change(func(s *pvesim.Seed) { found = pvesimGuest(s, vmid) != nil })
	if found {
		p.sim.Remove(vmid)
	}
	return found
}

// removedFromList: a guest the scenario made, never asked to delete, and that a
// full list no longer shows was removed by somebody else.
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
		if vmid == 0 || want[vmid] || foreign(p.one, vmid) || p.deletes(vmid) {
			continue
		}
		p.sim.Remove(vmid)
		done = true
	}
	return done
}

// deletes says that the scenario itself asks for a guest's removal.
func (p *player) deletes(vmid int) bool {
	for _, e := range p.s.Exchanges {
		if _, _, id, rest := e.guest(); id == vmid && e.Method == "DELETE" && rest == "" {
			return true
		}
	}
	return false
}

// grantFor gives the right a refusal asks for: by the role the notes name, or
// by the smallest that has it.
func (p *player) grantFor(e *Exchange, reason, user, token string) bool {
	m := refusedFor.FindStringSubmatch(reason)
	if m == nil {
		if e.str("pool") != "" && reason == "Permission check failed" {
			return p.give(user, "PVEVMAdmin", "/pool/"+e.str("pool"))
		}
		return false
	}
	path, priv := m[1], strings.Split(m[2], "|")[0]
	role := p.roleWith(e, priv)
	if role == "" {
		return false
	}
	if zone, ok := strings.CutPrefix(path, "/sdn/zones/"); ok {
		path = "/sdn/zones/" + strings.Split(zone, "/")[0]
	}
	if p.give(user, role, path) {
		return true
	}
	return token != "" && p.give(user+"!"+token, role, path)
}

// roleWith prefers a role the note names.
func (p *player) roleWith(e *Exchange, priv string) string {
	for _, r := range roleInNote.FindAllString(e.Note, -1) {
		if pvesim.RoleHas("8.4", r, priv) {
			return r
		}
	}
	return pvesim.SmallestRole("8.4", priv)
}

// give adds an access entry; false when it was there already.
func (p *player) give(to, role, path string) bool {
	key := to + " " + role + " " + path
	if p.granted[key] {
		return false
	}
	p.granted[key] = true
	kind := "user"
	if strings.Contains(to, "!") {
		kind = "token"
	}
	p.sim.Change(func(s *pvesim.Seed) {
		s.ACL = append(s.ACL, &pvesim.Grant{Path: path, Type: kind, To: to, Role: role})
	})
	return true
}

// grantSeen gives the rights without which a list would not have shown what it
// showed, and those a caller's own permission dump names.
func (p *player) grantSeen(e *Exchange, got any, user, token string) bool {
	done := false
	switch {
	case e.api() == "/cluster/resources":
		have := map[string]bool{}
		m, _ := got.(map[string]any)
		for _, x := range asMaps(m["data"]) {
			have[fmt.Sprint(x["id"])] = true
			have["pool of "+fmt.Sprint(x["id"])] = x["pool"] != nil
		}
		for _, x := range e.list() {
			id := fmt.Sprint(x["id"])
			parts := noteInList.FindStringSubmatch(id)
			if pool, ok := x["pool"].(string); ok && have[id] && !have["pool of "+id] {
				done = p.give(user, "PVEPoolUser", "/pool/"+pool) || done
			}
			if have[id] || parts == nil {
				continue
			}
			if parts[1] == "storage" {
				_, storage, _ := strings.Cut(parts[2], "/")
				done = p.give(user, "PVEDatastoreUser", "/storage/"+storage) || done
				continue
			}
			done = p.give(user, "PVEAuditor", "/vms/"+parts[2]) || done
		}
	case e.api() == "/access/permissions" && len(e.Query) == 0:
		done = p.grantDumped(e, got, user, token)
	case e.api() == "/access/ticket" && e.Method == "POST":
		done = p.grantCaps(e, got)
	}
	return done
}

func (p *player) grantDumped(e *Exchange, got any, user, token string) bool {
	m, _ := got.(map[string]any)
	mine, _ := m["data"].(map[string]any)
	want, _ := e.data().(map[string]any)
	done := false
	for _, path := range keysOf(want) {
		if _, ok := mine[path]; ok {
			continue
		}
		privs, _ := want[path].(map[string]any)
		role := pvesim.RoleOf("8.4", keysOf(privs))
		if named := roleInNote.FindString(e.Note); named != "" {
			role = named
		}
		if role == "" {
			continue
		}
		if strings.Contains(e.Note, "token") && token != "" {
			done = p.give(user+"!"+token, role, path) || done
		} else if p.give(user, role, path) {
			done = true
		} else if token != "" {
			done = p.give(user+"!"+token, role, path) || done
		}
	}
	return done
}

// grantCaps: a login's summary says what may be done somewhere.
func (p *player) grantCaps(e *Exchange, got any) bool {
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
	role := pvesim.RoleOf("8.4", keysOf(vms))
	if role == "" {
		role = pvesim.SmallestRole("8.4", keysOf(vms)[0])
		if _, only := vms["VM.Audit"]; only && len(vms) == 1 {
			role = "PVEAuditor"
		}
	}
	return p.give(fmt.Sprint(data["username"]), role, "/vms/9000")
}

// noteGrant gives what a note says the caller now has, in place of what earlier
// notes said.
func (p *player) noteGrant(e *Exchange) {
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
		var kept []*pvesim.Grant
		for _, g := range s.ACL {
			if g.To != user {
				kept = append(kept, g)
			}
		}
		s.ACL = append(kept, &pvesim.Grant{Path: m[2], To: user, Role: m[1]})
	})
}
