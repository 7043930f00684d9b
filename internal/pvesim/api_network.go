package pvesim

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// nodeNetwork lists the interfaces of a node. A caller who may not use or see a
// bridge or virtual network does not get it.
func nodeNetwork(c *call) (any, error) {
	n, filter := c.w.node(c.node), c.p["type"]
	out := []object{}
	for _, o := range n.interfaces() {
		bridge := o["type"] == "bridge"
		shown := filter == "" || filter == o["type"] || bridge && strings.HasPrefix(filter, "any_")
		if shown && (!bridge || c.seesNetwork("localnetwork", o["iface"].(string))) {
			out = append(out, o)
		}
	}
	for _, v := range c.w.seed.VNets {
		if strings.HasPrefix(filter, "any_bridge") && c.w.hasVNet(n, v.ID) && c.seesNetwork(v.Zone, v.ID) {
			out = append(out, object{"active": 1, "iface": v.ID, "type": "vnet"})
		}
	}
	return out, nil
}

// sdnVNets lists the virtual networks that the caller may audit: SDN.Use is not enough.
func sdnVNets(c *call) (any, error) {
	out := []object{}
	for _, v := range c.w.seed.VNets {
		if c.w.allowed(c.who, "/sdn/zones/"+v.Zone+"/"+v.ID, "SDN.Audit", "SDN.Allocate") {
			out = append(out, object{"type": "vnet", "vnet": v.ID, "zone": v.Zone})
		}
	}
	return out, nil
}

// interfaces returns the network interfaces of a node. Its first bridge has its
// address and its card; a node without bridges in the seed has one that is down.
func (n *Node) interfaces() []object {
	card := object{"families": []string{"inet"}, "iface": "eth0", "method": "manual", "method6": "manual", "type": "eth"}
	if len(n.Bridges) == 0 {
		card["active"], card["exists"] = 1, 1
		return n.configured([]object{card, bridge("vmbr0", 3)})
	}
	card["priority"] = 3
	out := []object{card}
	for i, name := range n.Bridges {
		b := bridge(name, 4+i)
		b["active"] = 1
		if a, err := netip.ParseAddr(n.Address); i == 0 && err == nil && a.Is4() {
			subnet := netip.PrefixFrom(a, 24)
			b["method"], b["address"], b["cidr"], b["netmask"] = "static", n.Address, subnet.String(), "24"
			b["gateway"], b["bridge_ports"] = subnet.Masked().Addr().Next().String(), "eth0"
		}
		out = append(out, b)
	}
	return n.configured(out)
}

// configured adds to interfaces the bridges that were defined and do not exist yet: a genuine server reads them from
// interfaces.new.
func (n *Node) configured(out []object) []object {
	for _, name := range n.NewBridges {
		out = append(out, bridge(name, 3+len(out)))
	}
	return out
}

func bridge(name string, priority int) object {
	return object{"autostart": 1, "bridge_fd": "0", "bridge_ports": "", "bridge_stp": "off", "families": []string{"inet"}, "iface": name,
		"method": "manual", "method6": "manual", "priority": priority, "type": "bridge"}
}

// networkCreate defines an interface, which exists after a reload.
func networkCreate(c *call) (any, error) {
	n, name := c.w.node(c.node), c.p["iface"]
	if slices.Contains(n.Bridges, name) || slices.Contains(n.NewBridges, name) {
		return nil, badParam("iface", "interface already exists")
	}
	if c.p["type"] == "bridge" {
		n.NewBridges = append(n.NewBridges, name)
	}
	return nil, nil
}

// networkReload makes the interfaces that were defined.
func networkReload(c *call) (any, error) {
	n := c.w.node(c.node)
	wk := &worker{steps: []step{func() (pause, error) {
		if len(n.Bridges) == 0 {
			n.Bridges = []string{"vmbr0"}
		}
		n.Bridges, n.NewBridges = append(n.Bridges, n.NewBridges...), nil
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}}
	return c.w.fork(c.node, "srvreload", "networking", c.who, wk), nil
}

func (c *call) seesNetwork(zone, name string) bool {
	return c.w.allowed(c.who, "/sdn/zones/"+zone+"/"+name, "SDN.Audit", "SDN.Use")
}

// zone returns the SDN zone of a bridge or virtual network.
func (w *cluster) zone(name string) string {
	for _, v := range w.seed.VNets {
		if v.ID == name {
			return v.Zone
		}
	}
	return "localnetwork"
}

// hasVNet reports whether a node has a virtual network.
func (w *cluster) hasVNet(n *Node, name string) bool {
	for _, v := range w.seed.VNets {
		if v.ID == name {
			return len(v.Nodes) == 0 || slices.Contains(v.Nodes, n.Name)
		}
	}
	return false
}
