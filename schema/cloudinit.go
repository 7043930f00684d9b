package schema

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
)

// cloudInit completes the settings of cloud-init, and checks the addresses.
func (e *expander) cloudInit(v *VM) {
	ci := v.Values.Get(guest.CloudInit)
	if ci == nil || ci.Off() {
		return
	}
	if keys := ci.Get(guest.SSHKeys); keys != nil {
		ci = ci.With(ci.key(guest.SSHKeys), e.publicKeys(keys))
	}
	if ci.Get(guest.Datastore) == nil {
		store := "local-lvm"
		if disks := v.Values.Get(guest.Disks).List(); len(disks) > 0 {
			store = disks[0].Get(guest.Datastore).Str()
		}
		ci = ci.With(Scalar(ci.Pos, ShapeString, guest.Datastore), Scalar(ci.Pos, ShapeString, store))
		v.DriveFollows = true
	}
	ci, v.Address = e.addresses(ci, v.Path+".cloud_init", v.At(guest.CloudInit, guest.IPv4))
	if list := ci.Get(guest.IPConfigs); list != nil {
		ci = ci.With(ci.key(guest.IPConfigs), e.ipConfigs(v, list))
	}
	v.Values = v.Values.With(v.Values.key(guest.CloudInit), ci)
}

// addresses checks the addresses of a network device, and leaves out gateways that DHCP
// provides: they are inherited. The prefix is that of a static IPv4 address.
func (e *expander) addresses(n *Node, path string, at Pos) (*Node, netip.Prefix) {
	var static netip.Prefix
	if text := n.Get(guest.IPv4).Str(); text == "" || text == "dhcp" {
		n = n.Without(guest.Gateway)
	} else {
		static = e.static(path, at, text, n.Get(guest.Gateway))
	}
	if !staticPrefix(n.Get(guest.IPv6).Str()).IsValid() {
		n = n.Without(guest.Gateway6)
	}
	return n, static
}

// ipConfigs gives the addresses of the network devices after the first one their devices,
// in order.
func (e *expander) ipConfigs(v *VM, list *Node) *Node {
	out, seen := &Node{Pos: list.Pos, Shape: list.Shape}, map[string]bool{}
	nics := len(v.Values.Get(guest.Networks).List())
	for i, c := range list.Items {
		path := fmt.Sprintf("%s.cloud_init.ip_configs[%d]", v.Path, i)
		if c.Get(guest.Device) == nil {
			c = c.With(Scalar(c.Pos, ShapeString, guest.Device), Scalar(c.Pos, ShapeString, "net"+strconv.Itoa(i+1)))
		}
		device := c.Get(guest.Device).Text
		if seen[device] {
			e.errorPos(c.Pos, path, CodeDevice, "give each device once", "two ip_configs are of %s", device)
		}
		seen[device] = true
		if c.Get(guest.IPv4) == nil && c.Get(guest.IPv6) == nil {
			e.errorPos(c.Pos, path, CodeMissingKey, "add ipv4 or ipv6", "ip_configs has no address for %s", device)
		}
		if nicNumber(device) >= nics {
			e.warn(c.Pos, path, CodeDevice, "add it to networks, or remove its addresses",
				"ip_configs has addresses for %s, and networks has only %d", device, nics)
		}
		at := c.Pos
		if ip := c.Get(guest.IPv4); ip != nil {
			at = ip.Pos
		}
		c, _ = e.addresses(c, path, at)
		out.Items = append(out.Items, c)
	}
	slices.SortStableFunc(out.Items, func(a, b *Node) int {
		return cmp.Compare(nicNumber(a.Get(guest.Device).Text), nicNumber(b.Get(guest.Device).Text))
	})
	return out
}

// nicNumber is the number of a network device such as net1.
func nicNumber(device string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(device, "net")) // the parser checked it
	return n
}

// static checks a static IPv4 address and its gateway.
func (e *expander) static(path string, at Pos, text string, gateway *Node) netip.Prefix {
	p := staticPrefix(text)
	net := p.Masked()
	if p.Bits() < 31 && (p.Addr() == net.Addr() || !net.Contains(p.Addr().Next())) {
		e.errorPos(at, path+".ipv4", CodeAddress, "choose a host address", "%s is the network or broadcast address of %s", p.Addr(), net)
	}
	if gateway == nil {
		return p
	}
	gw, err := netip.ParseAddr(gateway.Text)
	switch {
	case err != nil || !net.Contains(gw):
		e.errorPos(gateway.Pos, path+".gateway", CodeGateway, "use a gateway inside "+net.String(),
			"the gateway %s is not in the subnet of %s", gateway.Text, p)
	case gw == p.Addr():
		e.errorPos(at, path+".ipv4", CodeGateway, "choose another address", "%s is the address of the gateway", gw)
	}
	return p
}
