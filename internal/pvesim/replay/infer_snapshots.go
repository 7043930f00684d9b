package replay

import (
	"maps"
	"net/http"
	"strings"
	"time"

	"stackgen/internal/pvesim"
)

// snapshots adds the snapshots that a list shows before the scenario changes
// the guest, or that the scenario uses without creating them.
func (in *inferred) snapshots(g *pvesim.Guest) {
	made := map[string]bool{}
	add := func(name, description string, at int64) {
		if name == "" || name == "current" || made[name] {
			return
		}
		made[name] = true
		addSnapshot(g, &pvesim.Snapshot{Name: name, Description: description, Time: time.Unix(at, 0).UTC()})
	}
	start := in.s.start().Unix()
	for _, e := range in.s.Exchanges {
		_, _, vmid, rest := e.guest()
		if vmid != g.VMID || !strings.HasPrefix(rest, "/snapshot") || !e.ok() {
			continue
		}
		parts := strings.Split(rest, "/")
		switch {
		case e.Method == http.MethodPost && rest == "/snapshot":
			made[e.str("snapname")] = true
		case e.Method == http.MethodGet && rest == "/snapshot" && len(made) == 0:
			for _, m := range e.list() {
				name, _ := m["name"].(string)
				description, _ := m["description"].(string)
				add(name, description, int64(number(m["snaptime"])))
			}
		case e.Method != http.MethodGet && len(parts) > 2 && in.exitStatus(e) == "OK":
			add(parts[2], "", start)
		}
	}
}

// addSnapshot adds a snapshot of the present configuration, as a child of the last one.
func addSnapshot(g *pvesim.Guest, s *pvesim.Snapshot) {
	s.Config = maps.Clone(g.Config)
	delete(s.Config, "parent")
	delete(s.Config, "lock")
	if n := len(g.Snapshots); n > 0 {
		s.Parent = g.Snapshots[n-1].Name
	}
	g.Snapshots = append(g.Snapshots, s)
	g.Config["parent"] = s.Name
}
