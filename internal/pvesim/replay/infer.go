package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/schema"
)

// inferred is the initial state of a scenario as its recording shows it.
type inferred struct {
	s     *Scenario
	seed  *pvesim.Seed
	one   bool
	steps []prepared // unrecorded steps between the requests
}

// infer adds to a base seed what the recording shows before the writes of the
// scenario: guests with node and configuration, pools, ACL entries, HA
// resources. It returns steps that must have happened during the scenario.
func infer(s *Scenario, seed *pvesim.Seed) []prepared {
	in := &inferred{s: s, seed: seed, one: len(seed.Nodes) == 1}
	in.access()
	in.tokens()
	in.pools()
	in.grants()
	in.files()
	in.guests()
	in.ha()
	return in.steps
}

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
			separate := strings.Contains(token, "sep") && !strings.Contains(token, "nosep")
			u.Tokens = append(u.Tokens, &pvesim.Token{ID: token, Secret: secret, Privsep: separate})
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

var grantNote = regexp.MustCompile(`\b(PVE[A-Za-z]+|Administrator) on (/[A-Za-z0-9/_.-]*)`)

// grants adds the ACL entries that a recorded list shows and that no earlier request of the
// scenario sets. grantFromNote adds those of notes later.
func (in *inferred) grants() {
	set := map[string]bool{}
	for _, e := range in.s.Exchanges {
		for _, key := range e.grants() {
			set[key] = true
		}
		if !strings.Contains(e.Auth, "root@pam") {
			// Other users made changes before the list, so it does not show the initial state.
			break
		}
		if e.api() != "/access/acl" || e.Method != http.MethodGet || !e.ok() {
			continue
		}
		for _, m := range e.list() {
			if set[fmt.Sprint(m["path"], " ", m["ugid"], " ", m["roleid"])] {
				continue
			}
			in.seed.ACL = append(in.seed.ACL, &pvesim.Grant{Path: fmt.Sprint(m["path"]), Type: fmt.Sprint(m["type"]), To: fmt.Sprint(m["ugid"]),
				Role: fmt.Sprint(m["roleid"]), NoPropagate: number(m["propagate"]) == 0})
		}
		return
	}
	if len(set) == 0 {
		in.grantsFromRights()
	}
}

// grants returns the ACL entries that a request sets or removes: path, who and role.
func (e *Exchange) grants() []string {
	if e.Method != http.MethodPut || e.api() != "/access/acl" || !e.ok() {
		return nil
	}
	var out []string
	for _, role := range schema.SplitList(e.str("roles")) {
		for _, to := range schema.SplitList(e.str("users") + "," + e.str("groups") + "," + e.str("tokens")) {
			out = append(out, e.str("path")+" "+to+" "+role)
		}
	}
	return out
}

// grantsFromRights adds the ACL entries that the permission dump of a user
// implies.
func (in *inferred) grantsFromRights() {
	if in.hasGrantNotes() {
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
			if role := pvesim.RoleOf(in.seed.Version, slices.Sorted(maps.Keys(privs))); role != "" {
				in.seed.ACL = append(in.seed.ACL, &pvesim.Grant{Path: path, To: user, Role: role})
			}
		}
		return
	}
}

func (in *inferred) hasGrantNotes() bool {
	for _, e := range in.s.Exchanges {
		if grantNote.MatchString(e.Note) {
			return true
		}
	}
	return false
}

// ha adds the HA agents that were active in the first status.
func (in *inferred) ha() {
	in.haEntries()
	for _, e := range in.s.Exchanges {
		if e.Method == http.MethodPost && strings.HasPrefix(e.api(), "/cluster/ha/resources") && e.ok() {
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

// haEntries adds the HA resources of the first list or lookup.
func (in *inferred) haEntries() {
	seen := map[string]bool{}
	for _, e := range in.s.Exchanges {
		if !strings.HasPrefix(e.api(), "/cluster/ha/resources") || !e.ok() {
			continue
		}
		if e.Method == http.MethodPost {
			seen[e.str("sid")] = true
		}
		items := e.list()
		if m, ok := e.data().(map[string]any); ok {
			items = append(items, m)
		}
		for _, m := range items {
			sid, _ := m["sid"].(string)
			if e.Method != http.MethodGet || sid == "" || seen[sid] {
				continue
			}
			seen[sid] = true
			comment, _ := m["comment"].(string)
			group, _ := m["group"].(string)
			in.seed.HA = append(in.seed.HA, &pvesim.HAEntry{SID: sid, State: fmt.Sprint(m["state"]), Comment: comment, Group: group,
				CRM: fmt.Sprint(m["state"])})
		}
		if e.Method == http.MethodGet && len(items) == 0 {
			return // an empty list: later resources were created later
		}
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
