package pvesim

import (
	"cmp"
	"strings"
)

// clusterResources returns the cluster-wide list. Node, tags, lock and pool are
// current; names and sizes are as old as the last report of the node.
func clusterResources(c *call) (any, error) {
	kind := c.p["type"]
	out := []object{}
	if kind == "" {
		out = append(out, c.poolResources()...)
	}
	if kind == "" || kind == "vm" {
		out = append(out, c.guestResources()...)
	}
	if kind == "" || kind == "node" {
		for _, n := range c.w.nodes {
			out = append(out, c.nodeResource(n, false))
		}
	}
	if kind == "" || kind == "storage" {
		out = append(out, c.storageResources()...)
	}
	if c.w.allowed(c.who, "/sdn/zones/localnetwork", "SDN.Audit") {
		out = append(out, c.zoneResources(kind)...)
	}
	return out, nil
}

// zoneResources returns the zone of the bridges on each node. Proxmox VE 9 lists zones as
// networks, which its parameter type cannot select.
func (c *call) zoneResources(kind string) []object {
	out := []object{}
	for _, n := range c.w.nodes {
		switch {
		case c.w.seed.Version == "9" && kind == "":
			out = append(out, object{"id": "network/" + n.Name + "/zone/localnetwork", "node": n.Name, "network": "localnetwork",
				"network-type": "zone", "status": "ok", "type": "network"})
		case c.w.seed.Version != "9" && (kind == "" || kind == "sdn"):
			out = append(out, object{"id": "sdn/" + n.Name + "/localnetwork", "node": n.Name, "sdn": "localnetwork",
				"status": "ok", "type": "sdn"})
		}
	}
	return out
}

// poolResources returns the pools that the caller may see.
func (c *call) poolResources() []object {
	out := []object{}
	for _, p := range c.w.seed.Pools {
		if c.w.allowed(c.who, "/pool/"+p.ID, "Pool.Audit") {
			out = append(out, object{"id": "/pool/" + p.ID, "pool": p.ID, "type": "pool"})
		}
	}
	return out
}

// guestResources returns the guests that the caller may see, with their pools.
func (c *call) guestResources() []object {
	out := []object{}
	pools := c.w.memberships()
	for _, id := range c.w.vmids() {
		if !c.w.allowed(c.who, "/vms/"+itoa(id), "VM.Audit") {
			continue
		}
		o := c.guestResource(c.w.guests[id], true)
		if pool, ok := pools[id]; ok && c.w.allowed(c.who, "/pool/"+pool, "Pool.Audit") {
			o["pool"] = pool
		}
		out = append(out, o)
	}
	return out
}

// guestResource returns one guest of the list. Pool members are the same
// without the fields that only the configuration has.
func (c *call) guestResource(g *Guest, full bool) object {
	w, p := c.w, c.w.published[g.VMID]
	if c.shown != nil {
		p = c.shown[g.VMID]
	}
	out := make(object, 24)
	out["id"], out["node"], out["type"], out["vmid"], out["status"] = g.Type+"/"+itoa(g.VMID), g.Node, g.Type, g.VMID, "unknown"
	if p != nil && w.now.Sub(p.at) < staleAfter {
		out["name"], out["status"], out["cpu"], out["mem"], out["maxmem"] = p.name, p.status, p.cpu, p.mem, p.maxmem
		out["maxcpu"], out["maxdisk"], out["disk"], out["diskread"], out["diskwrite"] = p.maxcpu, p.maxdisk, p.disk, p.diskr, p.diskr
		out["netin"], out["netout"], out["uptime"], out["template"] = p.netin, p.netout, p.uptime, p.template
	}
	if !full {
		return out
	}
	if t := g.Config["tags"]; t != "" {
		out["tags"] = t
	}
	if l := g.Config["lock"]; l != "" {
		out["lock"] = l
	}
	if h := w.haEntry(g); h != nil {
		out["hastate"] = h.listedState()
	}
	return out
}

// memberships maps guests to their pools.
func (w *cluster) memberships() map[int]string {
	out := map[int]string{}
	for _, p := range w.seed.Pools {
		for _, id := range p.Guests {
			out[id] = p.ID
		}
	}
	return out
}

// nodeResource returns a node for the resource list and, with its fingerprint,
// for /nodes.
func (c *call) nodeResource(n *Node, list bool) object {
	out := object{"id": "node/" + n.Name, "level": "", "node": n.Name, "type": "node", "status": "online"}
	if list {
		out["ssl_fingerprint"] = fingerprint(n.Name)
	} else {
		out["cgroup-mode"] = cmp.Or(n.CGroup, 2)
	}
	if c.w.haActive && !list {
		out["hastate"] = "online"
	}
	online := c.w.online(n) || n.Name == c.entry
	if !online {
		out["status"] = "offline"
	}
	if !c.w.allowed(c.who, "/nodes/"+n.Name, "Sys.Audit") {
		return out
	}
	out["maxcpu"], out["maxmem"], out["maxdisk"] = n.CPUs, int64(n.Memory), int64(n.Disk)
	if !online {
		return out
	}
	cpu, mem := c.w.nodeLoad(n)
	out["cpu"], out["mem"], out["disk"] = cpu, mem, int64(n.Load.Disk)
	out["uptime"] = int64(n.last.Sub(n.boot).Seconds())
	return out
}

// nodeLoad returns the load of a node, including its running guests.
func (w *cluster) nodeLoad(n *Node) (float64, int64) {
	cpu, mem := n.Load.CPU, int64(n.Load.Memory)
	for _, id := range w.vmids() {
		g := w.guests[id]
		if g.Node == n.Name && g.Running {
			cpu += g.Usage * float64(w.cpus(g)) / float64(n.CPUs)
			mem += g.memory()
		}
	}
	return min(cpu, 1), min(mem, int64(n.Memory))
}

func (c *call) storageResources() []object {
	out := []object{}
	for _, n := range c.w.nodes {
		for _, s := range c.w.seed.Storages {
			if !s.onNode(n.Name) || s.Disabled || !c.w.allowed(c.who, "/storage/"+s.ID, "Datastore.Audit") {
				continue
			}
			out = append(out, c.storageResource(n, s))
		}
	}
	return out
}

func (c *call) storageResource(n *Node, s *Storage) object {
	out := object{"content": strings.Join(s.Content, ","), "id": "storage/" + n.Name + "/" + s.ID, "node": n.Name,
		"plugintype": s.Type, "shared": flag(s.Shared), "status": "available", "storage": s.ID, "type": "storage"}
	if n.State == NodeLost && c.w.now.Sub(n.last) >= staleAfter || s.offline(n.Name) {
		out["status"] = "unknown"
		return out
	}
	used, _ := c.w.usage(n.Name, s)
	out["disk"], out["maxdisk"] = used, int64(s.Size)
	return out
}
