package replay

import (
	"maps"
	"net/http"
	"strings"

	"stackgen/internal/pvesim"
)

// byList reads the guest lists of cluster and nodes.
func (in *inferred) byList(e *Exchange, get func(int) *trace) {
	list := e.api() == "/cluster/resources" || strings.HasPrefix(e.api(), "/pools")
	nodeList := strings.HasPrefix(e.api(), "/nodes/") && createsGuest(e.api())
	if e.Method != http.MethodGet || !e.ok() || !list && !nodeList {
		return
	}
	items := e.list()
	for _, p := range items {
		items = append(items, asMaps(p["members"])...)
	}
	for _, m := range items {
		vmid := number(m["vmid"])
		if vmid == 0 || in.s.isForeign(in.one, vmid) {
			continue
		}
		t := get(vmid)
		if t.decided {
			continue
		}
		node, _ := m["node"].(string)
		kind, _ := m["type"].(string)
		if nodeList {
			parts := strings.Split(e.api(), "/")
			node, kind = parts[2], parts[3]
		}
		t.see(node, kind)
		if m["name"] == nil && !nodeList {
			t.silent = t.silent || !t.listed
			continue
		}
		t.listed = true
		t.sawList(e, m, nodeList)
	}
}

// sawList reads an entry of a list. The cluster's list shows what the node reported
// some time ago, so a later entry, and the list of the node, show the configuration
// better, as long as nothing changed it.
func (t *trace) sawList(e *Exchange, m map[string]any, nodeList bool) {
	first := t.list == nil || t.list["maxdisk"] == nil
	if first && e.api() == "/cluster/resources" && len(t.touched) == 0 {
		t.reported = m
	}
	better := !t.written && len(t.touched) == 0 && (nodeList || !t.current)
	if first || better {
		t.list, t.before = m, maps.Clone(t.touched)
		t.current = nodeList
	}
	if s := m["status"]; t.running == nil && (s == "running" || s == "stopped") {
		on := s == "running"
		t.running = &on
	}
}

// dropMissing removes guests of the base seed that the recording shows to be
// missing.
func (in *inferred) dropMissing(traces map[int]*trace) {
	kept := in.seed.Guests[:0]
	for _, g := range in.seed.Guests {
		t := traces[g.VMID]
		gone := t != nil && t.decided && !t.exists || t == nil && in.fullListWithout(g.VMID)
		if !gone {
			kept = append(kept, g)
		}
	}
	in.seed.Guests = kept
}

// fullListWithout reports whether a seeded guest is missing from the complete
// list of root. Callers know that no request shows the guest.
func (in *inferred) fullListWithout(vmid int) bool {
	seen := false
	for _, e := range in.s.Exchanges {
		if e.api() == "/cluster/resources" && e.ok() && strings.Contains(e.Auth, "root@pam") && (e.str("type") == "vm" || e.str("type") == "") {
			seen = true
		}
	}
	return seen && pvesimGuest(in.seed, vmid) != nil
}

func pvesimGuest(seed *pvesim.Seed, vmid int) *pvesim.Guest {
	for _, g := range seed.Guests {
		if g.VMID == vmid {
			return g
		}
	}
	return nil
}
