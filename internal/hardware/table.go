package hardware

// The tables of this package are what the provider does with a configuration
// when it reads a VM that it did not make: an imported one is read in full.
// Read from bpg/proxmox 0.111.1, and to be read again with every other version:
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/vm.go (vmReadCustom)
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/disk/disk.go (Read)
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/network/network.go (ReadNetworkDeviceObjects)
// Names and values of entries: https://pve.proxmox.com/pve-docs/qm.conf.5.html

// whatever stands for "the provider keeps what there is".
const whatever = "*"

// A row is one entry of a configuration, or one option in an entry.
type row struct {
	Key    string // in the configuration
	Field  string // in the spec, with dots; "" is an option that the provider does not read
	Absent string // what the provider reads where the configuration lacks it
	Unset  string // what the provider takes where the spec lacks it
	Plain  string // where the spec cannot say that it is absent: what Proxmox VE takes then
}

// single are entries that hold one value.
var single = []row{
	{Key: "name", Field: "name", Unset: whatever},
	{Key: "description", Field: "description"},
	{Key: "onboot", Field: "on_boot", Absent: "false", Unset: "true"},
	{Key: "status", Field: "started", Absent: "false", Unset: "true"}, // of the VM, not of its configuration
	{Key: "protection", Field: "protection", Absent: "false", Unset: "false"},
	{Key: "bios", Field: "bios", Absent: "seabios", Unset: "seabios"},
	{Key: "machine", Field: "machine"},
	{Key: "scsihw", Field: "scsi_hardware", Unset: "virtio-scsi-pci", Plain: "lsi"},
	{Key: "ostype", Field: "os_type", Unset: "other", Plain: "other"},
	{Key: "cores", Field: "cores", Absent: "1", Unset: "1"},
	{Key: "sockets", Field: "sockets", Absent: "1", Unset: "1"},
	{Key: "numa", Field: "numa", Absent: "false", Unset: "false"},
	{Key: "cpuunits", Field: "cpu_units", Absent: "0", Unset: whatever},
	{Key: "cpulimit", Field: "cpu_limit", Absent: "0", Unset: "0"},
	{Key: "affinity", Field: "cpu_affinity"},
	{Key: "memory", Field: "memory", Unset: "512", Plain: "512"},
	{Key: "balloon", Field: "balloon", Absent: "0", Unset: "0"},
	{Key: "tablet", Field: "tablet", Absent: "true", Unset: "true"},
	{Key: "keyboard", Field: "keyboard", Absent: "en-us", Unset: "en-us"},
}

// A family is a kind of entry with options, or a numbered list of them.
type family struct {
	Keys  []string // net stands for net0, net1, ... where Many is set
	Many  int      // how many there may be
	Field string
	First string // the option whose name may be left out, as in agent: 1
	Rows  []row
}

// families are entries that hold options.
var families = []family{
	{Keys: []string{"agent"}, Field: "agent", First: "enabled", Rows: []row{
		{Key: "enabled", Field: "enabled", Absent: "false", Unset: "false"},
		{Key: "fstrim_cloned_disks", Field: "trim", Absent: "false", Unset: "false"},
		{Key: "type", Field: "type", Absent: "virtio", Unset: "virtio"},
		{Field: "timeout", Absent: "15m", Unset: "15m"}, // of the provider alone: what an import puts into state
		{Key: "freeze-fs-on-backup"},
	}},
	{Keys: []string{"startup"}, Field: "startup", Rows: []row{
		{Key: "order", Field: "order", Absent: "-1", Unset: "-1"},
		{Key: "up", Field: "up", Absent: "-1", Unset: "-1"},
		{Key: "down", Field: "down", Absent: "-1", Unset: "-1"},
	}},
	{Keys: []string{"vga"}, Field: "vga", First: "type", Rows: []row{
		{Key: "type", Field: "type", Unset: "std"},
		{Key: "memory", Field: "memory", Absent: "16", Unset: "16"},
		{Key: "clipboard", Field: "clipboard"},
	}},
	{Keys: []string{"serial"}, Many: 4, Field: "serial", First: "device", Rows: []row{
		{Key: "device", Field: "device", Unset: "socket"},
	}},
	{Keys: []string{"usb"}, Many: 14, Field: "usb", First: "host", Rows: []row{
		{Key: "host", Field: "host"},
		{Key: "mapping", Field: "mapping"},
		{Key: "usb3", Field: "usb3", Absent: "false", Unset: "false"},
	}},
	{Keys: []string{"net"}, Many: 32, Field: "networks", Rows: []row{
		{Key: "model", Field: "model", Unset: "virtio"},
		{Key: "macaddr", Field: "mac", Unset: whatever},
		{Key: "bridge", Field: "bridge", Unset: "vmbr0"},
		{Key: "tag", Field: "vlan", Absent: "0", Unset: "0"},
		{Key: "mtu", Field: "mtu", Absent: "0", Unset: "0"},
		{Key: "firewall", Field: "firewall", Absent: "false", Unset: "false"},
		{Key: "queues", Field: "queues", Absent: "0", Unset: "0"},
		{Key: "rate", Field: "rate", Absent: "0", Unset: "0"},
		{Key: "trunks", Field: "trunks"},
		{Key: "link_down", Field: "disconnected", Absent: "false", Unset: "false"},
	}},
	{Keys: []string{"efidisk0"}, Field: "efi", First: volume, Rows: []row{
		{Key: volume},
		{Key: "datastore", Field: "datastore", Unset: "local-lvm"},
		{Key: "efitype", Field: "type", Absent: "2m", Unset: "2m"},
		{Key: "pre-enrolled-keys", Field: "pre_enrolled_keys", Absent: "false", Unset: "false"},
		{Key: "format", Field: "format", Unset: whatever},
		{Key: "size"}, {Key: "ms-cert"},
	}},
	{Keys: []string{"tpmstate0"}, Field: "tpm", First: volume, Rows: []row{
		{Key: volume},
		{Key: "datastore", Field: "datastore", Unset: "local-lvm"},
		{Key: "version", Field: "version", Absent: "v2.0", Unset: "v2.0"},
		{Key: "size"}, {Key: "format"},
	}},
	{Keys: []string{"scsi", "virtio", "sata", "ide"}, Many: 31, Field: "disks", First: volume, Rows: []row{
		{Key: volume}, {Key: "media"},
		{Key: "interface", Field: "interface"},
		{Key: "datastore", Field: "datastore", Unset: "local-lvm"},
		{Key: "size", Field: "size", Unset: "8"},
		{Key: "format", Field: "format", Unset: whatever},
		{Key: "ssd", Field: "ssd", Absent: "false", Unset: "false"},
		{Key: "discard", Field: "discard", Absent: "false", Unset: "false"},
		{Key: "iothread", Field: "iothread", Absent: "false", Unset: "false"},
		{Key: "cache", Field: "cache", Absent: "none", Unset: "none"},
		{Key: "backup", Field: "backup", Absent: "true", Unset: "true"},
		{Key: "replicate", Field: "replicate", Absent: "true", Unset: "true"},
		{Key: "aio", Field: "aio", Absent: "io_uring", Unset: "io_uring"},
		{Key: "serial", Field: "serial"},
		{Key: "mbps_rd", Field: "speed.read", Absent: "0", Unset: "0"},
		{Key: "mbps_rd_max", Field: "speed.read_burstable", Absent: "0", Unset: "0"},
		{Key: "mbps_wr", Field: "speed.write", Absent: "0", Unset: "0"},
		{Key: "mbps_wr_max", Field: "speed.write_burstable", Absent: "0", Unset: "0"},
		{Key: "iops_rd", Field: "speed.iops_read", Absent: "0", Unset: "0"},
		{Key: "iops_rd_max", Field: "speed.iops_read_burstable", Absent: "0", Unset: "0"},
		{Key: "iops_wr", Field: "speed.iops_write", Absent: "0", Unset: "0"},
		{Key: "iops_wr_max", Field: "speed.iops_write_burstable", Absent: "0", Unset: "0"},
	}},
	{Keys: []string{"ipconfig0"}, Field: "cloud_init", Rows: []row{
		{Key: "ip", Field: "ipv4"},
		{Key: "gw", Field: "gateway"},
		{Key: "ip6", Field: "ipv6"},
		{Field: "datastore", Unset: "local-lvm"}, // the rest are entries of their own
		{Field: "interface", Unset: whatever},
		{Field: "user"}, {Field: "ssh_keys"}, {Field: "nameservers"}, {Field: "search_domain"},
	}},
}

// volume is the option of a drive that has no name.
const volume = "file"

// unread are entries that the provider does not read, or takes as they are. They
// survive an import and every later change.
var unread = []string{
	"acpi", "autostart", "boot", "bootdisk", "cicustom", "citype", "ciupgrade", "digest", "freeze", "hotplug", "kvm", "localtime", "lock", "meta",
	"migrate_downtime", "migrate_speed", "parallel", "parent", "reboot", "running-nets-host-mtu", "runningcpu", "runningmachine", "shares", "smbios1", "snaptime",
	"spice_enhancements", "startdate", "tags", "tdf", "template", "unused", "vmgenid", "vmstate", "vmstatestorage", "cpu", "nameserver", "searchdomain", "sshkeys", "ciuser",
}

// unsayable are entries that the provider reads, and no spec can say: a plan
// would take them away.
var unsayable = []struct{ Key, What string }{
	{"amd_sev", "memory encryption"},
	{"arch", "another architecture than the node's"},
	{"args", "arguments of QEMU"},
	{"audio", "audio devices"},
	{"hookscript", "hook scripts"},
	{"hostpci", "PCI devices of the node"},
	{"hugepages", "huge pages"},
	{"keephugepages", "huge pages"},
	{"numa", "NUMA nodes"}, // numa0, numa1, ...
	{"rng", "random number generators"},
	{"vcpus", "hot-plugged CPUs"},
	{"virtiofs", "shared folders"},
	{"watchdog", "watchdogs"},
}

// born are parts that a VM has for good: a plan that changes one replaces it.
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/vm.go (forceNewOnEFIDiskTypeChange, forceNewOnTPMVersionChange)
var born = []struct{ field, part string }{{"efi", "type"}, {"tpm", "version"}}
