package cluster

import "strings"

// VNet is the type of a Network that is a virtual network of an SDN zone.
const VNet = "vnet"

// BridgePath is the ACL path of a bridge.
func BridgePath(name string) string { return "/sdn/zones/localnetwork/" + name }

// UsesAllNetworks reports whether the credentials may use the networks of all zones,
// whichever zone a network is in.
func (r Rights) UsesAllNetworks() bool {
	for at, own := range r {
		if strings.HasPrefix(at, "/sdn/zones/") && !own[SDNUse] {
			return false
		}
	}
	return r.Below("/sdn/zones", SDNUse)
}

// VNetPath is the ACL path of a virtual network, or "" if its zone is not known: where it
// was not read, a path with privileges may name it.
func (r Rights) VNetPath(n *Network) string {
	if n.Zone != "" {
		return "/sdn/zones/" + n.Zone + "/" + n.Name
	}
	found := ""
	for at := range r {
		parts := strings.Split(at, "/") // "", sdn, zones, ZONE, VNET
		if len(parts) == 5 && strings.HasPrefix(at, "/sdn/zones/") && parts[3] != "localnetwork" && parts[4] == n.Name {
			found = max(found, at)
		}
	}
	return found
}

// SeesNetwork reports whether a bridge or virtual network would be listed.
func (inv *Inventory) SeesNetwork(name string) bool {
	if inv.Access == nil {
		return false
	}
	r, at := inv.Access.Rights, BridgePath(name)
	return (r.Below("/sdn/zones", SDNUse) || r.Below("/sdn/zones", SDNAudit)) && (r.Has(at, SDNUse) || r.Has(at, SDNAudit))
}
