package pve

import "regexp"

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
