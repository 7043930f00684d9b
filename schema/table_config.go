package schema

// A Part is a part of a VM that the provider reads and that no property sets: a
// plan after an import would remove it.
type Part struct {
	PVE  string // its entry in the configuration, without a number
	HCL  string // its attribute or block of the VM resource
	Name string

	Change  Effect
	Removal Effect // if it is another one
}

// Unsupported are the parts of a VM that have no property. A new property takes
// its part out of this table.
var Unsupported = []Part{
	{PVE: "acpi", HCL: "acpi", Name: "a VM without ACPI", Change: Restart},
	{PVE: "amd_sev", HCL: "amd_sev", Name: "memory encryption", Change: Replace},
	{PVE: "arch", HCL: "cpu.architecture", Name: "another CPU architecture than the node's", Change: Restart},
	{PVE: "args", HCL: "kvm_arguments", Name: "QEMU arguments", Change: Restart},
	{PVE: "audio", HCL: "audio_device", Name: "audio devices", Change: Restart},
	{PVE: "", HCL: "cdrom", Name: "CD-ROM drives", Change: Live, Removal: Pending},
	{PVE: "hugepages", HCL: "memory.hugepages", Name: "huge pages", Change: Restart},
	{PVE: "keephugepages", HCL: "memory.keep_hugepages", Name: "huge pages", Change: Restart},
	{PVE: "numa", HCL: "numa", Name: "NUMA nodes", Change: Restart},                             // numa0, numa1, ...; numa is a property
	{PVE: "rng", HCL: "rng", Name: "random number generators", Change: Restart, Removal: Never}, // the provider does not set it on a clone
	{PVE: "smbios", HCL: "smbios", Name: "SMBIOS values", Change: Pending},
	{PVE: "virtiofs", HCL: "virtiofs", Name: "virtiofs shares", Change: Restart},
}

// Untouched are the other entries of a VM's configuration, without a number. The
// provider does not read them, or keeps them: they survive an import and every
// later change.
var Untouched = []string{
	"autostart", "bootdisk", "cicustom", "citype", "ciupgrade", "digest", "freeze", "kvm", "localtime", "lock", "meta",
	"migrate_downtime", "migrate_speed", "parallel", "parent", "reboot", "running-nets-host-mtu", "runningcpu", "runningmachine", "shares", "snaptime",
	"spice_enhancements", "startdate", "tdf", "template", "unused", "vmgenid", "vmstate", "vmstatestorage",
}
