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
			out = append(out, object{"active": "1", "comments": nil, "iface": v.ID, "ipam": 0, "type": "vnet", "vlanaware": flag(v.VLANAware)})
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
		return n.configured([]object{card, n.bridge("vmbr0", 3)})
	}
	card["priority"] = 3
	out := []object{card}
	for i, name := range n.Bridges {
		b := n.bridge(name, 4+i)
		b["active"] = 1
		if !slices.Contains(n.Portless, name) {
			b["bridge_ports"] = "eth" + itoa(i)
		}
		if a, err := netip.ParseAddr(n.Address); i == 0 && err == nil && a.Is4() {
			subnet := netip.PrefixFrom(a, 24)
			b["method"], b["address"], b["cidr"], b["netmask"] = "static", n.Address, subnet.String(), "24"
			b["gateway"] = subnet.Masked().Addr().Next().String()
		}
		out = append(out, b)
	}
	return n.configured(out)
}

// configured adds to interfaces the bridges that were defined and do not exist yet: a genuine server reads them from
// interfaces.new.
func (n *Node) configured(out []object) []object {
	for _, name := range n.NewBridges {
		out = append(out, n.bridge(name, 3+len(out)))
	}
	return out
}

// bridge is a bridge as the configuration of a node has it, without its ports.
func (n *Node) bridge(name string, priority int) object {
	out := object{"autostart": 1, "bridge_fd": "0", "bridge_ports": "", "bridge_stp": "off", "families": []string{"inet"}, "iface": name,
		"method": "manual", "method6": "manual", "priority": priority, "type": "bridge"}
	if slices.Contains(n.VLANAware, name) {
		out["bridge_vlan_aware"] = 1
	}
	return out
}

// networkCreate defines an interface, which exists after a reload.
func networkCreate(c *call) (any, error) {
	n, name := c.w.node(c.node), c.p["iface"]
	if slices.Contains(n.Bridges, name) || slices.Contains(n.NewBridges, name) {
		return nil, badParam("iface", "interface already exists")
	}
	if c.p["type"] == "bridge" {
		n.NewBridges = append(n.NewBridges, name)
		if c.p["bridge_ports"] == "" {
			n.Portless = append(n.Portless, name)
		}
		if c.flag("bridge_vlan_aware") {
			n.VLANAware = append(n.VLANAware, name)
		}
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
	if v := w.vnet(name); v != nil {
		return v.Zone
	}
	return "localnetwork"
}

// hasVNet reports whether a node has a virtual network.
func (w *cluster) hasVNet(n *Node, name string) bool {
	v := w.vnet(name)
	return v != nil && (len(v.Nodes) == 0 || slices.Contains(v.Nodes, n.Name))
}

// unpluggable is why a NIC cannot be connected to the bridge or virtual network that it names, or nil: for its VLANs, a bridge has
// to be VLAN-aware, or for one tag to have a physical port; a virtual network has to be VLAN-aware. Source: pve-common 9.2,
// PVE::Network::tap_plug, and pve-network 1.3, PVE::Network::SDN::Zones::Plugin::tap_plug.
func (w *cluster) unpluggable(n *Node, nic map[string]string) error {
	name, tagged, trunked := nic["bridge"], nic["tag"] != "", nic["trunks"] != ""
	if name == "" || n == nil || !tagged && !trunked {
		return nil
	}
	if v := w.vnet(name); v != nil {
		if v.VLANAware {
			return nil
		}
		return failf("vm vlans are not allowed on vnet %s", name)
	}
	switch {
	case slices.Contains(n.VLANAware, name):
		return nil
	case trunked:
		return failf("vlan aware feature need to be enabled to use trunks")
	case slices.Contains(n.Portless, name):
		return failf("no physical interface on bridge '%s'", name)
	}
	return nil
}

// vnet is a virtual network, or nil.
func (w *cluster) vnet(name string) *VNet {
	i := slices.IndexFunc(w.seed.VNets, func(v *VNet) bool { return v.ID == name })
	if i < 0 {
		return nil
	}
	return w.seed.VNets[i]
}
