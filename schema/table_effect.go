package schema

// otherAttributes are the attributes and blocks of the VM resource that no property sets
// and that are no part of a VM's hardware. A new property takes its attribute out of this table.
var otherAttributes = []Attribute{
	{HCL: "agent.wait_for_ip", Change: NeedlessRestart},
	{HCL: "clone", Change: Creation},
	{HCL: "cpu", Change: Restart, Group: true},
	{HCL: "delete_unreferenced_disks_on_destroy", Change: ProviderOnly},
	{HCL: "disk.file_id", Change: Replace},
	{HCL: "disk.import_from", Change: Creation},
	{HCL: "disk.path_in_datastore", Change: Noise},
	{HCL: "disk.queues", Change: Restart},
	{HCL: "id", Change: Noise},
	{HCL: "initialization.dns", Change: Restart, Removal: Never, Group: true},
	{HCL: "initialization.file_format", Change: PowerOff},
	{HCL: "initialization.ip_config", Change: Restart, Group: true},
	{HCL: "initialization.ip_config.ipv4", Change: Restart, Group: true},
	{HCL: "initialization.ip_config.ipv6", Change: Restart, Group: true},
	{HCL: "initialization.ip_config.ipv6.gateway", Change: Restart},
	{HCL: "initialization.meta_data_file_id", Change: Replace},
	{HCL: "initialization.network_data_file_id", Change: Replace},
	{HCL: "initialization.type", Change: Replace},
	{HCL: "initialization.upgrade", Change: Restart},
	{HCL: "initialization.user_account", Change: Restart, Removal: Never, Group: true},
	{HCL: "initialization.user_account.password", Change: Restart, Removal: Never},
	{HCL: "initialization.user_data_file_id", Change: Replace},
	{HCL: "initialization.vendor_data_file_id", Change: Replace},
	{HCL: "ipv4_addresses", Change: Noise},
	{HCL: "ipv6_addresses", Change: Noise},
	{HCL: "mac_addresses", Change: Noise},
	{HCL: "memory", Change: Restart, Group: true},
	{HCL: "memory.shared", Change: Restart},
	{HCL: "migrate", Change: ProviderOnly},
	{HCL: "network_device.enabled", Change: Unplug},
	{HCL: "network_interface_names", Change: Noise},
	{HCL: "operating_system", Change: Restart, Group: true},
	{HCL: "purge_on_destroy", Change: ProviderOnly},
	{HCL: "reboot", Change: ProviderOnly},
	{HCL: "stop_on_destroy", Change: ProviderOnly},
	{HCL: "template", Change: PowerOff, Removal: Never},
	{HCL: "timeout_clone", Change: ProviderOnly},
	{HCL: "timeout_create", Change: ProviderOnly},
	{HCL: "timeout_migrate", Change: ProviderOnly},
	{HCL: "timeout_move_disk", Change: ProviderOnly},
	{HCL: "timeout_reboot", Change: ProviderOnly},
	{HCL: "timeout_shutdown_vm", Change: ProviderOnly},
	{HCL: "timeout_start_vm", Change: ProviderOnly},
	{HCL: "timeout_stop_vm", Change: ProviderOnly},
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
