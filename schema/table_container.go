package schema

import "stackgen/guest"

// ContainerFields are the properties of a container, one row each, as VMFields are those of a VM.
//
// HCL paths are those of bpg/proxmox 0.111.1, resource proxmox_virtual_environment_container. An
// update of a running container whose row has Restart reboots it, always: the resource has no
// reboot_after_update. Read its source again for another version:
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/container/container.go (Container, containerUpdate, containerRead)
// Entries of a configuration: https://pve.proxmox.com/pve-docs/pct.conf.5.html
var ContainerFields = []Field{
	{Key: guest.Name, Type: String, Own: true, Format: "vmname", Most: 253, HCL: "initialization.hostname", PVE: "hostname", Change: Restart, Right: Right{Privilege: ConfigNetwork}, Doc: "The container's name and host name. Without it, `naming.pattern` gives one. A change restarts the container."},
	{Key: guest.Description, Type: String, Format: "text", Most: 8192, HCL: "description", PVE: "description", Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Notes shown in Proxmox VE."},
	{Key: guest.Tags, Type: List, Elem: &Field{Type: String, Format: "tag"}, Sum: true, HCL: "tags", PVE: "tags", Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Tags. Those of defaults, group and container add up; they are written sorted and in lower case."},
	{Key: guest.VMID, Type: Int, Own: true, Min: 100, Max: 999999999, HCL: "vm_id", Creation: true, Change: Replace, Doc: "The VMID. Without it, stackgen allocates one from `vmids` once and keeps it in the lock. VMs and containers share them."},
	{Key: guest.Node, Type: String, Own: true, Format: "node", Creation: true, HCL: "node_name", Change: Creation, Doc: "The node to create the container on. The provider cannot migrate a container, so a later change does nothing."},
	{Key: guest.Placement, Type: Object, Short: "strategy", Creation: true, Fields: placementFields, Doc: "Chooses the node of a new container, once. A strategy that needs the cluster takes nodes that have the archive. VMs and containers count together."},
	{Key: guest.Pool, Type: String, Format: "pool", HCL: "pool_id", PVE: "pool", Creation: true, Change: Creation, Doc: "The pool of the container, at creation only: the provider would replace it. Without it, the stack's `pool`."},
	{Key: guest.Adopt, Type: Object, Own: true, Whole: true, Creation: true, Fields: adoptFields, Doc: "This container exists already: an apply imports it, and never creates it, also where it was deleted. `networks` has the MAC address of each of its networks; a `template` is not used. Its profile is `adopted` unless `profile` is set."},
	{Key: guest.Template, Type: Object, Short: guest.Archive, ShortInt: guest.VMID, Whole: true, OneOf: []string{guest.Archive, guest.VMID}, Creation: true, Change: Creation, Fields: sourceFields, Doc: "What it is made from, at creation only. With `vmid`, `os_type`, `features`, `mounts` and `ssh_keys` are those of the template."},
	{Key: guest.OSType, Type: String, Enum: []string{"alpine", "archlinux", "centos", "debian", "devuan", "fedora", "gentoo", "nixos", "opensuse", "ubuntu", "unmanaged"}, HCL: "operating_system.type", PVE: "ostype", Creation: true, Change: Creation, Right: Right{Privilege: ConfigOptions}, Doc: "The distribution, which decides how Proxmox VE sets up network and host name; `unmanaged` is none of that. Without it, the one in the name of the archive. It acts at creation only."},
	{Key: guest.Unprivileged, Type: Bool, Default: "true", HCL: "unprivileged", PVE: "unprivileged", Unset: "false", Change: Replace, Doc: "Root in the container is no root of the node. A change would replace the container, and is refused."},
	{Key: guest.Profile, Type: String, Own: true, Format: "profile", Default: "default", Doc: "The lifecycle profile: `default`, `protected`, `adopted`, or one of `profiles`, whose attributes are those of the same properties."},
	{Key: guest.OnBoot, Type: Bool, Default: "true", HCL: "start_on_boot", PVE: "onboot", Absent: "false", Unset: "true", Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Start the container when its node starts."},
	{Key: guest.Started, Type: Bool, Default: "true", Creation: true, HCL: "started", PVE: "status", Absent: "false", Unset: "true", Change: Power, Doc: "Start the container when it is created. Later, the built-in profiles ignore whether it runs."},
	{Key: guest.Restart, Type: Bool, Default: "false", Doc: "An apply may restart the running container for a change that does so in the provider: `memory`, `swap`, `name`, addresses, networks, DNS. Without it, such a change is refused."},
	{Key: guest.Protection, Type: Bool, HCL: "protection", PVE: "protection", Unset: "false", Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Proxmox VE's own protection: the server refuses to remove the container or its volumes."},
	{Key: guest.Cores, Type: Int, Min: 1, Max: 128, Default: "1", HCL: "cpu.cores", PVE: "cores", Varies: true, Unset: "1", ReadAbsent: true, Sticky: true, Change: Live, Right: Right{Privilege: ConfigCPU}, Doc: "Cores. Always sent: without a number, Proxmox VE gives all of the node's."},
	{Key: guest.Memory, Type: Int, Min: 16, Max: 16777216, Default: "512", HCL: "memory.dedicated", Unit: "MiB", PVE: "memory", Implied: "512", Absent: "0", Unset: "512", ReadAbsent: true, Change: Restart, Right: Right{Privilege: ConfigMemory}, Doc: "Memory in MiB. The provider restarts a running container for a change."},
	{Key: guest.Swap, Type: Int, Max: 16777216, Default: "512", HCL: "memory.swap", Unit: "MiB", PVE: "swap", Implied: "512", Unset: "0", ReadAbsent: true, Change: Restart, Right: Right{Privilege: ConfigMemory}, Doc: "Swap in MiB. The provider restarts a running container for a change."},
	{Key: guest.RootFS, Type: Object, Default: "{}", HCL: "disk", Fields: rootfsFields, PVE: "rootfs", Unread: []string{"", "file", "volume"}, Change: Live, Right: Right{Privilege: ConfigDisk}, Doc: "The volume of the root file system."},
	{Key: guest.Mounts, Type: List, Most: 32, Elem: &Field{Type: Object, Fields: mountFields}, HCL: "mount_point", PVE: "mp*", Unread: []string{"", "file", "volume"}, Creation: true, Change: Creation, Right: Right{Privilege: ConfigDisk}, Doc: "Mount points with a volume of their own, mp0 first. They act at creation only, because the provider would replace the container for one more: `preflight` prints the line that adds one to a container that exists."},
	{Key: guest.Networks, Type: List, Most: 10, Elem: &Field{Type: Object, Fields: containerNetworkFields}, Default: "[{bridge: vmbr0, ipv4: dhcp}]", HCL: "network_interface", PVE: "net*", Unread: []string{"type"}, Change: Restart, Right: Right{Privilege: ConfigNetwork}, Doc: "Network devices, net0 first, with their addresses. The provider restarts a running container for a change."},
	{Key: guest.Nameservers, Type: List, Elem: &Field{Type: String, Format: "ip"}, HCL: "initialization.dns.servers", PVE: "nameserver", Sep: " ", Change: Restart, Right: Right{Privilege: ConfigNetwork}, Doc: "DNS servers. Without them, those of the node."},
	{Key: guest.SearchDomain, Type: String, Format: "zone", HCL: "initialization.dns.domain", PVE: "searchdomain", Change: Restart, Right: Right{Privilege: ConfigNetwork}, Doc: "DNS search domain. Without it, that of the node."},
	{Key: guest.SSHKeys, Type: List, Elem: &Field{Type: String, Format: "text"}, HCL: "initialization.user_account.keys", Creation: true, Change: Creation, Doc: "Public keys of root, or files with public keys, relative to the spec. They act at creation only."},
	{Key: guest.Features, Type: Object, HCL: "features", Fields: featureFields, PVE: "features", Creation: true, Change: Creation, Right: Right{Privilege: allocate}, Doc: "Features, at creation only: Proxmox VE refuses to every token what the provider sends for a change. Change them with `pct set` on the node."},
	{Key: guest.Startup, Type: Object, HCL: "startup", Fields: startupFields, PVE: "startup", Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Order and delays when a node starts or stops."},
	{Key: guest.DNS, Type: Object, Own: true, Off: true, Fields: recordFields, Doc: "The container's DNS records. Without it, one record with the container's name. `false` is no record."},
	{Key: guest.Meta, Type: Any, Doc: "Anything; passed to the outputs untouched."},
}

// sourceFields are what a container is made from.
var sourceFields = []Field{
	{Key: guest.Archive, Type: String, Format: "archive", HCL: "operating_system.template_file_id", Change: Creation, Doc: "The archive of its root file system, such as local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst. Its node must have it."},
	{Key: guest.VMID, Type: Int, Min: 100, Max: 999999999, Doc: "VMID of a template container on the node of the container. `stackgen apply` makes a full clone of it."},
}

var rootfsFields = []Field{
	{Key: guest.Datastore, Type: String, Format: "storage", HCL: "datastore_id", Default: "local-lvm", PVE: "datastore", Change: Replace, Doc: "Datastore of the volume. A change would replace the container, and is refused: move the volume in Proxmox VE first."},
	{Key: guest.Size, Type: Int, Min: 1, Max: 131072, HCL: "size", Default: "4", Unit: "GiB", PVE: "size", Change: Grow, Doc: "Size in GiB. It can grow, never shrink."},
}

var mountFields = []Field{
	{Key: guest.Path, Type: String, Required: true, Format: "mountpath", HCL: "path", PVE: "mp", Change: Creation, Doc: "Where it is in the container."},
	{Key: guest.Datastore, Type: String, Format: "storage", HCL: "volume", Default: "local-lvm", PVE: "datastore", Change: Creation, Doc: "Datastore of the volume."},
	{Key: guest.Size, Type: Int, Min: 1, Max: 131072, Required: true, HCL: "size", As: "GiB", Unit: "GiB", PVE: "size", Change: Creation, Doc: "Size in GiB."},
	{Key: guest.Backup, Type: Bool, Default: "true", HCL: "backup", PVE: "backup", Absent: "false", Change: Creation, Doc: "Back it up with the container. Proxmox VE itself leaves a mount point out unless it says so."},
}

var containerNetworkFields = []Field{
	{Key: guest.Interface, Type: String, Format: "ifname", HCL: "name", PVE: "name", Doc: "Name in the container. Without it, eth0 for the first one, eth1 for the second, and so on."},
	{Key: guest.Bridge, Type: String, Format: "bridge", Default: "vmbr0", HCL: "bridge", PVE: "bridge", Doc: "Bridge or virtual network."},
	{Key: guest.VLAN, Type: Int, Min: 1, Max: 4094, HCL: "vlan_id", PVE: "tag", Doc: "VLAN."},
	{Key: guest.MAC, Type: String, Format: "chosenmac", HCL: "mac_address", As: "upper", PVE: "hwaddr", Doc: "MAC address. Without it, stackgen decides one when it first renders the container, and keeps it in the lock: a container is known by it."},
	{Key: guest.IPv4, Type: String, Format: "ipv4", PVE: "ip", Doc: "`dhcp`, or address and prefix length."},
	{Key: guest.Gateway, Type: String, Format: "gateway", PVE: "gw", Doc: "IPv4 gateway, inside the address's subnet."},
	{Key: guest.IPv6, Type: String, Format: "ipv6", PVE: "ip6", Doc: "`dhcp`, `auto`, or address and prefix length."},
	{Key: guest.Gateway6, Type: String, Format: "gateway6", PVE: "gw6", Doc: "IPv6 gateway, for an `ipv6` with an address."},
	{Key: guest.MTU, Type: Int, Min: 64, Max: 65535, HCL: "mtu", PVE: "mtu", Doc: "MTU."},
	{Key: guest.Firewall, Type: Bool, Default: "false", HCL: "firewall", PVE: "firewall", Unset: "false", Doc: "Apply the container's firewall rules to this device."},
}

var featureFields = []Field{
	{Key: guest.Nesting, Type: Bool, HCL: "nesting", PVE: "nesting", Unset: "false", ReadAbsent: true, Change: Creation, Doc: "Permit containers in the container, which newer systemd needs, too."},
}

// containerAddresses are the addresses of the network devices of a container as the resource has
// them: a list beside that of the devices.
var containerAddresses = Field{Key: guest.IPConfigs, Type: List, Elem: &Field{Type: Object, Fields: ipConfigFields}, HCL: "initialization.ip_config", Change: Restart}

// containerAttributes are the attributes of the container resource that no property sets, with the
// entries of a configuration that they are read from.
var containerAttributes = []Attribute{
	{HCL: "clone", Change: Creation, Why: "`stackgen apply` clones a container itself, and has it imported: the provider takes any other container that has got the VMID for its clone, and gives it the name and the MAC addresses of the new one."},
	{HCL: "console", PVE: "cmode console tty", Change: Creation, Why: "The provider restarts a running container for a change, also for the first one after an import."},
	{HCL: "cpu", Change: Live, Group: true},
	{HCL: "cpu.architecture", PVE: "arch", Unset: "amd64", Change: Live, Why: "It is that of the archive."},
	{HCL: "cpu.limit", PVE: "cpulimit", Unset: "0", Change: Live, Why: "It is not part of this version."},
	{HCL: "cpu.units", PVE: "cpuunits", Change: Live, Why: "It is not part of this version."},
	{HCL: "device_passthrough", PVE: "dev", Change: Restart, Why: "Only root@pam may set it, and no token."},
	{HCL: "disk.acl", Change: Pending, Why: "It is not part of this version."},
	{HCL: "disk.mount_options", Change: Restart, Why: "It is not part of this version."},
	{HCL: "disk.path_in_datastore", Change: Noise, Why: "Proxmox VE names the volume."},
	{HCL: "disk.quota", Change: Pending, Why: "It is not part of this version."},
	{HCL: "disk.replicate", Change: Pending, Why: "It is not part of this version."},
	{HCL: "environment_variables", PVE: "env", Change: Restart, Why: "They are not part of this version."},
	{HCL: "hook_script_file_id", PVE: "hookscript", Change: Live, Why: "Only root@pam may set it, and no token."},
	{HCL: "id", Change: Noise, Why: "It is `vmid`."},
	{HCL: "idmap", PVE: "lxc", Change: Restart, Why: "The provider needs SSH for it."},
	{HCL: "initialization", Change: Restart, Group: true},
	{HCL: "initialization.dns", Change: Restart, Group: true},
	{HCL: "initialization.entrypoint", PVE: "entrypoint", Change: Restart, Why: "It is not part of this version."},
	{HCL: "initialization.user_account", Change: Creation, Group: true},
	{HCL: "initialization.user_account.password", Change: Creation, Why: "A spec contains no secrets."},
	{HCL: "ipv4", Change: Noise, Why: "The provider reads it from the container, for the outputs."},
	{HCL: "ipv6", Change: Noise, Why: "The provider reads it from the container, for the outputs."},
	{HCL: "memory", Change: Restart, Group: true},
	{HCL: "mount_point.acl", Change: Creation, Why: "It is not part of this version."},
	{HCL: "mount_point.mount_options", Change: Creation, Why: "They are not part of this version."},
	{HCL: "mount_point.path_in_datastore", Change: Noise, Why: "Proxmox VE names the volume."},
	{HCL: "mount_point.quota", Change: Creation, Why: "It is not part of this version."},
	{HCL: "mount_point.read_only", Change: Creation, Why: "It is not part of this version."},
	{HCL: "mount_point.replicate", Change: Creation, Why: "It is not part of this version."},
	{HCL: "mount_point.shared", Change: Creation, Why: "Only root@pam may set up what it is about, and no token."},
	{HCL: "network_interface.enabled", Change: Restart, Why: "A container has the devices that `networks` has."},
	{HCL: "network_interface.host_managed", Change: Restart, Why: "It is not part of this version."},
	{HCL: "network_interface.rate_limit", Change: Restart, Why: "It is not part of this version."},
	{HCL: "operating_system", Change: Creation, Group: true},
	{HCL: "template", PVE: "template", Change: Replace, Why: "A spec has containers; a template is made before it."},
	{HCL: "timeout_clone", Change: ProviderOnly, Why: "It is the provider's."},
	{HCL: "timeout_create", Change: ProviderOnly, Why: "It is the provider's."},
	{HCL: "timeout_delete", Change: ProviderOnly, Why: "It is the provider's."},
	{HCL: "timeout_start", Change: ProviderOnly, Why: "The provider does not use it any more."},
	{HCL: "timeout_update", Change: ProviderOnly, Why: "It is the provider's."},
	{HCL: "wait_for_ip", Change: ProviderOnly, Why: "The outputs read the address that a container then has."},
}

// containerUntouched are the other entries of a container's configuration, without a number, as Untouched
// are those of a VM: the provider does not read them.
var containerUntouched = []string{"debug", "digest", "lock", "parent", "snapstate", "snaptime", "timezone", "unused"}

// containerIgnored are what every profile ignores of a container, in the order of the module. What
// acts at the creation only is not read back, or replaces the container, or restarts it.
var containerIgnored = []string{
	"clone", "console", "device_passthrough", "environment_variables", "features", "hook_script_file_id", "idmap",
	"initialization[0].entrypoint", "initialization[0].user_account", "mount_point", "node_name", "operating_system", "pool_id", "template",
}
