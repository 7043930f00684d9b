package schema

import "stackgen/guest"

// VMFields are the properties of a VM, one row each, with the keys of a property
// in a table of their own. The parser, the JSON Schema, the reference, the VM
// module, the stack files, the adoption of existing VMs and the guard read them.
//
// HCL paths are those of bpg/proxmox 0.111.1, resource
// proxmox_virtual_environment_vm. Stack files say every value, defaults too: a clone
// keeps the value of its template where the HCL has none. Unset and Absent are what the provider does
// when it reads a VM that it did not create; read its source again for another
// version:
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/vm.go (vmReadCustom, forceNewOn...)
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/disk/disk.go (Read)
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/network/network.go (ReadNetworkDeviceObjects)
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/structure/schema.go (empty lists are kept)
// Entries of a configuration: https://pve.proxmox.com/pve-docs/qm.conf.5.html
var VMFields = []Field{
	{Key: guest.Name, Type: String, Own: true, Format: "vmname", Most: 253, HCL: "name", PVE: "name", Unset: Keep, Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "The VM's name and host name. Without it, `naming.pattern` gives one. DNS records are in lower case, and without the zone where the name ends with it."},
	{Key: guest.Description, Type: String, Format: "text", Most: 8192, HCL: "description", PVE: "description", Inherits: true, Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Notes shown in Proxmox VE."},
	{Key: guest.Tags, Type: List, Elem: &Field{Type: String, Format: "tag"}, Sum: true, HCL: "tags", PVE: "tags", Unset: Keep, Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Tags. Those of defaults, group and VM add up; they are written sorted and in lower case, as Proxmox VE stores them with every update."},
	{Key: guest.VMID, Type: Int, Own: true, Min: 100, Max: 999999999, HCL: "vm_id", Creation: true, Change: Replace, Doc: "The VMID. Without it, stackgen allocates one from `vmids` once and keeps it in the lock."},
	{Key: guest.Node, Type: String, Own: true, Format: "node", Creation: true, HCL: "node_name", Change: Migrate, Doc: "The node to create the VM on. Without it, `placement` chooses one. With a profile that does not ignore `node_name`, an apply migrates the VM to it."},
	{Key: guest.Pool, Type: String, Format: "pool", HCL: "pool_id", PVE: "pool", Unset: Keep, Change: Live, Doc: "The pool of the VM. Without it, the stack's `pool`."},
	{Key: guest.Template, Type: Object, ShortInt: "vmid", Short: "name", Whole: true, OneOf: []string{"vmid", "name"}, Creation: true, Fields: templateFields, Doc: "The template to clone: a VMID, a name, {vmid, node} or {name, node}. `stackgen resolve` records the VMID of a name, and the node of a VMID; before that, a VMID without a node is taken to be on the VM's own node."},
	{Key: guest.Clone, Type: String, Enum: []string{"full", "linked", "auto"}, Default: "full", Creation: true, Doc: "The clone mode. `auto` is linked where the storage supports it; `stackgen resolve` decides it once, and records why."},
	{Key: guest.Adopt, Type: Object, Own: true, Whole: true, Creation: true, Fields: adoptFields, Doc: "This VM exists already: import it instead of creating it. Its profile is `adopted` unless `profile` is set."},
	{Key: guest.Placement, Type: Object, Short: "strategy", Creation: true, Fields: placementFields, Doc: "Chooses the node of a new VM, once."},
	{Key: guest.Checkpoint, Type: Bool, Doc: "After an apply, take the checkpoint `baseline` of the VM if it has none. `stackgen reset` goes back to it."},
	{Key: guest.Profile, Type: String, Own: true, Format: "profile", Default: "default", Doc: "The lifecycle profile: `default`, `protected`, `adopted`, or one of `profiles`."},
	{Key: guest.OnBoot, Type: Bool, Default: "true", HCL: "on_boot", PVE: "onboot", Absent: "false", Unset: "true", Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Start the VM when its node starts."},
	{Key: guest.Started, Type: Bool, Default: "true", Creation: true, HCL: "started", PVE: "status", Absent: "false", Unset: "true", Change: Power, Doc: "Start the VM when it is created. Later, the built-in profiles ignore whether it runs."},
	{Key: guest.Restart, Type: Bool, Default: "false", HCL: "reboot_after_update", Unset: "true", Settles: true, Change: ProviderOnly, Doc: "An apply may restart or stop the running VM for a change that needs it, hard if no agent answers. Without it, such a change waits for a restart, and what needs the VM off is refused."},
	{Key: guest.StopOnDestroy, Type: Bool, HCL: "stop_on_destroy", Unset: "false", Settles: true, Change: ProviderOnly, Doc: "Stop the VM hard when it is destroyed. Without it, a VM whose configuration enables the agent shuts down first, for at most `timeouts.shutdown` seconds. One without an agent is stopped hard in any case."},
	{Key: "delete_unreferenced_disks", Type: Bool, HCL: "delete_unreferenced_disks_on_destroy", Unset: "true", Settles: true, Change: ProviderOnly, Doc: "Also delete disks that have the VMID in their name and are not in the configuration of the VM, when it is destroyed; `false` keeps them."},
	{Key: "timeouts", Type: Object, Fields: timeoutFields, Change: ProviderOnly, Doc: "How long the provider waits for Proxmox VE."},
	{Key: "protection", Type: Bool, HCL: "protection", PVE: "protection", Unset: "false", Inherits: true, Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Proxmox VE's own protection: the server refuses to remove the VM or its disks."},
	{Key: guest.BIOS, Type: String, Enum: []string{"seabios", "ovmf"}, Default: "seabios", HCL: "bios", PVE: "bios", Unset: "seabios", Inherits: true, Change: Restart, Right: Right{Privilege: ConfigOptions}, Doc: "Firmware."},
	{Key: guest.Machine, Type: String, Format: "machine", HCL: "machine", PVE: "machine", Inherits: true, Change: Restart, Right: Right{Privilege: ConfigHardware}, Doc: "Machine type. Proxmox VE adds a version to that of a new Windows."},
	{Key: guest.SCSIHardware, Type: String, Enum: []string{"virtio-scsi-single", "virtio-scsi-pci", "lsi", "lsi53c810", "megasas", "pvscsi"}, Default: "virtio-scsi-single", HCL: "scsi_hardware", PVE: "scsihw", Implied: "lsi", Unset: "virtio-scsi-pci", Inherits: true, Sticky: true, Change: Restart, Right: Right{Privilege: ConfigHardware}, Doc: "SCSI controller."},
	{Key: guest.BootOrder, Type: List, Elem: &Field{Type: String, Format: "bootdev"}, HCL: "boot_order", PVE: "boot/order", Unread: []string{"", "legacy"}, Unset: Keep, Change: Restart, Right: Right{Privilege: ConfigDisk}, Doc: "Devices to boot from, in order."},
	{Key: guest.OSType, Type: String, Enum: []string{"l24", "l26", "other", "solaris", "w2k", "w2k3", "w2k8", "win7", "win8", "win10", "win11", "wvista", "wxp"}, Default: "l26", HCL: "operating_system.type", PVE: "ostype", Implied: "other", Unset: "other", ReadAbsent: true, Change: Restart, Doc: "Guest operating system."},
	{Key: guest.Cores, Type: Int, Min: 1, Max: 1024, Default: "2", HCL: "cpu.cores", PVE: "cores", Unset: "1", ReadAbsent: true, Change: Restart, Doc: "Cores per socket."},
	{Key: guest.Sockets, Type: Int, Min: 1, Max: 16, Default: "1", HCL: "cpu.sockets", PVE: "sockets", Unset: "1", ReadAbsent: true, Change: Restart, Doc: "CPU sockets."},
	{Key: guest.CPUType, Type: String, Format: "cpu", Default: "x86-64-v2-AES", HCL: "cpu.type", PVE: "cpu/cputype", Bare: true, Unset: "qemu64", ReadAbsent: true, Change: Restart, Doc: "Emulated CPU."},
	{Key: "cpu_flags", Type: List, Elem: &Field{Type: String, Format: "cpuflag"}, HCL: "cpu.flags", PVE: "cpu/flags", Change: Restart, Doc: "CPU flags to add or remove, such as [+aes, -pcid]."},
	{Key: guest.CPUAffinity, Type: String, Format: "cpus", HCL: "cpu.affinity", PVE: "affinity", Inherits: true, Change: Restart, Right: Right{Root: true}, Doc: "The CPUs of the node that the VM may use, such as 0-3,8; only root@pam may change it."},
	{Key: guest.NUMA, Type: Bool, HCL: "cpu.numa", PVE: "numa", Unset: "false", Change: Restart, Doc: "Enable NUMA."},
	{Key: guest.NUMANodes, Type: List, Most: 8, Elem: &Field{Type: Object, Fields: numaFields}, HCL: "numa", PVE: "numa*", Unset: Keep, Inherits: true, Change: Restart, Right: Right{Privilege: ConfigCPU}, Doc: "NUMA nodes of the VM, with `numa`; together, they have the memory of the VM. Without it, the VM keeps those that it has."},
	{Key: guest.AMDSEV, Type: Object, Short: "type", HCL: "amd_sev", Fields: sevFields, PVE: "amd-sev", Inherits: true, Change: Replace, Right: Right{Root: true}, Doc: "Memory encryption of AMD CPUs, with `bios: ovmf`; only root@pam may set it."},
	{Key: guest.CPUUnits, Type: Int, Min: 1, Max: 262144, HCL: "cpu.units", PVE: "cpuunits", Varies: true, Absent: "0", Unset: Keep, Change: NeedlessRestart, Doc: "CPU weight relative to the other guests of the node. Proxmox VE makes 10000 of any more, which only an adopted VM may have."},
	{Key: "cpu_limit", Type: Float, Max: 128, HCL: "cpu.limit", PVE: "cpulimit", Unset: "0", Inherits: true, Change: NeedlessRestart, Doc: "Limit of CPU usage in cores; 0 is none."},
	{Key: guest.VCPUs, Type: Int, Min: 1, Max: 2304, HCL: "cpu.hotplugged", PVE: "vcpus", Unset: "0", Inherits: true, Change: Restart, Doc: "CPUs that the VM starts with, at most `cores` times `sockets`; without it, all. With `cpu` in `hotplug`, others are added while it runs."},
	{Key: guest.Memory, Type: Int, Min: 64, Max: 16777216, Default: "2048", HCL: "memory.dedicated", Unit: "MiB", PVE: "memory", Implied: "512", Unset: "512", ReadAbsent: true, Change: Restart, Doc: "Memory in MiB."},
	{Key: guest.Balloon, Type: Int, Max: 16777216, HCL: "memory.floating", Unit: "MiB", PVE: "balloon", Varies: true, Unset: "0", ReadAbsent: true, Change: Restart, Doc: "Memory in MiB that ballooning may shrink the VM to; 0 is no ballooning."},
	{Key: guest.Agent, Type: Object, On: "enabled", Default: "true", HCL: "agent", Fields: agentFields, PVE: "agent", Unread: []string{"freeze-fs-on-backup"}, Change: Restart, Right: Right{Privilege: ConfigOptions}, Doc: "The QEMU guest agent. Only the agent reports an address from DHCP."},
	{Key: guest.CloudInit, Type: Object, Off: true, Default: "{ipv4: dhcp}", HCL: "initialization", Fields: cloudInitFields, Change: Restart, Removal: Never, Right: Right{Privilege: ConfigCloudInit}, Doc: "The cloud-init drive. `false` is for templates without one."},
	{Key: guest.Disks, Type: List, Most: 31, Elem: &Field{Type: Object, Fields: diskFields}, Default: "[]", HCL: "disk", PVE: "ide* sata* scsi* virtio*", Unread: []string{"", "file", "media"}, Unset: Keep, Inherits: true, Change: Live, Removal: Detach, Right: Right{Privilege: ConfigDisk}, Doc: "Disks. An empty list leaves the template's disks as they are, unmanaged."},
	{Key: guest.Networks, Type: List, Most: 32, Elem: &Field{Type: Object, Fields: networkFields}, Default: "[{bridge: vmbr0}]", HCL: "network_device", PVE: "net*", Unset: Keep, Change: Live, Removal: Unplug, Right: Right{Privilege: ConfigNetwork}, Doc: "Network devices, net0 first."},
	{Key: guest.EFI, Type: Object, Short: "datastore", HCL: "efi_disk", Fields: efiFields, PVE: "efidisk0", Unread: []string{"", "file", "size", "ms-cert"}, Inherits: true, Sticky: true, Change: Detach, Removal: Never, Right: Right{Privilege: ConfigDisk}, Doc: "The EFI disk, for `bios: ovmf`."},
	{Key: guest.TPM, Type: Object, Short: "datastore", HCL: "tpm_state", Fields: tpmFields, PVE: "tpmstate0", Unread: []string{"", "file", "size", "format"}, Inherits: true, Sticky: true, Change: PowerOff, Removal: Detach, Right: Right{Privilege: ConfigDisk}, Doc: "The TPM state disk."},
	{Key: guest.Tablet, Type: Bool, HCL: "tablet_device", PVE: "tablet", Unset: "true", Inherits: true, Change: NeedlessRestart, Right: Right{Privilege: ConfigHardware}, Doc: "A USB tablet as pointing device; `false` saves CPU on servers without a desktop."},
	{Key: "keyboard", Type: String, Enum: []string{"da", "de", "de-ch", "en-gb", "en-us", "es", "fi", "fr", "fr-be", "fr-ca", "fr-ch", "hu", "is", "it", "ja", "lt", "mk", "nl", "no", "pl", "pt", "pt-br", "sl", "sv", "tr"}, HCL: "keyboard_layout", PVE: "keyboard", Varies: true, Unset: "en-us", Inherits: true, Change: Restart, Right: Right{Privilege: ConfigOptions}, Doc: "Keyboard layout of the VNC console."},
	{Key: guest.USB, Type: List, Most: 14, Elem: &Field{Type: Object, Fields: usbFields, OneOf: []string{"host", "mapping"}}, HCL: "usb", PVE: "usb*", Inherits: true, Maps: "usb", Change: NeedlessRestart, Right: Right{Privilege: ConfigHardware, Device: true}, Doc: "USB devices of the node, usb0 first."},
	{Key: guest.HostPCI, Type: List, Most: 16, Elem: &Field{Type: Object, Fields: hostpciFields, OneOf: []string{"id", "mapping"}}, HCL: "hostpci", PVE: "hostpci*", Inherits: true, Maps: "pci", Change: Restart, Right: Right{Privilege: ConfigHardware, Device: true}, Doc: "PCI devices of the node."},
	{Key: guest.Virtiofs, Type: List, Most: 8, Elem: &Field{Type: Object, Fields: virtiofsFields}, HCL: "virtiofs", PVE: "virtiofs*", Inherits: true, Maps: "dir", Change: Restart, Right: Right{Privilege: ConfigDisk}, Doc: "Directories of the node, shared by virtiofs, virtiofs0 first."},
	{Key: guest.Serial, Type: List, Most: 4, Wrap: true, Elem: &Field{Type: Object, Short: "device", Fields: serialFields}, HCL: "serial_device", PVE: "serial*", Inherits: true, Change: Restart, Right: Right{Privilege: ConfigHardware, Device: true}, Doc: "Serial devices, serial0 first."},
	{Key: guest.VGA, Type: Object, Short: "type", HCL: "vga", Fields: vgaFields, PVE: "vga", Unset: Keep, Change: Restart, Right: Right{Privilege: ConfigHardware}, Doc: "Display."},
	{Key: guest.Audio, Type: Object, Short: "device", HCL: "audio_device", Fields: audioFields, PVE: "audio0", Unread: []string{"driver"}, Inherits: true, Change: Restart, Right: Right{Privilege: ConfigHardware}, Doc: "Sound card."},
	{Key: guest.Hotplug, Type: String, Number: true, Max: 1, Format: "hotplug", HCL: "hotplug", As: "set", PVE: "hotplug", Unset: Keep, Sticky: true, Change: Live, Right: Right{Privilege: ConfigHardware}, Doc: "What can be added to and removed from the VM while it runs: `disk`, `network`, `usb`, `memory`, `cpu`, separated by commas; 1 is disk, network and usb, as without it, 0 is nothing. `memory` needs `numa`."},
	{Key: guest.Watchdog, Type: Object, On: "enabled", HCL: "watchdog", Fields: watchdogFields, PVE: "watchdog", Inherits: true, Change: Restart, Right: Right{Privilege: ConfigHardware}, Doc: "A watchdog, which acts when the guest stops answering it."},
	{Key: guest.Hookscript, Type: String, Format: Snippet, HCL: "hook_script_file_id", PVE: "hookscript", Change: Live, Right: Right{Root: true}, Doc: "A script that Proxmox VE runs before and after the VM starts and stops, such as local:snippets/hook.pl; only root@pam may change it."},
	{Key: guest.Startup, Type: Object, HCL: "startup", Fields: startupFields, PVE: "startup", Inherits: true, Change: Live, Right: Right{Privilege: ConfigOptions}, Doc: "Order and delays when a node starts or stops."},
	{Key: guest.DNS, Type: Object, Own: true, Off: true, Fields: recordFields, Doc: "The VM's DNS records. Without it, one record with the VM's name. `false` is no record."},
	{Key: guest.Meta, Type: Any, Doc: "Anything; passed to the outputs untouched."},
}

var templateFields = []Field{
	{Key: guest.VMID, Type: Int, Min: 100, Max: 999999999, Doc: "VMID of the template."},
	{Key: guest.Name, Type: String, Format: "id", Doc: "Name of the template; `stackgen resolve` records its VMID and node."},
	{Key: guest.Node, Type: String, Format: "node", Doc: "Node of the template."},
	{Key: guest.Release, Type: String, Format: "release", Doc: "The release, if `name` is that of a Template of the project. Without it, the newest release that the lock has when the VM's entry is made."},
}

var adoptFields = []Field{
	{Key: guest.VMID, Type: Int, Min: 100, Max: 999999999, Required: true, Doc: "VMID of the existing VM or container."},
}

var placementFields = []Field{
	{Key: guest.Strategy, Type: String, Enum: []string{"fixed", "round-robin", "score", "spread", "binpack"}, Default: "round-robin", Doc: "`fixed` uses the first of `nodes`, `round-robin` uses them in turn. The others need the cluster, and `stackgen resolve` decides them: `score` takes the node with the most free CPU and memory, `spread` that with the fewest VMs of the stack, `binpack` that with the least free memory that is enough."},
	{Key: guest.Nodes, Type: List, Elem: &Field{Type: String, Format: "node"}, Doc: "The nodes to choose from."},
	{Key: guest.Weights, Type: Object, Fields: weightFields, Doc: "Weights of `score`, by default {cpu: 0.6, memory: 0.4}."},
	{Key: guest.MaxPerNode, Type: Int, Min: 1, Max: 100000, Doc: "Maximum number of this stack's VMs on one node."},
}

var weightFields = []Field{
	{Key: guest.CPU, Type: Float, Max: 1000000, Doc: "Weight of free CPU; 0 if only `memory` is set."},
	{Key: guest.Memory, Type: Float, Max: 1000000, Doc: "Weight of free memory; 0 if only `cpu` is set."},
}

var timeoutFields = []Field{
	{Key: guest.Clone, Type: Int, Min: 1, Max: 86400, HCL: "timeout_clone", Unit: "s", Unset: "1800", Settles: true, Doc: "Seconds for a clone with all that follows it, 1800 by default."},
	{Key: "migrate", Type: Int, Min: 1, Max: 86400, HCL: "timeout_migrate", Unit: "s", Unset: "1800", Settles: true, Doc: "Seconds for a migration, 1800 by default."},
	{Key: "reboot", Type: Int, Min: 1, Max: 86400, HCL: "timeout_reboot", Unit: "s", Unset: "1800", Settles: true, Doc: "Seconds for a restart, 1800 by default."},
	{Key: "shutdown", Type: Int, Min: 1, Max: 86400, HCL: "timeout_shutdown_vm", Unit: "s", Unset: "1800", Settles: true, Doc: "Seconds for the guest to shut down, 1800 by default; then it is stopped."},
	{Key: "start", Type: Int, Min: 1, Max: 86400, HCL: "timeout_start_vm", Unit: "s", Unset: "1800", Settles: true, Doc: "Seconds for a start, 1800 by default."},
	{Key: "stop", Type: Int, Min: 1, Max: 86400, HCL: "timeout_stop_vm", Unit: "s", Unset: "300", Settles: true, Doc: "Seconds for a hard stop, 300 by default."},
}

var agentFields = []Field{
	{Key: guest.Enabled, Type: Bool, Default: "true", HCL: "enabled", PVE: "enabled", Bare: true, Unset: "false", ReadAbsent: true, Doc: "The guest runs the agent."},
	{Key: guest.Timeout, Type: String, Format: "duration", HCL: "timeout", Unset: "15m", Settles: true, Change: NeedlessRestart, Doc: "How long the provider waits for the agent; its own default is 15m."},
	{Key: "trim", Type: Bool, HCL: "trim", PVE: "fstrim_cloned_disks", Unset: "false", Change: NeedlessRestart, Doc: "Trim disks after a clone or move."},
	{Key: guest.Type, Type: String, Enum: []string{"virtio", "isa"}, HCL: "type", PVE: "type", Unset: "virtio", Doc: "Channel between host and agent."},
}

var cloudInitFields = []Field{
	{Key: guest.Datastore, Type: String, Format: "storage", HCL: "datastore_id", PVE: "cloudinit/datastore", Unset: "local-lvm", Change: PowerOff, Doc: "Datastore of the drive. Without it, the datastore of the first disk, or `local-lvm`."},
	{Key: guest.Interface, Type: String, Format: "drive", HCL: "interface", PVE: "cloudinit/interface", Unset: Keep, Change: PowerOff, Doc: "Interface of the drive. Without it, the interface in the template."},
	{Key: guest.User, Type: String, Format: "user", HCL: "user_account.username", PVE: "ciuser", Removal: Never, Doc: "The user that cloud-init creates."},
	{Key: guest.SSHKeys, Type: List, Elem: &Field{Type: String, Format: "text"}, HCL: "user_account.keys", PVE: "sshkeys", Sep: "\n", Removal: Never, Doc: "Public keys, or files with public keys, relative to the spec."},
	{Key: guest.IPv4, Type: String, Format: "ipv4", HCL: "ip_config.ipv4.address", PVE: "ipconfig0/ip", Doc: "`dhcp`, or address and prefix length."},
	{Key: guest.Gateway, Type: String, Format: "gateway", HCL: "ip_config.ipv4.gateway", PVE: "ipconfig0/gw", Doc: "IPv4 gateway, inside the address's subnet."},
	{Key: guest.IPv6, Type: String, Format: "ipv6", HCL: "ip_config.ipv6.address", PVE: "ipconfig0/ip6", Doc: "`dhcp`, `auto`, or address and prefix length."},
	{Key: guest.Gateway6, Type: String, Format: "gateway6", HCL: "ip_config.ipv6.gateway", PVE: "ipconfig0/gw6", Doc: "IPv6 gateway, for an `ipv6` with an address."},
	{Key: guest.IPConfigs, Type: List, Most: 7, Rest: true, Elem: &Field{Type: Object, Fields: ipConfigFields}, HCL: "ip_config", PVE: "ipconfig*", Removal: Never, Doc: "Addresses of the network devices after the first one."},
	{Key: "nameservers", Type: List, Elem: &Field{Type: String, Format: "ip"}, HCL: "dns.servers", PVE: "nameserver", Sep: " ", Removal: Never, Doc: "DNS servers."},
	{Key: "search_domain", Type: String, Format: "zone", HCL: "dns.domain", PVE: "searchdomain", Removal: Never, Doc: "DNS search domain."},
	{Key: "user_data", Type: String, Format: Snippet, HCL: "user_data_file_id", PVE: "cicustom/user", Unset: Keep, Change: Replace, Doc: "A snippet with user data, such as local:snippets/user.yaml, instead of what Proxmox VE writes: `user`, `ssh_keys` and `upgrade` then have no effect. The node must have it when the VM starts. A change replaces the VM."},
	{Key: "vendor_data", Type: String, Format: Snippet, HCL: "vendor_data_file_id", PVE: "cicustom/vendor", Unset: Keep, Change: Replace, Doc: "A snippet with vendor data, in addition to the user data. A change replaces the VM."},
	{Key: "network_data", Type: String, Format: Snippet, HCL: "network_data_file_id", PVE: "cicustom/network", Unset: Keep, Change: Replace, Doc: "A snippet with the network configuration, instead of what Proxmox VE writes: addresses, gateways, `nameservers` and `search_domain` then have no effect in the guest. A change replaces the VM."},
	{Key: "meta_data", Type: String, Format: Snippet, HCL: "meta_data_file_id", PVE: "cicustom/meta", Unset: Keep, Change: Replace, Doc: "A snippet with meta data. A change replaces the VM."},
	{Key: guest.Type, Type: String, Enum: []string{"configdrive2", "nocloud", "opennebula"}, HCL: "type", PVE: "citype", Unset: Keep, Change: Replace, Doc: "Format of the drive. Without it, Proxmox VE takes configdrive2 for Windows and nocloud otherwise. A change replaces the VM."},
	{Key: "upgrade", Type: Bool, HCL: "upgrade", PVE: "ciupgrade", Absent: "true", Unset: Keep, Doc: "Upgrade all packages at the first start, as without it."},
}

var ipConfigFields = []Field{
	{Key: guest.Device, Type: String, Format: "nic", PVE: Slot, Doc: "The network device, net1 to net7. Without it, the position in the list: net1 first."},
	{Key: guest.IPv4, Type: String, Format: "ipv4", HCL: "ipv4.address", PVE: "ip", Doc: "`dhcp`, or address and prefix length."},
	{Key: guest.Gateway, Type: String, Format: "gateway", HCL: "ipv4.gateway", PVE: "gw", Doc: "IPv4 gateway, inside the address's subnet."},
	{Key: guest.IPv6, Type: String, Format: "ipv6", HCL: "ipv6.address", PVE: "ip6", Doc: "`dhcp`, `auto`, or address and prefix length."},
	{Key: guest.Gateway6, Type: String, Format: "gateway6", HCL: "ipv6.gateway", PVE: "gw6", Doc: "IPv6 gateway, for an `ipv6` with an address."},
}

var diskFields = []Field{
	{Key: guest.Interface, Type: String, Format: "disk", Required: true, HCL: "interface", PVE: "interface", Change: Detach, Doc: "Interface of the disk. A change of it alone is refused, since it would attach an empty disk: `preflight` prints the lines that give the disk the other interface."},
	{Key: guest.Datastore, Type: String, Format: "storage", HCL: "datastore_id", Default: "local-lvm", PVE: "datastore", Unset: "local-lvm", Change: Move, Doc: "Datastore of the disk."},
	{Key: guest.Size, Type: Int, Min: 1, Max: 131072, Required: true, HCL: "size", Unit: "GiB", PVE: "size", Unset: "8", Change: Grow, Doc: "Size in GiB. A disk can grow, never shrink."},
	{Key: guest.Format, Type: String, Enum: []string{"raw", "qcow2", "vmdk"}, HCL: "file_format", PVE: "format", Unset: Keep, Change: Never, Doc: "Image format, on datastores with files."},
	{Key: guest.SSD, Type: Bool, HCL: "ssd", PVE: "ssd", Unset: "false", Sent: true, Change: Pending, Doc: "Present the disk to the guest as an SSD; not for virtio interfaces."},
	{Key: "discard", Type: Bool, HCL: "discard", As: "on|ignore", PVE: "discard", Unset: "false", Sent: true, Change: Pending, Doc: "Pass discard requests to the storage."},
	{Key: guest.IOThread, Type: Bool, HCL: "iothread", PVE: "iothread", Unset: "false", Sent: true, Change: Pending, Doc: "Use a separate I/O thread."},
	{Key: guest.Cache, Type: String, Enum: []string{"none", "directsync", "writethrough", "writeback", "unsafe"}, HCL: "cache", PVE: "cache", Unset: "none", Sent: true, Change: Pending, Doc: "Cache mode."},
	{Key: guest.Backup, Type: Bool, HCL: "backup", PVE: "backup", Unset: "true", Sent: true, Doc: "Include the disk in backups."},
	{Key: guest.Replicate, Type: Bool, HCL: "replicate", PVE: "replicate", Unset: "true", Sent: true, Doc: "Include the disk in storage replication."},
	{Key: guest.AIO, Type: String, Enum: []string{"io_uring", "native", "threads"}, HCL: "aio", PVE: "aio", Unset: "io_uring", Sent: true, Change: Restart, Doc: "Asynchronous I/O mode."},
	{Key: guest.Serial, Type: String, Format: "diskserial", HCL: "serial", PVE: "serial", Doc: "Serial number that the guest reads."},
	{Key: guest.Speed, Type: Object, HCL: "speed", Fields: speedFields, Doc: "Speed limits."},
	{Key: guest.KeepDisk, Type: Bool, Doc: "`stackgen rebuild` leaves the disk as it is, and gives the VM new ones for its others. A destroy does not keep it."},
}

var speedFields = []Field{
	{Key: "read", Type: Int, Min: 1, Max: 1000000, HCL: "read", Unit: "MB/s", PVE: "mbps_rd", Unset: "0", Doc: "MB/s read."},
	{Key: "read_burstable", Type: Int, Min: 1, Max: 1000000, HCL: "read_burstable", Unit: "MB/s", PVE: "mbps_rd_max", Unset: "0", Doc: "MB/s read, in bursts."},
	{Key: "write", Type: Int, Min: 1, Max: 1000000, HCL: "write", Unit: "MB/s", PVE: "mbps_wr", Unset: "0", Doc: "MB/s written."},
	{Key: "write_burstable", Type: Int, Min: 1, Max: 1000000, HCL: "write_burstable", Unit: "MB/s", PVE: "mbps_wr_max", Unset: "0", Doc: "MB/s written, in bursts."},
	{Key: "iops_read", Type: Int, Min: 1, Max: 10000000, HCL: "iops_read", PVE: "iops_rd", Unset: "0", Doc: "Reads per second."},
	{Key: "iops_read_burstable", Type: Int, Min: 1, Max: 10000000, HCL: "iops_read_burstable", PVE: "iops_rd_max", Unset: "0", Doc: "Reads per second, in bursts."},
	{Key: "iops_write", Type: Int, Min: 1, Max: 10000000, HCL: "iops_write", PVE: "iops_wr", Unset: "0", Doc: "Writes per second."},
	{Key: "iops_write_burstable", Type: Int, Min: 1, Max: 10000000, HCL: "iops_write_burstable", PVE: "iops_wr_max", Unset: "0", Doc: "Writes per second, in bursts."},
}

var networkFields = []Field{
	{Key: guest.Bridge, Type: String, Format: "bridge", Default: "vmbr0", HCL: "bridge", PVE: "bridge", Absent: None, Unset: "vmbr0", Doc: "Bridge or virtual network."},
	{Key: guest.Model, Type: String, Enum: []string{"virtio", "e1000", "e1000e", "rtl8139", "vmxnet3"}, Default: "virtio", HCL: "model", PVE: "model", Unset: "virtio", Change: Replug, Doc: "Device model."},
	{Key: guest.VLAN, Type: Int, Min: 1, Max: 4094, HCL: "vlan_id", PVE: "tag", Unset: "0", Doc: "VLAN."},
	{Key: guest.MAC, Type: String, Format: "mac", HCL: "mac_address", As: "upper", PVE: "macaddr", Unset: Keep, Change: Replug, Doc: "MAC address. Without it, stackgen decides one when it first renders the VM, and keeps it in the lock; `auto` leaves it to Proxmox VE."},
	{Key: guest.MTU, Type: Int, Min: 1, Max: 65520, HCL: "mtu", PVE: "mtu", Unset: "0", Change: Replug, Doc: "MTU; 1 is the MTU of the bridge."},
	{Key: "firewall", Type: Bool, Default: "false", HCL: "firewall", PVE: "firewall", Unset: "false", Doc: "Apply the VM's firewall rules to this device."},
	{Key: "queues", Type: Int, Min: 1, Max: 64, HCL: "queues", PVE: "queues", Unset: "0", Change: Replug, Doc: "Packet queues."},
	{Key: "rate", Type: Float, Max: 1000000, HCL: "rate_limit", Unit: "MB/s", PVE: "rate", Unset: "0", Doc: "Limit in MB/s."},
	{Key: guest.Trunks, Type: List, Elem: &Field{Type: String, Number: true, Min: 1, Max: 4094, Format: "vlans"}, HCL: "trunks", As: "vlans", PVE: "trunks", Doc: "VLANs that the guest may use, such as [10, \"20-30\"]."},
	{Key: "disconnected", Type: Bool, HCL: "disconnected", PVE: "link_down", Unset: "false", Doc: "Unplug the cable."},
}

var efiFields = []Field{
	{Key: guest.Datastore, Type: String, Format: "storage", Required: true, HCL: "datastore_id", PVE: "datastore", Unset: "local-lvm", Change: Move, Doc: "Datastore of the disk."},
	{Key: guest.Type, Type: String, Enum: []string{"2m", "4m"}, Default: "4m", HCL: "type", PVE: "efitype", Unset: "2m", Change: Replace, Doc: "Size and type; a change replaces the VM."},
	{Key: guest.PreEnrolledKeys, Type: Bool, HCL: "pre_enrolled_keys", PVE: "pre-enrolled-keys", Unset: "false", Doc: "Enrol distribution and Microsoft Secure Boot keys."},
	{Key: guest.Format, Type: String, Enum: []string{"raw", "qcow2"}, HCL: "file_format", PVE: "format", Unset: Keep, Doc: "Image format."},
}

var tpmFields = []Field{
	{Key: guest.Datastore, Type: String, Format: "storage", Required: true, HCL: "datastore_id", PVE: "datastore", Unset: "local-lvm", Change: Move, Doc: "Datastore of the disk."},
	{Key: "version", Type: String, Enum: []string{"v1.2", "v2.0"}, Default: "v2.0", HCL: "version", PVE: "version", Unset: "v2.0", Change: Replace, Doc: "TPM version; a change replaces the VM."},
}

var serialFields = []Field{
	{Key: guest.Device, Type: String, Format: "serial", Default: "socket", HCL: "device", PVE: "device", Bare: true, Unset: "socket", Doc: "`socket`, or a device of the node."},
}

var hostpciFields = []Field{
	{Key: guest.Device, Type: String, Format: "hostpci", HCL: "device", PVE: Slot, Doc: "Its number in the VM, such as hostpci0. Without it, the position in the list."},
	{Key: guest.ID, Type: String, Format: "pci", HCL: "id", PVE: "host", Bare: true, Doc: "Address on the node, such as 0000:01:00.0, or 0000:01:00 for all functions; only root@pam may set it."},
	{Key: guest.Mapping, Type: String, Format: "mapping", HCL: "mapping", PVE: "mapping", Doc: "Resource mapping of the cluster, instead of `id`."},
	{Key: "mdev", Type: String, Format: "id", HCL: "mdev", PVE: "mdev", Doc: "Type of the mediated device to use."},
	{Key: guest.PCIe, Type: Bool, HCL: "pcie", PVE: "pcie", Unset: "false", Doc: "A PCIe port; needs machine q35."},
	{Key: guest.Rombar, Type: Bool, Default: "true", HCL: "rombar", PVE: "rombar", Absent: "true", Unset: "false", Doc: "The guest sees the firmware ROM of the device."},
	{Key: "rom_file", Type: String, Format: "romfile", HCL: "rom_file", PVE: "romfile", Doc: "ROM file, relative to /usr/share/kvm/ on the node."},
	{Key: "xvga", Type: Bool, HCL: "xvga", PVE: "x-vga", Unset: "false", Doc: "The primary display of the VM."},
}

var usbFields = []Field{
	{Key: guest.Host, Type: String, Format: "usb", HCL: "host", PVE: "host", Bare: true, Doc: "Vendor and product such as 1a86:7523, a port such as 1-1.4, or `spice`."},
	{Key: guest.Mapping, Type: String, Format: "mapping", HCL: "mapping", PVE: "mapping", Doc: "Resource mapping of the cluster, instead of `host`."},
	{Key: guest.USB3, Type: Bool, HCL: "usb3", PVE: "usb3", Unset: "false", Doc: "A USB 3 port."},
}

var vgaFields = []Field{
	{Key: guest.Type, Type: String, Enum: []string{"std", "cirrus", "none", "qxl", "qxl2", "qxl3", "qxl4", "serial0", "serial1", "serial2", "serial3", "virtio", "virtio-gl", "vmware"}, HCL: "type", PVE: "type", Bare: true, Absent: None, Unset: "std", ReadAbsent: true, Doc: "Display type."},
	{Key: guest.Memory, Type: Int, Min: 4, Max: 512, HCL: "memory", Unit: "MiB", PVE: "memory", Unset: "16", Doc: "Display memory in MiB."},
	{Key: guest.Clipboard, Type: String, Enum: []string{"vnc"}, HCL: "clipboard", PVE: "clipboard", Doc: "Share the clipboard over VNC."},
}

var watchdogFields = []Field{
	{Key: guest.Enabled, Type: Bool, Default: "true", HCL: "enabled", Unset: "false", Doc: "The VM has the watchdog."},
	{Key: guest.Model, Type: String, Enum: []string{"i6300esb", "ib700"}, HCL: "model", PVE: "model", Bare: true, Unset: "i6300esb", Doc: "Model."},
	{Key: "action", Type: String, Enum: []string{"none", "debug", "pause", "poweroff", "reset", "shutdown"}, HCL: "action", PVE: "action", Unset: "none", Doc: "What it does to the VM."},
}

var startupFields = []Field{
	{Key: guest.Order, Type: Int, Max: 1000000, HCL: "order", PVE: "order", Unset: "-1", Doc: "Position in the starting order."},
	{Key: "up", Type: Int, Max: 1000000, HCL: "up_delay", Unit: "s", PVE: "up", Unset: "-1", Doc: "Seconds to wait after the VM starts."},
	{Key: "down", Type: Int, Max: 1000000, HCL: "down_delay", Unit: "s", PVE: "down", Unset: "-1", Doc: "Seconds to wait after the VM stops."},
}

var recordFields = []Field{
	{Key: guest.Records, Type: List, Elem: &Field{Type: String, Format: "record"}, Doc: "Names relative to the zone; wildcards are allowed."},
	{Key: guest.TTL, Type: Int, Min: 1, Max: 2147483647, Doc: "TTL in seconds. Without it, the stack's."},
}
