package pve

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// A NIC is an entry netN of a configuration. That of a VM begins with MODEL=MAC, and may
// have them as model and macaddr, too. A container has no model, and its MAC address is
// among the options as hwaddr.
type NIC struct {
	Model, MAC string
	Options    Entry // the others: bridge, tag, firewall, ...
}

var macShape = regexp.MustCompile(`^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}$`)

// ParseNIC reads a network device. The MAC address is written as it is, and "" if
// there is none.
func ParseNIC(text string) NIC {
	var n NIC
	for _, o := range Parse(text) {
		switch {
		case o.Name == "hwaddr":
			n.MAC, n.Options = o.Value, append(n.Options, o)
		case o.Name == "macaddr":
			n.MAC = o.Value
		case o.Name == "model", o.Name == "":
			n.Model = o.Value
		case macShape.MatchString(o.Value):
			n.Model, n.MAC = o.Name, o.Value
		default:
			n.Options = append(n.Options, o)
		}
	}
	return n
}

// String is the network device as Proxmox VE writes it. Without a MAC address, Proxmox VE
// chooses one.
func (n NIC) String() string {
	switch {
	case n.Model == "":
		return n.Options.String()
	case n.MAC == "":
		return append(Entry{{Value: n.Model}}, n.Options...).String()
	}
	return append(Entry{{n.Model, n.MAC}}, n.Options...).String()
}

// Bridge is the bridge or virtual network that the device is connected to, or "".
func (n NIC) Bridge() string { return n.Options.Option("bridge") }

// VLAN is its VLAN tag, or "".
func (n NIC) VLAN() string { return n.Options.Option("tag") }

// Network is what it is connected to, such as vmbr0 or vmbr0.20.
func (n NIC) Network() string { return strings.TrimSuffix(n.Bridge()+"."+n.VLAN(), ".") }

// StaticAddresses are the static addresses that a configuration gives to its network devices, and the network of each.
// A container has them in the entries of these, and a VM in those of cloud-init. It is nil if there are none.
func StaticAddresses(raw map[string]string) map[string]string {
	var out map[string]string
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		bus, n := SplitKey(key)
		text, nic := raw[key], raw[key]
		switch {
		case n < 0 || bus != "net" && bus != "ipconfig":
			continue
		case bus == "ipconfig":
			nic = raw[fmt.Sprintf("net%d", n)]
		}
		for _, name := range []string{"ip", "ip6"} {
			if at, err := netip.ParsePrefix(Parse(text).Option(name)); err == nil {
				if out == nil {
					out = map[string]string{}
				}
				out[at.Addr().String()] = ParseNIC(nic).Network()
			}
		}
	}
	return out
}
