package replay

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"stackgen/internal/pvesim"
)

// inferred is what a recording shows of the world it starts in.
type inferred struct {
	s    *Scenario
	seed *pvesim.Seed
	one  bool
	late []prepared // steps that must have been taken on the way
}

// infer adapts a base seed: which guests were there, where and with which
// configuration; pools; grants; who had what running. Only what was so before
// the scenario's own writes counts.
func infer(s *Scenario, seed *pvesim.Seed) []prepared {
	in := &inferred{s: s, seed: seed, one: len(seed.Nodes) == 1}
	in.tokens()
	in.pools()
	in.grants()
	in.guests()
	in.ha()
	return in.late
}

// foreign guests and pools belong to other work on the recorded server.
func foreign(one bool, vmid int) bool { return one && vmid >= 300 && vmid < 400 }

func (in *inferred) tokens() {
	for _, e := range in.s.Exchanges {
		full, ok := strings.CutPrefix(e.Auth, "PVEAPIToken=")
		if !ok || e.Status == 401 {
			continue
		}
		id, _, _ := strings.Cut(full, "=")
		user, token, ok := strings.Cut(id, "!")
		if !ok {
			continue
		}
		u := findUser(in.seed, user)
		if u == nil {
			u = &pvesim.User{ID: user, Password: password}
			in.seed.Users = append(in.seed.Users, u)
		}
		known := false
		for _, t := range u.Tokens {
			known = known || t.ID == token
		}
		if !known {
			u.Tokens = append(u.Tokens, &pvesim.Token{ID: token, Secret: secret, Privsep: strings.Contains(token, "sep") && !strings.Contains(token, "nosep")})
		}
	}
}

func findUser(seed *pvesim.Seed, id string) *pvesim.User {
	for _, u := range seed.Users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (in *inferred) pool(id string) *pvesim.Pool {
	for _, p := range in.seed.Pools {
		if p.ID == id {
			return p
		}
	}
	p := &pvesim.Pool{ID: id}
	in.seed.Pools = append(in.seed.Pools, p)
	sort.Slice(in.seed.Pools, func(i, j int) bool { return in.seed.Pools[i].ID < in.seed.Pools[j].ID })
	return p
}

// pools takes pools from lists, from lookups and from being used, unless the
// scenario made them itself.
func (in *inferred) pools() {
	made := map[string]bool{}
	changed := map[string]bool{}
	in.latePools()
	for _, l := range in.late {
		made[l.With["poolid"]] = true
	}
	for _, e := range in.s.Exchanges {
		id := e.str("poolid")
		switch {
		case e.Method == "POST" && e.api() == "/pools" && e.ok():
			made[id] = true
		case e.Method == "POST" && e.api() == "/pools" && strings.Contains(e.Reason, "already exists"):
			if !made[id] {
				in.pool(id)
			}
		case e.Method == "PUT" && e.api() == "/pools" && e.ok():
			if !made[id] {
				in.pool(id)
			}
			changed[id] = true
		case e.Method == "GET" && strings.HasPrefix(e.api(), "/pools") && e.ok():
			for _, m := range e.list() {
				in.seePool(m, made, changed)
			}
		case e.Method == "POST" && e.str("pool") != "" && e.ok() && !made[e.str("pool")]:
			in.pool(e.str("pool"))
		case strings.HasPrefix(e.api(), "/cluster/resources") && e.ok():
			in.poolResources(e, made, changed)
		}
	}
}

func (in *inferred) seePool(m map[string]any, made, changed map[string]bool) {
	id := fmt.Sprint(m["poolid"])
	if m["poolid"] == nil || made[id] {
		return
	}
	p := in.pool(id)
	if c, ok := m["comment"].(string); ok && !changed[id] {
		p.Comment = c
	}
	members, ok := m["members"].([]any)
	if !ok || changed[id] {
		return
	}
	for _, raw := range members {
		member, _ := raw.(map[string]any)
		if v := number(member["vmid"]); v > 0 && !hasInt(p.Guests, v) && !in.cloned(v) {
			p.Guests = append(p.Guests, v)
		}
		if st, ok := member["storage"].(string); ok && !hasString(p.Storage, st) {
			p.Storage = append(p.Storage, st)
		}
	}
	changed[id] = true
}

// latePools finds pools that a full list did not show and a later lookup did.
func (in *inferred) latePools() {
	absent := map[string]bool{}
	full := false
	shown := map[string]bool{}
	for _, e := range in.s.Exchanges {
		id := e.str("poolid")
		if e.Method == "GET" && e.api() == "/pools" && id == "" && e.ok() && strings.Contains(e.Auth, "root@pam") {
			full = true
			for _, m := range e.list() {
				shown[fmt.Sprint(m["poolid"])] = true
			}
		}
		if e.Method == "POST" && e.api() == "/pools" && e.ok() {
			shown[id] = true
		}
		if full && e.Method == "GET" && id != "" && e.ok() && !shown[id] && !absent[id] {
			absent[id] = true
			in.late = append(in.late, prepared{Before: e.Seq, Do: "POST /pools", With: map[string]string{"poolid": id}})
		}
	}
}

// cloned says that the scenario itself makes a guest.
func (in *inferred) cloned(vmid int) bool {
	for _, e := range in.s.Exchanges {
		if e.Method == "POST" && e.ok() && (e.str("newid") == strconv.Itoa(vmid) || strings.HasSuffix(e.api(), "/qemu") && e.str("vmid") == strconv.Itoa(vmid)) {
			return true
		}
	}
	return false
}

func (in *inferred) poolResources(e *Exchange, made, changed map[string]bool) {
	for _, m := range e.list() {
		if id, ok := m["pool"].(string); ok && !made[id] && !changed[id] {
			p := in.pool(id)
			if v := number(m["vmid"]); v > 0 && !hasInt(p.Guests, v) && !in.cloned(v) {
				p.Guests = append(p.Guests, v)
			}
		}
	}
}

var grantNote = regexp.MustCompile(`\b(PVE[A-Za-z]+|Administrator) on (/[A-Za-z0-9/_.-]*)`)

// grants takes access entries from the list a caller with the right to see it
// got. Grants that notes speak of are given when the note first appears.
func (in *inferred) grants() {
	for _, e := range in.s.Exchanges {
		if e.Method == "PUT" && e.api() == "/access/acl" && e.ok() {
			return
		}
		if !strings.Contains(e.Auth, "root@pam") {
			// Others have been at work before the list: it does not show the start.
			break
		}
		if e.api() != "/access/acl" || e.Method != "GET" || !e.ok() {
			continue
		}
		for _, m := range e.list() {
			in.seed.ACL = append(in.seed.ACL, &pvesim.Grant{Path: fmt.Sprint(m["path"]), Type: fmt.Sprint(m["type"]), To: fmt.Sprint(m["ugid"]),
				Role: fmt.Sprint(m["roleid"]), NoPropagate: number(m["propagate"]) == 0})
		}
		return
	}
	in.grantsFromRights()
}

// grantsFromRights: what a token may do, from its own permission dump; also
// what a ticket may do, from the login's summary.
func (in *inferred) grantsFromRights() {
	if in.hasNotes() {
		return
	}
	for _, e := range in.s.Exchanges {
		if e.api() != "/access/permissions" || !e.ok() || len(e.Query) > 0 {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(e.Auth, "PVEAPIToken="), "=")
		user, _, _ := strings.Cut(id, "!")
		if user == "" || user == "root@pam" {
			continue
		}
		paths, _ := e.data().(map[string]any)
		for path, raw := range paths {
			privs, _ := raw.(map[string]any)
			if role := pvesim.RoleOf(in.seed.Version, keysOf(privs)); role != "" {
				in.seed.ACL = append(in.seed.ACL, &pvesim.Grant{Path: path, To: user, Role: role})
			}
		}
		return
	}
}

func (in *inferred) hasNotes() bool {
	for _, e := range in.s.Exchanges {
		if grantNote.MatchString(e.Note) {
			return true
		}
	}
	return false
}

// ha: a manager that already shows in the first status was at work before.
func (in *inferred) ha() {
	for _, e := range in.s.Exchanges {
		if e.Method == "POST" && strings.HasPrefix(e.api(), "/cluster/ha/resources") && e.ok() {
			return
		}
		if e.api() != "/cluster/ha/status/current" || !e.ok() {
			continue
		}
		for _, m := range e.list() {
			if m["type"] != "lrm" {
				continue
			}
			node := fmt.Sprint(m["node"])
			if strings.Contains(fmt.Sprint(m["status"]), "(idle") {
				node = ""
			}
			in.seed.HANodes = append(in.seed.HANodes, node)
		}
		return
	}
}

func number(v any) int {
	switch n := v.(type) {
	case json.Number:
		i, err := n.Int64()
		if err != nil {
			return 0
		}
		return int(i)
	case string:
		i, err := strconv.Atoi(n)
		if err != nil {
			return 0
		}
		return i
	}
	return 0
}

func keysOf(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func hasInt(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

func hasString(list []string, v string) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}
