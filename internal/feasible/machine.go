package feasible

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/natural"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// machine checks that the QEMU of the node has the machine type that a VM is started with. It has none that is newer, and none that
// it has dropped.
func (c *creation) machine() {
	if c.current == nil && !c.starts() {
		return
	}
	c.hasMachine(c.machineType())
}

// hasMachine checks that the QEMU of the node has a machine type.
func (c *creation) hasMachine(machine string) {
	machine = pve.MachineVersion(machine)
	n := c.inv.Node(c.on)
	if machine == "" || n == nil {
		return
	}
	has := ofKind(n, machine)
	if len(has) == 0 || slices.Contains(has, machine) {
		return
	}
	remedies := []Remedy{c.write("write one that it has into SPEC, such as its newest", guest.Machine, scalar(schema.ShapeString, has[0]))}
	remedies = append(remedies, c.otherNodes(func(n *cluster.Node) bool { return slices.Contains(n.Machines, machine) })...)
	c.add(fmt.Sprintf("QEMU on node %s has no machine type %s, so Proxmox VE refuses to start it there", c.on, machine),
		[]string{fmt.Sprintf("it has %s to %s", has[len(has)-1], has[0])}, remedies...)
}

// machineType is the machine type with which a VM starts next.
func (c *creation) machineType() string {
	if own := c.get(guest.Machine).Str(); own != "" && !(c.current != nil && c.ignores(guest.Machine)) {
		return pve.MachineType(map[string]string{guest.Machine: own})
	}
	return pve.MachineType(c.configuration())
}

// ofKind are the machine types of a node that differ from one only in their version, the newest first.
func ofKind(n *cluster.Node, machine string) (out []string) {
	for _, m := range n.Machines {
		if pve.MachineKind(m) == pve.MachineKind(machine) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return natural.Compare(b, a) })
	return out
}
