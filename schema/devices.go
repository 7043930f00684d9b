package schema

import (
	"fmt"
	"strconv"
	"strings"

	"stackgen/guest"
)

// pci numbers the PCI devices, and checks them against one another and the machine.
func (e *expander) pci(v *VM) {
	for i, d := range e.slotted(v, guest.HostPCI, "two PCI devices are %s") {
		if pcie := d.Get(guest.PCIe); pcie.Bool() && !strings.Contains(v.Values.Get(guest.Machine).Str(), "q35") {
			e.errorPos(pcie.Pos, fmt.Sprintf("%s.hostpci[%d].pcie", v.Path, i), CodeHardware, "write machine: q35, or remove pcie",
				"a PCIe port needs machine q35")
		}
	}
}

// numaNodes numbers the NUMA nodes, and checks them against one another and the memory:
// Proxmox VE ignores them without numa, and does not start a VM where they do not fit.
func (e *expander) numaNodes(v *VM) {
	list, memory := v.Values.Get(guest.NUMANodes), 0
	for _, d := range e.slotted(v, guest.NUMANodes, "two NUMA nodes are %s") {
		memory += d.Get(guest.Memory).Int()
	}
	switch all := v.Values.Get(guest.Memory).Int(); {
	case len(list.List()) == 0:
	case !v.Values.Get(guest.NUMA).Bool():
		e.errorPos(list.Pos, v.Path+".numa_nodes", CodeHardware, "write numa: true, or remove numa_nodes", "NUMA nodes need numa")
	case memory != all:
		e.errorPos(list.Pos, v.Path+".numa_nodes", CodeHardware, "give them the memory of the VM",
			"the NUMA nodes have %d MiB of memory, and the VM has %d MiB", memory, all)
	case v.hotplugsMemory():
		e.errorPos(list.Pos, v.Path+".numa_nodes", CodeHardware, "remove memory from hotplug, or remove numa_nodes",
			"a VM with NUMA nodes has no hotplug of memory")
	}
}

// slotted are the devices of a list whose entries have their number in the VM. One
// without a number gets its position in the list. twice says that a number is there twice.
func (e *expander) slotted(v *VM, key, twice string) []*Node {
	list := v.Values.Get(key)
	if list == nil {
		return nil
	}
	prefix := strings.TrimSuffix(VMField(key).PVE, "*")
	out, seen := &Node{Pos: list.Pos, Shape: list.Shape}, map[string]bool{}
	for i, d := range list.Items {
		if d.Get(guest.Device) == nil {
			d = d.With(Scalar(d.Pos, ShapeString, guest.Device), Scalar(d.Pos, ShapeString, prefix+strconv.Itoa(i)))
		}
		at := d.Get(guest.Device).Text
		if seen[at] {
			e.errorPos(d.Pos, fmt.Sprintf("%s.%s[%d]", v.Path, key, i), CodeDevice, "give each device another number", twice, at)
		}
		seen[at] = true
		out.Items = append(out.Items, d)
	}
	v.set(key, out)
	return out.Items
}

// IsWindows reports whether an os_type is a Windows.
func IsWindows(osType string) bool { return strings.HasPrefix(osType, "w") }

// virtiofs checks the shared directories. ACLs bring extended attributes, and the provider
// refuses the one without the other.
func (e *expander) virtiofs(v *VM) {
	list := v.Values.Get(guest.Virtiofs)
	if list == nil {
		return
	}
	if v.hotplugsMemory() && len(list.Items) > 0 {
		e.errorPos(list.Pos, v.Path+".virtiofs", CodeHardware, "remove memory from hotplug, or remove virtiofs",
			"a VM with virtiofs has no hotplug of memory")
	}
	out := &Node{Pos: list.Pos, Shape: list.Shape}
	for i, d := range list.Items {
		path := fmt.Sprintf("%s.virtiofs[%d]", v.Path, i)
		if acl, xattr := d.Get(guest.ExposeACL), d.Get(guest.ExposeXattr); acl.Bool() {
			if IsWindows(v.Values.Get(guest.OSType).Str()) {
				e.errorPos(acl.Pos, path+".expose_acl", CodeHardware, "remove expose_acl", "Windows cannot mount a directory with ACLs")
			}
			if xattr != nil && !xattr.Bool() {
				e.errorPos(xattr.Pos, path+".expose_xattr", CodeHardware, "remove expose_xattr, or expose_acl",
					"expose_acl includes extended attributes")
			}
			d = d.With(Scalar(acl.Pos, ShapeString, guest.ExposeXattr), Scalar(acl.Pos, ShapeBool, "true"))
		}
		out.Items = append(out.Items, d)
	}
	v.set(guest.Virtiofs, out)
}

// encryption checks the memory encryption, and says for SEV-SNP whether SMT is allowed.
func (e *expander) encryption(v *VM) {
	sev := v.Values.Get(guest.AMDSEV)
	if sev == nil {
		return
	}
	if v.Values.Get(guest.BIOS).Str() != "ovmf" {
		e.errorPos(sev.Pos, v.Path+".amd_sev", CodeHardware, "write bios: ovmf, or remove amd_sev", "memory encryption needs bios: ovmf")
	}
	smt, snp := sev.Get(guest.AllowSMT), sev.Get(guest.Type).Str() == "snp"
	if !snp && smt.Bool() {
		e.errorPos(smt.Pos, v.Path+".amd_sev.allow_smt", CodeHardware, "remove allow_smt, or write type: snp", "only type snp has allow_smt")
	}
	if smt == nil {
		v.set(guest.AMDSEV, sev.With(Scalar(sev.Pos, ShapeString, guest.AllowSMT), Scalar(sev.Pos, ShapeBool, strconv.FormatBool(snp))))
	}
}
