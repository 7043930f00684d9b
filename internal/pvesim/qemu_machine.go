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
	d := machineType(g.Config["machine"])
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

// revisions are those of Proxmox VE for versions of machine types. Source: qemu-server 8.4, PVE::QemuServer::Machine.
var revisions = map[string]string{"9.2": "+pve1", "4.1": "+pve2"}

// pin gives the machine type of a Windows the newest version that the node has, if it has none. A creation does that, and so
// does a change of ostype without one of machine. Source: qemu-server 8.4, check_and_pin_machine_string.
func (n *Node) pin(machine, osType string) string {
	d := machineType(machine)
	kind, unpinned := map[string]string{"": "pc-i440fx", "pc": "pc-i440fx", "q35": "pc-q35", "virt": "virt"}[d.file]
	if !strings.HasPrefix(osType, "w") || !unpinned {
		return machine
	}
	version := n.machines()[0]
	d.file = kind + "-" + version + revisions[version]
	return d.String()
}

// machineType is an entry of a machine type, with the type as its file.
func machineType(entry string) drive {
	d := parseDrive(entry)
	if d.file == "" {
		d.file = d.opts["type"]
		delete(d.opts, "type")
	}
	return d
}
