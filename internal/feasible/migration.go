package feasible

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// Migration returns what makes the migration of a VM to the node of its spec fail, or its
// next start there: bridges, CPUs and memory of the node, and privileges. What its drives
// and devices need is not checked.
func Migration(inv *cluster.Inventory, v *schema.VM, e *lock.VM, g *cluster.Guest) []Obstacle {
	if v == nil || g.Config == nil {
		return nil
	}
	c := newCreation(inv, v, e)
	c.current = g
	if n := inv.Node(e.Node); n != nil {
		c.check = NetworkCheck
		c.bridgesOf(g, n)
		c.check = CPUCheck
		if n.CPUs > 0 && c.vm.VCPUs() > n.CPUs {
			c.add(fmt.Sprintf("it has more vCPUs than node %s has CPUs, so Proxmox VE refuses to start it there", c.on),
				[]string{fmt.Sprintf("%d vCPUs; node %s has %d CPUs", c.vm.VCPUs(), c.on, n.CPUs)})
		}
		c.check = MemoryCheck
		if mib := int64(v.Values.Get(guest.Memory).Int()); n.Memory > 0 && mib<<20 > n.Memory {
			c.add(fmt.Sprintf("it has more memory than node %s, so it does not start there", c.on),
				[]string{fmt.Sprintf("%d MiB; node %s has %d MiB", mib, c.on, n.Memory>>20)})
		}
	}
	c.check = MachineCheck
	c.hasMachine(pve.MachineType(g.Config.Raw))
	c.check = ReplicaCheck
	c.replicatedElsewhere()
	c.check = MappingCheck
	for i := range schema.VMFields {
		for _, name := range mappingsOf(v.Values, &schema.VMFields[i]) {
			c.mapping(&schema.VMFields[i], name)
		}
	}
	if a := inv.Access; a != nil {
		c.check = PrivilegesCheck
		p := &grantCheck{creation: c, vm: fmt.Sprintf("/vms/%d", e.VMID)}
		if v.PoolID != "" {
			p.pool = "/pool/" + v.PoolID
		}
		p.needVM("migrate the VM", cluster.VMMigrate)
		p.needVM("set the name, as every update does", schema.ConfigOptions)
		if len(p.missing) > 0 {
			c.add("the token lacks privileges that it needs", evidenceOf(p.missing), grant(a, p.missing))
		}
	}
	return c.found
}

// bridges checks the networks that a guest has when it starts again: as its spec says, or as they are if its profile ignores them.
func (c *creation) bridges() {
	if n := c.inv.Node(c.on); n != nil && c.ignores(guest.Networks) {
		c.bridgesOf(c.current, n)
		return
	}
	c.networks()
}

// bridgesOf checks that a node has the bridges and virtual networks of a VM's NICs.
func (c *creation) bridgesOf(g *cluster.Guest, n *cluster.Node) {
	if n.Networks == nil {
		return
	}
	var missing, inactive []string
	tagged := map[string]bool{}
	for i := range maxNICs {
		nic := nicOf(g, i)
		bridge := nic.Bridge()
		tagged[bridge] = tagged[bridge] || nic.VLAN() != "" || nic.Options.Option("trunks") != ""
		switch has, only := n.HasNetwork(bridge); {
		case bridge == "" || has || slices.Contains(missing, bridge):
		case only:
			inactive = append(inactive, bridge)
		case c.inv.SeesNetwork(bridge):
			missing = append(missing, bridge)
		}
	}
	c.inactive(n, inactive)
	c.vlans(n, refusedOf(g, n))
	if len(missing) == 0 {
		return
	}
	var remedies []Remedy
	for _, b := range missing {
		remedies = append(remedies, createBridge(n.Name, b, tagged[b]))
	}
	c.add(fmt.Sprintf("node %s has no bridge or virtual network %s", n.Name, strings.Join(missing, ", ")), nil, remedies...)
}

// createBridge is the remedy that creates a bridge on a node, for NICs with VLANs or without.
func createBridge(node, bridge string, vlans bool) Remedy {
	path := "/nodes/" + node + "/network"
	options := []string{"--iface " + shell.Word(bridge), "--type bridge", "--autostart 1"}
	if vlans {
		options = append(options, "--bridge_vlan_aware 1")
	}
	command := pve.Pvesh("create", path, options...) + " && " + pve.Pvesh("set", path)
	return Remedy{
		What: "or, if it is no virtual network of SDN, create a bridge without a port on the node, as root, which also applies " +
			"the other changes of its network configuration (it runs `ifreload -a`); then run preflight again",
		Commands: []string{command},
	}
}
