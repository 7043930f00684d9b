package schema

// otherAttributes are the attributes and blocks of the VM resource that no property sets
// and that are no part of a VM's hardware. A new property takes its attribute out of this
// table. Why is for all but the blocks that a property is in.
var otherAttributes = []Attribute{
	{HCL: "agent.wait_for_ip", Change: NeedlessRestart, Why: "The provider waits for any address, and the outputs read the one that a VM then has."},
	{HCL: "audio_device.driver", Change: Restart, Why: "The provider knows one: spice."},
	{HCL: "audio_device.enabled", Change: Restart, Why: "A VM whose spec has no `audio` has none."},
	{HCL: "clone", Change: Creation, Why: "It follows from `template` and `clone`, and from what the lock has decided."},
	{HCL: "cpu", Change: Restart, Group: true, Right: Right{Privilege: ConfigCPU}},
	{HCL: "disk.file_id", Change: Replace, Why: "A VM is a clone of a template: its disks come from there."},
	{HCL: "disk.import_from", Change: Creation, Why: "A VM is a clone of a template: its disks come from there."},
	{HCL: "disk.path_in_datastore", Change: Noise, Why: "Proxmox VE names the volume of a disk."},
	{HCL: "disk.queues", Change: Restart, Why: "Proxmox VE uses one queue for each virtual CPU."},
	{HCL: "id", Change: Noise, Why: "It is `vmid`."},
	{HCL: "initialization.dns", Change: Restart, Removal: Never, Group: true},
	{HCL: "initialization.file_format", Change: PowerOff, Why: "It follows from the datastore."},
	{HCL: "initialization.ip_config.ipv4", Change: Restart, Group: true},
	{HCL: "initialization.ip_config.ipv6", Change: Restart, Group: true},
	{HCL: "initialization.user_account", Change: Restart, Removal: Never, Group: true},
	{HCL: "initialization.user_account.password", Change: Restart, Removal: Never, Why: "A spec contains no secrets."},
	{HCL: "ipv4_addresses", Change: Noise, Why: "The provider reads it from the agent, for the outputs."},
	{HCL: "ipv6_addresses", Change: Noise, Why: "The provider reads it from the agent, for the outputs."},
	{HCL: "mac_addresses", Change: Noise, Why: "The provider reads it; `networks.mac` sets the addresses."},
	{HCL: "memory", Change: Restart, Group: true, Right: Right{Privilege: ConfigMemory}},
	{HCL: "memory.shared", Change: Restart, Why: "Only root@pam may set it, for a program of the node that shares memory with the VM.", Right: Right{Root: true}},
	{HCL: "migrate", Change: ProviderOnly, Why: "The modules set it for profiles that do not ignore `node_name`."},
	{HCL: "network_device.enabled", Change: Unplug, Why: "A VM has the devices that `networks` has."},
	{HCL: "network_interface_names", Change: Noise, Why: "The provider reads it from the agent."},
	{HCL: "operating_system", Change: Restart, Group: true, Right: Right{Privilege: ConfigOptions}},
	{HCL: "purge_on_destroy", Change: ProviderOnly, Why: "It stays true: jobs of backup and replication must not keep the VMID of a VM that is gone."},
	{HCL: "reboot", Change: ProviderOnly, Why: "A VM has all that its spec says when it starts for the first time."},
	{HCL: "template", Change: PowerOff, Removal: Never, Why: "A spec has VMs; a template is made before it, and remains."},
	{HCL: "timeout_create", Change: ProviderOnly, Why: "It is for VMs that are not clones."},
	{HCL: "timeout_move_disk", Change: ProviderOnly, Why: "The provider does not use it any more."},
}

// poolAttributes are the attributes of the pool resource.
var poolAttributes = []Attribute{
	{HCL: "comment", Change: Live},
	{HCL: "id", Change: Noise},
	{HCL: "members", Change: Noise},
	{HCL: "pool_id", Change: Replace},
}

// recordAttributes are the attributes of the record set resource.
var recordAttributes = []Attribute{
	{HCL: "addresses", Change: Live},
	{HCL: "id", Change: Noise},
	{HCL: "name", Change: Replace},
	{HCL: "ttl", Change: Replace},
	{HCL: "zone", Change: Replace},
}
