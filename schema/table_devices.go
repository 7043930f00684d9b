package schema

import "stackgen/guest"

// numaFields are the NUMA nodes that the provider reads: without host_nodes it reads none,
// and Proxmox VE starts none without memory, or with host_nodes and no policy.
var numaFields = []Field{
	{Key: guest.Device, Type: String, Format: "numa", HCL: "device", PVE: Slot, Doc: "Its number in the VM, such as numa0. Without it, the position in the list."},
	{Key: guest.CPUs, Type: String, Number: true, Max: 9999, Format: "numacpus", Required: true, HCL: "cpus", PVE: "cpus", Absent: None, Doc: "CPUs of the VM in it, such as 0-3."},
	{Key: guest.Memory, Type: Int, Min: 64, Max: 16777216, Required: true, HCL: "memory", Unit: "MiB", PVE: "memory", Absent: None, Doc: "Its memory in MiB."},
	{Key: guest.HostNodes, Type: String, Number: true, Max: 9999, Format: "numacpus", Required: true, HCL: "hostnodes", PVE: "hostnodes", Absent: None, Doc: "NUMA nodes of the host that the memory is from, such as 0 or 0-1."},
	{Key: "policy", Type: String, Enum: []string{"preferred", "bind", "interleave"}, Default: "preferred", HCL: "policy", PVE: "policy", Absent: None, Unset: "preferred", Doc: "How the memory is taken from them."},
}

var virtiofsFields = []Field{
	{Key: guest.Mapping, Type: String, Format: "mapping", Required: true, HCL: "mapping", PVE: "dirid", Bare: true, Doc: "Directory mapping of the cluster, which is also the tag to mount in the guest."},
	{Key: guest.Cache, Type: String, Enum: []string{"auto", "always", "metadata", "never"}, HCL: "cache", PVE: "cache", Unset: "auto", Doc: "Cache mode."},
	{Key: "direct_io", Type: Bool, HCL: "direct_io", PVE: "direct-io", Unset: "false", Doc: "Direct I/O of the guest reaches the node."},
	{Key: guest.ExposeACL, Type: Bool, HCL: "expose_acl", PVE: "expose-acl", Unset: "false", Doc: "The guest sees POSIX ACLs, and extended attributes with them; not for Windows."},
	{Key: guest.ExposeXattr, Type: Bool, HCL: "expose_xattr", PVE: "expose-xattr", Unset: "false", Doc: "The guest sees extended attributes."},
}

// sevFields have allow_smt for SEV-SNP only: the provider reads no block that equals its
// own defaults, of which it is one, and another plan would replace the VM.
var sevFields = []Field{
	{Key: guest.Type, Type: String, Enum: []string{"std", "es", "snp"}, Default: "std", HCL: "type", PVE: "type", Bare: true, Doc: "SEV, SEV-ES or SEV-SNP."},
	{Key: "no_debug", Type: Bool, HCL: "no_debug", PVE: "no-debug", Unset: "false", Doc: "The node cannot debug the guest."},
	{Key: "no_key_sharing", Type: Bool, HCL: "no_key_sharing", PVE: "no-key-sharing", Unset: "false", Doc: "The guest shares its key with no other one; not of `snp`."},
	{Key: "kernel_hashes", Type: Bool, HCL: "kernel_hashes", PVE: "kernel-hashes", Unset: "false", Doc: "The firmware has hashes of the kernel."},
	{Key: guest.AllowSMT, Type: Bool, HCL: "allow_smt", PVE: "allow-smt", Unset: "false", Doc: "The node may use SMT; of `snp` only, where it is true without it."},
}

var audioFields = []Field{
	{Key: guest.Device, Type: String, Enum: []string{"ich9-intel-hda", "intel-hda", "AC97"}, Required: true, HCL: "device", PVE: "device", Doc: "Device."},
}
