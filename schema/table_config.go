package schema

// A Part is a part of a VM that the provider reads and that no property sets: a
// plan after an import would remove it.
type Part struct {
	PVE  string // its entry in the configuration, without a number
	HCL  string // its attribute or block of the VM resource; "" is a part of another one
	Name string
}

// Unsupported are the parts of a VM that have no property. A new property takes
// its part out of this table.
var Unsupported = []Part{
	{"acpi", "acpi", "a VM without ACPI"},
	{"amd_sev", "amd_sev", "memory encryption"},
	{"arch", "", "another CPU architecture than the node's"},
	{"args", "kvm_arguments", "QEMU arguments"},
	{"audio", "audio_device", "audio devices"},
	{"", "cdrom", "CD-ROM drives"},
	{"hookscript", "hook_script_file_id", "hook scripts"},
	{"hostpci", "hostpci", "PCI devices"},
	{"hugepages", "", "huge pages"},
	{"keephugepages", "", "huge pages"},
	{"numa", "numa", "NUMA nodes"}, // numa0, numa1, ...; numa is a property
	{"rng", "rng", "random number generators"},
	{"smbios", "smbios", "SMBIOS values"},
	{"vcpus", "", "hot-plugged CPUs"},
	{"virtiofs", "virtiofs", "virtiofs shares"},
	{"watchdog", "watchdog", "watchdogs"},
}

// Untouched are the other entries of a VM's configuration, without a number. The
// provider does not read them, or keeps them: they survive an import and every
// later change.
var Untouched = []string{
	"autostart", "bootdisk", "cicustom", "citype", "ciupgrade", "digest", "freeze", "hotplug", "kvm", "localtime", "lock", "meta",
	"migrate_downtime", "migrate_speed", "parallel", "parent", "reboot", "running-nets-host-mtu", "runningcpu", "runningmachine", "shares", "snaptime",
	"spice_enhancements", "startdate", "tdf", "template", "unused", "vmgenid", "vmstate", "vmstatestorage",
}
