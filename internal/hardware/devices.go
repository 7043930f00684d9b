package hardware

import (
	"slices"

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
			r.refuse("audio", "audio0="+text,
				"the provider does not read the driver that Proxmox VE uses without one; setting it to spice, which it is, does not change the VM",
				r.Set("--audio0", shell.Word(text+",driver=spice")))
		default:
			r.refuse("audio", "audio0="+text, "the provider has no driver "+driver)
		}
	}
	for _, d := range r.values["virtiofs"].List() {
		if xattr := d.Get("expose_xattr"); d.Get("expose_acl").Bool() {
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
	sev := r.values["amd_sev"]
	smt, snp := sev.Get("allow_smt").Bool(), sev.Get("type").Str() == "snp"
	keys := []string{"no_debug", "no_key_sharing", "kernel_hashes"}
	others := slices.ContainsFunc(keys, func(key string) bool { return sev.Get(key).Bool() })
	switch {
	case smt && !others && sev.Get("type").Str() == "std":
		delete(r.values, "amd_sev")
	case snp && !pve.Parse(text).Has("allow-smt"):
		r.refuse("amd_sev", "amd-sev="+text,
			"the provider reads it as without SMT; allowing SMT, as Proxmox VE does now, does not change the VM",
			r.Set("--amd-sev", shell.Word(text+",allow-smt=1")))
	case smt && !snp:
		r.refuse("amd_sev", "amd-sev="+text, "a spec has allow-smt for type snp only")
	case r.values["bios"].Str() != "ovmf":
		r.refuse("amd_sev", "amd-sev="+text, "a spec has memory encryption only with bios: ovmf, and Proxmox VE starts no VM without it")
	}
}

// numaNodes leaves out NUMA nodes that no spec can have: the provider does not read one
// without nodes of the host, and Proxmox VE starts no VM with one without memory or policy,
// with another sum of their memory, or with hotplug of memory. A VM keeps its nodes while
// its spec has none.
func (r *Reading) numaNodes() {
	list := r.values["numa_nodes"].List()
	r.nodes = readNodes(r.values["numa_nodes"])
	usable, memory := r.values["numa"].Str() == "true" && !slices.Contains(pve.List(r.raw["hotplug"]), "memory"), 0
	for _, d := range list {
		memory += d.Get("memory").Int()
		for _, key := range []string{"host_nodes", "memory", "policy"} {
			usable = usable && d.Get(key).Str() != ""
		}
	}
	if len(list) > 0 && !(usable && memory == r.values["memory"].Int()) {
		delete(r.values, "numa_nodes")
		delete(r.shows, "numa_nodes")
	}
}

// readNodes are those NUMA nodes that the provider reads.
func readNodes(list *schema.Node) *schema.Node {
	out := &schema.Node{Shape: schema.ShapeList}
	for _, d := range list.List() {
		if d.Get("host_nodes").Str() != "" {
			out.Items = append(out.Items, d)
		}
	}
	if len(out.Items) == 0 {
		return nil
	}
	return out
}
