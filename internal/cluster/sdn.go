package cluster

import (
	"path"
	"strings"
)

// VNet is the type of a Network that is a virtual network of an SDN zone.
const VNet = "vnet"

// ZonesPath is the ACL path of all zones.
const ZonesPath = "/sdn/zones"

// BridgePath is the ACL path of a bridge.
func BridgePath(name string) string { return ZonesPath + "/localnetwork/" + name }

// UsesAllNetworks reports whether the credentials may use the networks of all zones,
// whichever zone a network is in.
func (r Rights) UsesAllNetworks() bool {
	for at, own := range r {
		if strings.HasPrefix(at, ZonesPath+"/") && !own[SDNUse] {
			return false
		}
	}
	return r.Below(ZonesPath, SDNUse)
}

// VNetPath is the ACL path of a virtual network, or "" if its zone is not known: where it
// was not read, a path with privileges may name it.
func (r Rights) VNetPath(n *Network) string {
	if n.Zone != "" {
		return ZonesPath + "/" + n.Zone + "/" + n.Name
	}
	found := ""
	for at := range r {
		parts := strings.Split(at, "/") // "", sdn, zones, ZONE, VNET
		if len(parts) == 5 && strings.HasPrefix(at, ZonesPath+"/") && parts[3] != "localnetwork" && parts[4] == n.Name {
			found = max(found, at)
		}
	}
	return found
}

// SeesNetwork reports whether a bridge or virtual network would be listed. It may be in a zone of which the credentials
// see nothing.
func (inv *Inventory) SeesNetwork(name string) bool {
	if inv.Access == nil {
		return false
	}
	r, at := inv.Access.Rights, BridgePath(name)
	for zone, own := range r {
		_, uses := own[SDNUse]
		_, audits := own[SDNAudit]
		if path.Dir(zone) == ZonesPath && zone != path.Dir(at) && !uses && !audits {
			return false
		}
	}
	return (r.Below(ZonesPath, SDNUse) || r.Below(ZonesPath, SDNAudit)) && (r.Has(at, SDNUse) || r.Has(at, SDNAudit))
}
