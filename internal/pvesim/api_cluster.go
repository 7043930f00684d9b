package pvesim

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
)

func clusterHandlers() map[string]handler {
	return map[string]handler{
		"GET /cluster/mapping/dir":  mappings("dir"),
		"GET /cluster/mapping/pci":  mappings("pci"),
		"GET /cluster/mapping/usb":  mappings("usb"),
		"GET /cluster/replication":  replication,
		"GET /cluster/sdn/vnets":    sdnVNets,
		"GET /version":              version,
		"GET /cluster/status":       clusterStatus,
		"GET /cluster/resources":    clusterResources,
		"GET /cluster/nextid":       nextID,
		"GET /cluster/options":      clusterOptions,
		"GET /cluster/config/nodes": configNodes,
		"GET /cluster/config/totem": configTotem,
		"GET /cluster/config/join":  configJoin,
	}
}

// release returns the simulated package versions.
func release(v string) (release, version, repoid string) {
	if v == "9" {
		return "9.2", "9.2.11", "0f2b6a1d9c5e4a73"
	}
	return "8.4", "8.4.21", "2606ac850d46da29"
}

func version(c *call) (any, error) {
	rel, ver, repo := release(c.w.seed.Version)
	repo = cmp.Or(c.w.seed.RepoID, repo)
	return object{"release": rel, "version": ver, "repoid": repo}, nil
}

// members returns the nodes as the queried node sees them.
func (c *call) members() []object {
	out := []object{}
	for _, n := range c.w.nodes {
		id := n.id
		if c.w.standalone() {
			id = 0
		}
		online := c.w.online(n) || n.Name == c.entry
		out = append(out, object{"id": "node/" + n.Name, "ip": n.Address, "level": "", "local": flag(n.Name == c.entry),
			"name": n.Name, "nodeid": id, "online": flag(online), "type": "node"})
	}
	return out
}

// standalone reports whether the only node is not part of a cluster.
func (w *cluster) standalone() bool { return w.seed.Cluster == "" }

func clusterStatus(c *call) (any, error) {
	out := []object{}
	if !c.w.standalone() {
		out = append(out, object{"id": "cluster", "name": c.w.seed.Cluster, "nodes": len(c.w.nodes),
			"quorate": flag(c.w.quorate()), "type": "cluster", "version": len(c.w.nodes)})
	}
	return append(out, c.members()...), nil
}

func nextID(c *call) (any, error) {
	if c.has("vmid") {
		if _, taken := c.w.guests[c.vmid()]; taken {
			return nil, badParam("vmid", "VM %d already exists", c.vmid())
		}
		return c.p["vmid"], nil
	}
	for id := 100; ; id++ {
		if _, taken := c.w.guests[id]; !taken {
			return itoa(id), nil
		}
	}
}

func configNodes(c *call) (any, error) {
	out := []object{}
	for _, n := range c.w.nodes {
		out = append(out, object{"name": n.Name, "node": n.Name, "nodeid": itoa(n.id), "quorum_votes": "1", "ring0_addr": n.Address})
	}
	return out, nil
}

func (w *cluster) totem() object {
	return object{"cluster_name": w.seed.Cluster, "config_version": itoa(len(w.nodes)), "interface": object{"0": object{"linknumber": "0"}},
		"ip_version": "ipv4-6", "link_mode": "passive", "secauth": "on", "version": "2"}
}

func configTotem(c *call) (any, error) { return c.w.totem(), nil }

func configJoin(c *call) (any, error) {
	list := []object{}
	for _, n := range c.w.nodes {
		list = append(list, object{"name": n.Name, "nodeid": itoa(n.id), "pve_addr": n.Address, "pve_fp": fingerprint(n.Name),
			"quorum_votes": "1", "ring0_addr": n.Address})
	}
	return object{"config_digest": digestOf(c.w.seed.Cluster), "nodelist": list, "preferred_node": c.entry, "totem": c.w.totem()}, nil
}

func fingerprint(name string) string {
	sum := sha256.Sum256([]byte(name))
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}

// checkQuorum returns an error if the node has no quorum.
func (w *cluster) checkQuorum() error {
	if w.quorate() {
		return nil
	}
	return failf("cluster not ready - no quorum?")
}
