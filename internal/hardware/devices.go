package hardware

import (
	"slices"

	"stackgen/guest"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// devices refuses devices and options that the provider reads in another way than Proxmox
// VE, or with which Proxmox VE does not start a VM.
func (r *Reading) devices() {
	r.numaNodes()
	r.encryption()
	if text, ok := r.raw["audio0"]; ok {
		switch driver := pve.Parse(text).Option("driver"); driver {
		case "spice":
		case "":
			r.refuse(guest.Audio, "audio0="+text,
				"the provider does not read the driver that Proxmox VE uses without one; setting it to spice, which it is, does not change the VM",
				r.Set("--audio0", shell.Word(text+",driver=spice")))
		default:
			r.refuse(guest.Audio, "audio0="+text, "the provider has no driver "+driver)
		}
	}
	for _, d := range r.values[guest.Virtiofs].List() {
		if xattr := d.Get(guest.ExposeXattr); d.Get(guest.ExposeACL).Bool() {
			xattr.Shape, xattr.Text = schema.ShapeBool, "true" // ACLs bring extended attributes
		}
	}
}

// encryption refuses options that the provider reads in another way than Proxmox VE, and
// removes what it does not read: a block with its own defaults.
func (r *Reading) encryption() {
	text, ok := r.raw["amd-sev"]
	if !ok {
		return
	}
	sev := r.values[guest.AMDSEV]
	smt, snp := sev.Get(guest.AllowSMT).Bool(), sev.Get(guest.Type).Str() == "snp"
	others := slices.ContainsFunc(schema.VMField(guest.AMDSEV).Fields, func(f schema.Field) bool {
		return f.Key != guest.AllowSMT && sev.Get(f.Key).Bool()
	})
	switch {
	case smt && !others && sev.Get(guest.Type).Str() == "std":
		delete(r.values, guest.AMDSEV)
	case snp && !pve.Parse(text).Has("allow-smt"):
		r.refuse(guest.AMDSEV, "amd-sev="+text,
			"the provider reads it as without SMT; allowing SMT, as Proxmox VE does now, does not change the VM",
			r.Set("--amd-sev", shell.Word(text+",allow-smt=1")))
	case smt && !snp:
		r.refuse(guest.AMDSEV, "amd-sev="+text, "a spec has allow-smt for type snp only")
	case r.values[guest.BIOS].Str() != "ovmf":
		r.refuse(guest.AMDSEV, "amd-sev="+text, "a spec has memory encryption only with bios: ovmf, and Proxmox VE starts no VM without it")
	}
}

// numaNodes leaves out NUMA nodes that no spec can have: the provider does not read one
// without nodes of the host, and Proxmox VE starts no VM with one without memory or policy,
// with another sum of their memory, or with hotplug of memory. A VM keeps its nodes while
// its spec has none.
func (r *Reading) numaNodes() {
	list := r.values[guest.NUMANodes].List()
	r.nodes = readNodes(r.values[guest.NUMANodes])
	usable, memory := r.values[guest.NUMA].Str() == "true" && !slices.Contains(pve.List(r.raw["hotplug"]), "memory"), 0
	for _, d := range list {
		memory += d.Get(guest.Memory).Int()
		for _, key := range []string{guest.HostNodes, guest.Memory, guest.Policy} {
			usable = usable && d.Get(key).Str() != ""
		}
	}
	if len(list) > 0 && !(usable && memory == r.values[guest.Memory].Int()) {
		delete(r.values, guest.NUMANodes)
		delete(r.shows, guest.NUMANodes)
	}
}

// readNodes are those NUMA nodes that the provider reads.
func readNodes(list *schema.Node) *schema.Node {
	out := &schema.Node{Shape: schema.ShapeList}
	for _, d := range list.List() {
		if d.Get(guest.HostNodes).Str() != "" {
			out.Items = append(out.Items, d)
		}
	}
	if len(out.Items) == 0 {
		return nil
	}
	return out
}
