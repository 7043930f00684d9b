package pvesim

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

func haHandlers() map[string]handler {
	return map[string]handler{
		"GET /cluster/ha/resources":             haList,
		"POST /cluster/ha/resources":            haAdd,
		"GET /cluster/ha/resources/{sid}":       haGet,
		"PUT /cluster/ha/resources/{sid}":       haPut,
		"DELETE /cluster/ha/resources/{sid}":    haDelete,
		"GET /cluster/ha/groups":                haGroups,
		"POST /cluster/ha/groups":               haGroupAdd,
		"GET /cluster/ha/groups/{group}":        haGroupGet,
		"DELETE /cluster/ha/groups/{group}":     haGroupDelete,
		"GET /cluster/ha/status/current":        haCurrent,
		"GET /cluster/ha/status/manager_status": haManager,
		"GET /cluster/ha/rules":                 func(*call) (any, error) { return []object{}, nil },
	}
}

func sidOf(v string) string {
	if !strings.Contains(v, ":") {
		return "vm:" + v
	}
	return v
}

func (h *HAEntry) entry() object {
	kind, _, _ := strings.Cut(h.SID, ":")
	out := object{"digest": digestOf(h.SID + h.State + h.Comment), "sid": h.SID, "state": h.State, "type": kind}
	if h.Comment != "" {
		out["comment"] = h.Comment
	}
	if h.Group != "" {
		out["group"] = h.Group
	}
	return out
}

func haList(c *call) (any, error) {
	out := []object{}
	for _, h := range c.w.seed.HA {
		out = append(out, h.entry())
	}
	return out, nil
}

func haAdd(c *call) (any, error) {
	if err := c.w.checkQuorum(); err != nil {
		return nil, err
	}
	sid := sidOf(c.p["sid"])
	if c.w.guestBySID(sid) == nil {
		return nil, failf("resource '%s' does not exist in cluster", sid)
	}
	if c.w.haBySID(sid) != nil {
		return nil, failf("create resource failed: resource ID '%s' already defined", sid)
	}
	h := &HAEntry{SID: sid, State: cmp.Or(c.p["state"], "started"), Comment: c.p["comment"], Group: c.p["group"]}
	c.w.seed.HA = append(c.w.seed.HA, h)
	if !c.w.standalone() {
		c.w.haSync(h)
	}
	return nil, nil
}

func (c *call) haEntry() (*HAEntry, error) {
	sid := sidOf(c.p["sid"])
	if h := c.w.haBySID(sid); h != nil {
		return h, nil
	}
	return nil, failf("no such resource '%s'", sid)
}

func haGet(c *call) (any, error) {
	h, err := c.haEntry()
	if err != nil {
		return nil, err
	}
	return h.entry(), nil
}

func haPut(c *call) (any, error) {
	h, err := c.haEntry()
	if err != nil {
		return nil, err
	}
	if v := c.p["state"]; v != "" {
		h.State = v
		c.w.haSync(h)
	}
	if c.has("comment") {
		h.Comment = c.p["comment"]
	}
	if c.has("group") {
		h.Group = c.p["group"]
	}
	return nil, nil
}

func haDelete(c *call) (any, error) {
	sid := sidOf(c.p["sid"])
	for i, h := range c.w.seed.HA {
		if h.SID == sid {
			c.w.seed.HA = append(c.w.seed.HA[:i], c.w.seed.HA[i+1:]...)
			c.w.haLast = c.w.now
			return nil, nil
		}
	}
	return nil, failf("cannot delete service '%s', not HA managed!", sid)
}

func (g *HAGroup) entry() object {
	out := object{"digest": digestOf(g.ID + g.Nodes), "group": g.ID, "nodes": g.Nodes, "type": "group"}
	if g.Comment != "" {
		out["comment"] = g.Comment
	}
	return out
}

// groupsMigrated is what a cluster of Proxmox VE 9 answers that has no groups, or whose groups
// became rules.
func (w *cluster) groupsMigrated(what string) error {
	if w.seed.Version != "9" || len(w.seed.HAGroups) > 0 {
		return nil
	}
	return failf("%s: ha groups have been migrated to rules", what)
}

func haGroups(c *call) (any, error) {
	if err := c.w.groupsMigrated("cannot index groups"); err != nil {
		return nil, err
	}
	out := []object{}
	for _, g := range c.w.seed.HAGroups {
		out = append(out, g.entry())
	}
	return out, nil
}

func haGroupAdd(c *call) (any, error) {
	if err := c.w.groupsMigrated("cannot create group"); err != nil {
		return nil, err
	}
	for _, g := range c.w.seed.HAGroups {
		if g.ID == c.p["group"] {
			return nil, failf("create ha group failed: group ID '%s' already defined", g.ID)
		}
	}
	c.w.seed.HAGroups = append(c.w.seed.HAGroups, &HAGroup{ID: c.p["group"], Nodes: c.p["nodes"], Comment: c.p["comment"]})
	return nil, nil
}

func haGroupGet(c *call) (any, error) {
	if err := c.w.groupsMigrated("cannot read group"); err != nil {
		return nil, err
	}
	for _, g := range c.w.seed.HAGroups {
		if g.ID == c.p["group"] {
			return g.entry(), nil
		}
	}
	return nil, failf("no such ha group '%s'", c.p["group"])
}

func haGroupDelete(c *call) (any, error) {
	if err := c.w.groupsMigrated("cannot delete group"); err != nil {
		return nil, err
	}
	for i, g := range c.w.seed.HAGroups {
		if g.ID == c.p["group"] {
			c.w.seed.HAGroups = append(c.w.seed.HAGroups[:i], c.w.seed.HAGroups[i+1:]...)
			return nil, nil
		}
	}
	return nil, failf("delete ha group failed: no such ha group '%s'", c.p["group"])
}

func haCurrent(c *call) (any, error) {
	w := c.w
	quorum := object{"id": "quorum", "node": c.entry, "quorate": flag(w.quorate()), "status": "OK", "type": "quorum"}
	if !w.quorate() {
		quorum["status"] = fmt.Sprintf("No quorum on node '%s'!", c.entry)
	}
	out := []object{quorum}
	if w.haActive {
		out = append(out, c.haDaemons()...)
	}
	for _, h := range w.seed.HA {
		g := w.guestBySID(h.SID)
		if g == nil || w.standalone() {
			continue
		}
		state := h.listedState()
		o := object{"id": "service:" + h.SID, "max_relocate": 1, "max_restart": 1, "node": g.Node, "request_state": h.State, "sid": h.SID,
			"state": state, "status": fmt.Sprintf("%s (%s, %s)", h.SID, g.Node, state), "type": "service"}
		if h.CRM != "" {
			o["crm_state"] = h.CRM
		}
		if h.Comment != "" {
			o["comment"] = h.Comment
		}
		out = append(out, o)
	}
	return out, nil
}

// haIdle is the time after which a manager without resources becomes idle.
const haIdle = 45 * time.Second

// haDaemons returns the state of the manager and the local agents, with
// timestamps.
func (c *call) haDaemons() []object {
	w := c.w
	master := w.nodes[len(w.nodes)-1]
	state := "idle"
	if len(w.seed.HA) > 0 || w.now.Sub(w.haLast) < haIdle {
		state = "active"
	}
	if !w.quorate() {
		state = "old timestamp - dead?"
	}
	out := []object{{"id": "master", "node": master.Name, "type": "master",
		"status": master.Name + " " + w.haLine(state, w.now), "timestamp": w.now.Unix()}}
	for _, n := range w.nodes {
		state, at := "idle", w.now
		if w.haUsed[n.Name] {
			state = "active"
		}
		switch {
		case n.State == NodeDown:
			state = "restart mode"
		case n.State == NodeLost && w.now.Sub(n.since) >= haRound:
			state, at = "old timestamp - dead?", n.since
		}
		out = append(out, object{"id": "lrm:" + n.Name, "node": n.Name, "type": "lrm",
			"status": n.Name + " " + w.haLine(state, at), "timestamp": at.Unix()})
	}
	return out
}

func haManager(c *call) (any, error) {
	w := c.w
	out := object{"quorum": object{"node": c.entry, "quorate": itoa(flag(w.quorate()))}}
	if !w.haActive {
		out["manager_status"] = object{"node_status": object{}}
		return out, nil
	}
	lrm, nodes, services := object{}, object{}, object{}
	for _, n := range w.nodes {
		results := object{}
		state := "wait_for_agent_lock"
		for _, h := range w.seed.HA {
			if g := w.guestBySID(h.SID); g != nil && g.Node == n.Name {
				results[digestOf(h.SID)[:22]] = object{"exit_code": 0, "sid": h.SID, "state": h.State}
				services[h.SID] = object{"node": n.Name, "state": h.listedState(), "uid": digestOf(h.SID)[:22]}
				state = "active"
			}
		}
		lrm[n.Name] = object{"mode": "active", "results": results, "state": state, "timestamp": w.now.Unix()}
		nodes[n.Name] = "online"
		if !w.online(n) {
			nodes[n.Name] = "unknown"
		}
	}
	out["lrm_status"] = lrm
	out["manager_status"] = object{"master_node": w.nodes[len(w.nodes)-1].Name, "node_status": nodes,
		"service_status": services, "timestamp": w.now.Unix()}
	return out, nil
}
