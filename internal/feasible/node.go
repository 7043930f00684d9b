package feasible

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// node checks that the cluster has the node. Nothing is known of one that does not respond.
func (c *creation) node() {
	n := c.inv.Node(c.on)
	switch {
	case n != nil && (!n.Online || n.Silent != ""):
		c.addUnknown("node " + c.on + " does not respond")
		return
	case n != nil || len(c.inv.Nodes) == 0:
		return
	}
	var names []string
	for _, n := range c.inv.Nodes {
		names = append(names, n.Name)
	}
	c.add("the cluster has no node "+c.on, nil,
		Remedy{What: "correct the node in SPEC, one of " + strings.Join(names, ", "), Text: "node: NAME"})
}

// starts reports whether the VM is started when it is created.
func (c *creation) starts() bool {
	return c.current == nil && c.vm.Values.Get(guest.Started).Str() != "false"
}

// cpus checks that a start does not need more vCPUs than the node has CPUs.
func (c *creation) cpus() {
	n := c.inv.Node(c.on)
	if n == nil || n.CPUs == 0 || c.vm.VCPUs() <= n.CPUs || !c.starts() && !c.more(guest.Cores, guest.Sockets) {
		return
	}
	sockets := max(1, c.vm.Values.Get(guest.Sockets).Int())
	remedies := []Remedy{}
	if n.CPUs >= sockets {
		remedies = append(remedies,
			c.write("write at most as many into SPEC", guest.Cores, scalar(schema.ShapeInt, strconv.Itoa(n.CPUs/sockets))))
	} else {
		remedies = append(remedies, c.write("write at most as many into SPEC", guest.Sockets, scalar(schema.ShapeInt, "1")))
	}
	remedies = append(remedies, c.otherNodes(func(n *cluster.Node) bool { return n.CPUs >= c.vm.VCPUs() })...)
	c.add(fmt.Sprintf("it has more vCPUs than node %s has CPUs, so Proxmox VE refuses to start it", c.on),
		[]string{fmt.Sprintf("%d vCPUs; node %s has %d CPUs", c.vm.VCPUs(), c.on, n.CPUs)}, remedies...)
}

// memory checks that a start does not need more memory than the node has.
func (c *creation) memory() {
	n := c.inv.Node(c.on)
	mib := int64(c.vm.Values.Get(guest.Memory).Int())
	if n == nil || n.Memory == 0 || mib<<20 <= n.Memory || !c.starts() && !c.more(guest.Memory) {
		return
	}
	remedies := append([]Remedy{c.write("write less into SPEC", guest.Memory, scalar(schema.ShapeInt, fmt.Sprint(n.Memory>>20)))},
		c.otherNodes(func(n *cluster.Node) bool { return n.Memory >= mib<<20 })...)
	c.add(fmt.Sprintf("it has more memory than node %s, so its start fails", c.on),
		[]string{fmt.Sprintf("%d MiB; node %s has %d MiB", mib, c.on, n.Memory>>20)}, remedies...)
}

// more reports whether the spec gives the VM more of a property than it has.
func (c *creation) more(fields ...string) bool {
	if c.current == nil || c.current.Status != "running" {
		return false
	}
	for _, f := range fields {
		if now, err := strconv.Atoi(c.current.Config.Raw[f]); err == nil && c.vm.Values.Get(f).Int() > now {
			return true
		}
	}
	return false
}

// otherNodes is the remedy to use another node, where one has what is needed.
func (c *creation) otherNodes(has func(*cluster.Node) bool) []Remedy {
	var names []string
	for i := range c.inv.Nodes {
		if n := &c.inv.Nodes[i]; n.Online && n.Name != c.on && has(n) {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 || c.current != nil {
		return nil
	}
	return []Remedy{{What: "or create it on another node, one of " + strings.Join(names, ", ") + ": write into SPEC", Text: "node: NAME"}}
}

// networks checks that the node has the bridges and virtual networks of the NICs, and that these take their VLANs.
func (c *creation) networks() {
	n := c.inv.Node(c.on)
	nics := c.get(guest.Networks).List()
	if n == nil || !n.Online || len(nics) == 0 {
		return
	}
	if n.Networks == nil {
		c.addUnknown("whether node " + c.on + " has its bridges is not known: they could not be read")
		return
	}
	var names []string
	for _, b := range n.Networks {
		if !b.Inactive {
			names = append(names, b.Name)
		}
	}
	var missing, inactive []string
	tagged := map[string]bool{}
	for i, nic := range nics {
		bridge := nic.Get(guest.Bridge).Str()
		switch {
		case bridge == "" || slices.Contains(names, bridge) || c.hasNIC(i, bridge):
			continue
		case configured(n, bridge):
			inactive = append(inactive, bridge)
			continue
		case !c.inv.SeesNetwork(bridge):
			c.addUnknown(fmt.Sprintf(
				"whether node %s has the bridge or virtual network %s is not known: it is not listed, and the token does not see all networks",
				c.on, bridge), c.readsZones()...)
			continue
		}
		tagged[bridge] = tagged[bridge] || hasVLANs(nic)
		if !slices.Contains(missing, bridge) {
			missing = append(missing, bridge)
		}
		if len(names) > 0 {
			name := scalar(schema.ShapeString, likeliest(names, c.templateNIC(i).Bridge()))
			c.values[guest.Networks] = replaceItem(c.get(guest.Networks), i, set(nic, guest.Bridge, name))
		}
	}
	c.inactive(n, inactive)
	if refused := c.refusedNICs(n, nics); len(refused) > 0 {
		c.vlans(n, refused, c.withoutVLANs(refused))
	}
	if len(missing) == 0 {
		return
	}
	evidence := []string{fmt.Sprintf("node %s has %s", c.on, cmp.Or(strings.Join(names, ", "), "no bridge"))}
	var remedies []Remedy
	if len(names) > 0 {
		remedies = append(remedies, Remedy{
			What:  "write one that the node has into SPEC: " + strings.Join(names, ", "),
			Field: guest.Networks,
			Value: c.values[guest.Networks],
		})
	}
	for _, b := range missing {
		remedies = append(remedies, createBridge(c.on, b, tagged[b]))
	}
	c.add(fmt.Sprintf("node %s has no bridge or virtual network %s", c.on, strings.Join(missing, ", ")), evidence, remedies...)
}

// configured reports whether a node has a bridge in its configuration only.
func configured(n *cluster.Node, bridge string) bool {
	_, only := n.HasNetwork(bridge)
	return only
}

// inactive adds the bridges that a node has in its configuration only. A reload of its network makes them.
func (c *creation) inactive(n *cluster.Node, bridges []string) {
	if len(bridges) == 0 {
		return
	}
	slices.Sort(bridges)
	bridges = slices.Compact(bridges)
	what := "bridge %s of node %s is configured, but not active"
	if len(bridges) > 1 {
		what = "bridges %s of node %s are configured, but not active"
	}
	c.add(fmt.Sprintf(what, strings.Join(bridges, ", "), n.Name), nil, Remedy{
		What: "apply the network configuration of the node, as root, which also applies its other changes (it runs `ifreload -a`); " +
			"then run preflight again",
		Commands: []string{pve.Pvesh("set", "/nodes/"+n.Name+"/network")},
	})
}

// hasNIC reports whether the VM already has a NIC on a bridge, and goes on running with it.
func (c *creation) hasNIC(i int, bridge string) bool {
	return c.current != nil && !c.restarts && nicOf(c.current, i).Bridge() == bridge
}

// nicOf is a NIC of a guest.
func nicOf(g *cluster.Guest, i int) pve.NIC {
	return pve.ParseNIC(g.Config.Raw[fmt.Sprintf("net%d", i)])
}

// templateNIC is a NIC of the template.
func (c *creation) templateNIC(i int) pve.NIC {
	if c.template == nil || c.template.Config == nil {
		return pve.NIC{}
	}
	return pve.ParseNIC(c.template.Config.Raw[fmt.Sprintf("net%d", i)])
}

// likeliest is the preferred name if a list has it, and its first name otherwise.
func likeliest(names []string, preferred string) string {
	if slices.Contains(names, preferred) {
		return preferred
	}
	return names[0]
}
