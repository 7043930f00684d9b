package feasible

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/schema"
)

// hasVLANs reports whether a NIC of a spec has a VLAN tag or trunks.
func hasVLANs(nic *schema.Node) bool {
	return nic.Get(guest.VLAN) != nil || len(nic.Get(guest.Trunks).List()) > 0
}

// A refusedNIC is one that Proxmox VE does not connect to its bridge or virtual network.
type refusedNIC struct {
	number        int
	bridge, vlans string // its tag and trunks, as evidence says them
}

// refusedNICs are the NICs of a spec that Proxmox VE does not connect when the guest starts, or when a running one gets them.
func (c *creation) refusedNICs(n *cluster.Node, nics []*schema.Node) (out []refusedNIC) {
	if c.current == nil && !c.starts() || c.current != nil && !c.restarts && c.current.Status != "running" {
		return nil
	}
	for i, nic := range nics {
		bridge, tag, trunks := nic.Get(guest.Bridge).Str(), nic.Get(guest.VLAN).Str(), strings.Join(nic.Get(guest.Trunks).Strings(), ";")
		if c.hasNIC(i, bridge) {
			has := nicOf(c.current, i)
			if has.VLAN() == tag && has.Options.Option("trunks") == trunks {
				continue // it runs with it
			}
		}
		out = addRefused(out, n, i, bridge, tag, trunks)
	}
	return out
}

// refusedOf are the same of the NICs that a guest has.
func refusedOf(g *cluster.Guest, n *cluster.Node) (out []refusedNIC) {
	for i := range maxNICs {
		nic := nicOf(g, i)
		if g.Kind == guest.Container && nic.Options.Option("link_down") == "1" {
			continue // the NIC of a container is not connected then
		}
		out = addRefused(out, n, i, nic.Bridge(), nic.VLAN(), nic.Options.Option("trunks"))
	}
	return out
}

func addRefused(list []refusedNIC, n *cluster.Node, i int, bridge, tag, trunks string) []refusedNIC {
	if !n.RefusesVLANs(bridge, tag != "", trunks != "") {
		return list
	}
	var vlans []string
	if tag != "" {
		vlans = append(vlans, "VLAN "+tag)
	}
	if trunks != "" {
		vlans = append(vlans, "trunks "+trunks)
	}
	return append(list, refusedNIC{i, bridge, fmt.Sprintf("net%d has %s on %s", i, strings.Join(vlans, " and "), bridge)})
}

// vlans adds the NICs that Proxmox VE does not connect because of their VLANs: a guest with one does not start, and a running one
// does not get it.
func (c *creation) vlans(n *cluster.Node, refused []refusedNIC, more ...Remedy) {
	var bridges, evidence []string
	for _, nic := range refused {
		bridges, evidence = append(bridges, nic.bridge), append(evidence, nic.vlans)
	}
	if len(bridges) == 0 {
		return
	}
	slices.Sort(bridges)
	bridges = slices.Compact(bridges)
	what := "%s of node %s is not VLAN-aware, so Proxmox VE connects no NIC with these VLANs"
	if len(bridges) > 1 {
		what = "%s of node %s are not VLAN-aware, so Proxmox VE connects no NIC with these VLANs"
	}
	remedies := []Remedy{{What: "make the bridge VLAN-aware in the network settings of the node, or the virtual network in the SDN of the " +
		"data center; then run preflight again"}}
	c.add(fmt.Sprintf(what, strings.Join(bridges, ", "), n.Name), evidence, append(remedies, more...)...)
}

// withoutVLANs is the remedy that takes the VLANs from NICs of a spec. It keeps what else these are, and the others.
func (c *creation) withoutVLANs(refused []refusedNIC) Remedy {
	nics := c.get(guest.Networks)
	for _, nic := range refused {
		nics = replaceItem(nics, nic.number, nics.List()[nic.number].Without(guest.VLAN, guest.Trunks))
	}
	const what = "or write the network devices without VLANs into SPEC: then they are in the network of the bridge itself"
	return c.write(what, guest.Networks, nics)
}

// maxNICs is the largest number of NICs of a guest.
const maxNICs = 32
