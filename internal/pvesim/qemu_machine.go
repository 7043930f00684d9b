package pvesim

import (
	"slices"
	"strings"
)

// machineVersions are the versions of the machine types that the QEMU of a node has, if the seed does not say.
const machineVersions = "9.2 9.1 9.0 8.2 8.1 8.0 7.2 7.1 7.0 6.2 6.1 6.0 5.2 5.1 5.0 4.2 4.1 4.0.1 4.0 3.1 3.0 " +
	"2.12 2.11 2.10 2.9 2.8 2.7 2.6 2.5 2.4"

func (n *Node) machines() []string {
	if len(n.Machines) > 0 {
		return n.Machines
	}
	return strings.Fields(machineVersions)
}

// nodeMachines lists the machine types of the QEMU that is installed on a node.
func nodeMachines(c *call) (any, error) {
	out := []object{}
	for _, version := range c.w.node(c.node).machines() {
		for _, kind := range []string{"q35", "i440fx"} {
			out = append(out, object{"id": "pc-" + kind + "-" + version, "type": kind, "version": version})
		}
	}
	return out, nil
}

// runs checks that the QEMU of a node has the machine type of a guest, if that has a version. Source: qemu-server 9.2,
// PVE::QemuServer::config_to_command.
func (n *Node) runs(g *Guest) error {
	d := parseDrive(g.Config["machine"])
	if d.file == "" {
		d.file = d.opts["type"]
	}
	base, _, _ := strings.Cut(d.file, "+")
	version := base[strings.LastIndex(base, "-")+1:]
	all := n.machines()
	switch {
	case version == "" || version == base || slices.Contains(all, version):
		return nil
	case newer(version, all[0]):
		return failf("Installed QEMU version '%s.0' is too old to run machine type '%s', please upgrade node '%s'", all[0], d.file, n.Name)
	}
	return qemuExits() // unsupported machine type
}

// newer reports whether a version such as 9.2 is later than another one.
func newer(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	return slices.CompareFunc(x, y, func(a, b string) int { return atoi(a) - atoi(b) }) > 0
}
