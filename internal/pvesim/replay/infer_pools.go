package replay

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"

	"stackgen/internal/pvesim"
)

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

// pools adds the pools of lists, lookups and other uses, except those that the
// scenario creates.
func (in *inferred) pools() {
	made := map[string]bool{}
	changed := map[string]bool{}
	in.latePools()
	for _, l := range in.steps {
		made[l.With["poolid"]] = true
	}
	used := func(id string) { // by a request, so it exists
		if !made[id] {
			in.pool(id)
		}
	}
	for _, e := range in.s.Exchanges {
		id := e.str("poolid")
		switch {
		case e.Method == http.MethodPost && e.api() == "/pools" && e.ok():
			made[id] = true
		case e.Method == http.MethodPost && e.api() == "/pools" && strings.Contains(e.Reason, "already exists"):
			used(id)
		case e.Method == http.MethodPut && e.api() == "/pools" && e.ok():
			used(id)
			changed[id] = true
		case e.Method == http.MethodDelete && strings.HasPrefix(e.api(), "/pools") && (e.ok() || strings.Contains(e.Reason, "is not empty")):
			used(id)
		case e.Method == http.MethodGet && strings.HasPrefix(e.api(), "/pools") && e.ok():
			for _, m := range e.list() {
				in.addPool(m, made, changed)
			}
		case e.Method == http.MethodPost && e.str("pool") != "" && e.ok():
			used(e.str("pool"))
		case strings.HasPrefix(e.api(), "/cluster/resources") && e.ok():
			in.poolResources(e, made, changed)
		}
	}
}

// latePools adds a step for every pool that a complete list lacks and a later
// lookup shows.
func (in *inferred) latePools() {
	absent := map[string]bool{}
	full := false
	shown := map[string]bool{}
	for _, e := range in.s.Exchanges {
		id := e.str("poolid")
		if e.Method == http.MethodGet && e.api() == "/pools" && id == "" && e.ok() && strings.Contains(e.Auth, "root@pam") {
			full = true
			for _, m := range e.list() {
				shown[fmt.Sprint(m["poolid"])] = true
			}
		}
		if e.Method == http.MethodPost && e.api() == "/pools" && e.ok() {
			shown[id] = true
		}
		if full && e.Method == http.MethodGet && id != "" && e.ok() && !shown[id] && !absent[id] {
			absent[id] = true
			in.steps = append(in.steps, prepared{Before: e.Seq, Do: "POST /pools", With: map[string]string{"poolid": id}})
		}
	}
}

func (in *inferred) addPool(m map[string]any, made, changed map[string]bool) {
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
		if v := number(member["vmid"]); v > 0 && !slices.Contains(p.Guests, v) && !in.createdByScenario(v) {
			p.Guests = append(p.Guests, v)
		}
		if st, ok := member["storage"].(string); ok && !slices.Contains(p.Storage, st) {
			p.Storage = append(p.Storage, st)
		}
	}
	changed[id] = true
}

// createdByScenario reports whether the scenario itself creates a guest.
func (in *inferred) createdByScenario(vmid int) bool {
	return slices.ContainsFunc(in.s.Exchanges, func(e *Exchange) bool { return e.creates(vmid) })
}

func (in *inferred) poolResources(e *Exchange, made, changed map[string]bool) {
	for _, m := range e.list() {
		if id, ok := m["pool"].(string); ok && !made[id] && !changed[id] {
			p := in.pool(id)
			if v := number(m["vmid"]); v > 0 && !slices.Contains(p.Guests, v) && !in.createdByScenario(v) {
				p.Guests = append(p.Guests, v)
			}
		}
	}
}
