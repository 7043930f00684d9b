package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// pci numbers the PCI devices, and checks them against one another and the machine.
func (e *expander) pci(v *VM) {
	for i, d := range e.slotted(v, "hostpci", "two PCI devices are %s") {
		if pcie := d.Get("pcie"); pcie.Bool() && !strings.Contains(v.Values.Get("machine").Str(), "q35") {
			e.errorPos(pcie.Pos, fmt.Sprintf("%s.hostpci[%d].pcie", v.Path, i), CodeHardware, "write machine: q35, or remove pcie",
				"a PCIe port needs machine q35")
		}
	}
}

// numaNodes numbers the NUMA nodes, and checks them against one another and the memory:
// Proxmox VE ignores them without numa, and does not start a VM where they do not fit.
func (e *expander) numaNodes(v *VM) {
	list, memory := v.Values.Get("numa_nodes"), 0
	for _, d := range e.slotted(v, "numa_nodes", "two NUMA nodes are %s") {
		memory += d.Get("memory").Int()
	}
	switch all := v.Values.Get("memory").Int(); {
	case len(list.List()) == 0:
	case !v.Values.Get("numa").Bool():
		e.errorPos(list.Pos, v.Path+".numa_nodes", CodeHardware, "write numa: true, or remove numa_nodes", "NUMA nodes need numa")
	case memory != all:
		e.errorPos(list.Pos, v.Path+".numa_nodes", CodeHardware, "give them the memory of the VM",
			"the NUMA nodes have %d MiB of memory, and the VM has %d MiB", memory, all)
	case strings.Contains(v.Values.Get("hotplug").Str(), "memory"):
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
		if d.Get("device") == nil {
			d = d.With(Scalar(d.Pos, ShapeString, "device"), Scalar(d.Pos, ShapeString, prefix+strconv.Itoa(i)))
		}
		at := d.Get("device").Text
		if seen[at] {
			e.errorPos(d.Pos, fmt.Sprintf("%s.%s[%d]", v.Path, key, i), CodeDevice, "give each device another number", twice, at)
		}
		seen[at] = true
		out.Items = append(out.Items, d)
	}
	v.set(key, out)
	return out.Items
}

// virtiofs checks the shared directories. ACLs bring extended attributes, and the provider
// refuses the one without the other.
func (e *expander) virtiofs(v *VM) {
	list := v.Values.Get("virtiofs")
	if list == nil {
		return
	}
	if strings.Contains(v.Values.Get("hotplug").Str(), "memory") && len(list.Items) > 0 {
		e.errorPos(list.Pos, v.Path+".virtiofs", CodeHardware, "remove memory from hotplug, or remove virtiofs",
			"a VM with virtiofs has no hotplug of memory")
	}
	out := &Node{Pos: list.Pos, Shape: list.Shape}
	for i, d := range list.Items {
		path := fmt.Sprintf("%s.virtiofs[%d]", v.Path, i)
		if acl, xattr := d.Get("expose_acl"), d.Get("expose_xattr"); acl.Bool() {
			if strings.HasPrefix(v.Values.Get("os_type").Str(), "w") {
				e.errorPos(acl.Pos, path+".expose_acl", CodeHardware, "remove expose_acl", "Windows cannot mount a directory with ACLs")
			}
			if xattr != nil && !xattr.Bool() {
				e.errorPos(xattr.Pos, path+".expose_xattr", CodeHardware, "remove expose_xattr, or expose_acl",
					"expose_acl includes extended attributes")
			}
			d = d.With(Scalar(acl.Pos, ShapeString, "expose_xattr"), Scalar(acl.Pos, ShapeBool, "true"))
		}
		out.Items = append(out.Items, d)
	}
	v.set("virtiofs", out)
}

// encryption checks the memory encryption, and says for SEV-SNP whether SMT is allowed.
func (e *expander) encryption(v *VM) {
	sev := v.Values.Get("amd_sev")
	if sev == nil {
		return
	}
	if v.Values.Get("bios").Str() != "ovmf" {
		e.errorPos(sev.Pos, v.Path+".amd_sev", CodeHardware, "write bios: ovmf, or remove amd_sev", "memory encryption needs bios: ovmf")
	}
	smt, snp := sev.Get("allow_smt"), sev.Get("type").Str() == "snp"
	if !snp && smt.Bool() {
		e.errorPos(smt.Pos, v.Path+".amd_sev.allow_smt", CodeHardware, "remove allow_smt, or write type: snp", "only type snp has allow_smt")
	}
	if smt == nil {
		v.set("amd_sev", sev.With(Scalar(sev.Pos, ShapeString, "allow_smt"), Scalar(sev.Pos, ShapeBool, strconv.FormatBool(snp))))
	}
}
