package schema

import (
	"slices"
	"strings"
)

// A Right is what Proxmox VE requires for an update of an attribute or block of a VM that
// exists, and of everything in it. The provider sends a block as a whole.
type Right struct {
	HCL       string
	Privilege string // on the VM or its pool
	Root      bool   // only root@pam may set or remove it, and no token
	Device    bool   // the same for a value that names a device of the node
}

// The privileges for the configuration of a VM.
const (
	ConfigCDROM     = "VM.Config.CDROM"
	ConfigCloudInit = "VM.Config.Cloudinit"
	ConfigCPU       = "VM.Config.CPU"
	ConfigDisk      = "VM.Config.Disk"
	ConfigHardware  = "VM.Config.HWType"
	ConfigMemory    = "VM.Config.Memory"
	ConfigNetwork   = "VM.Config.Network"
	ConfigOptions   = "VM.Config.Options" // also of every update: it sets the name
)

// rights are the attributes and blocks that the provider sends as options of the
// configuration, with what PUT /nodes/N/qemu/ID/config checks for these options, and PUT
// .../cloudinit, which follows a change of cloud-init:
// https://git.proxmox.com/?p=qemu-server.git;a=blob;f=src/PVE/API2/Qemu.pm (check_vm_modify_config_perm, update_vm_api)
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/vm.go (vmUpdate)
var rights = []Right{
	{HCL: "acpi", Privilege: ConfigHardware},
	{HCL: "agent", Privilege: ConfigOptions},
	{HCL: "amd_sev", Root: true},
	{HCL: "audio_device", Privilege: ConfigHardware},
	{HCL: "bios", Privilege: ConfigOptions},
	{HCL: "boot_order", Privilege: ConfigDisk},
	{HCL: "cdrom", Privilege: ConfigCDROM},
	{HCL: "cpu", Privilege: ConfigCPU},
	{HCL: "cpu.affinity", Root: true},
	{HCL: "cpu.architecture", Root: true},
	{HCL: "description", Privilege: ConfigOptions},
	{HCL: "disk", Privilege: ConfigDisk},
	{HCL: "efi_disk", Privilege: ConfigDisk},
	{HCL: "hook_script_file_id", Root: true},
	{HCL: "hostpci", Privilege: ConfigHardware, Device: true},
	{HCL: "hotplug", Privilege: ConfigHardware},
	{HCL: "initialization", Privilege: ConfigCloudInit},
	{HCL: "keyboard_layout", Privilege: ConfigOptions},
	{HCL: "kvm_arguments", Root: true},
	{HCL: "machine", Privilege: ConfigHardware},
	{HCL: "memory", Privilege: ConfigMemory},
	{HCL: "memory.hugepages", Root: true},
	{HCL: "memory.keep_hugepages", Root: true},
	{HCL: "memory.shared", Root: true},
	{HCL: "name", Privilege: ConfigOptions},
	{HCL: "network_device", Privilege: ConfigNetwork},
	{HCL: "numa", Privilege: ConfigCPU},
	{HCL: "on_boot", Privilege: ConfigOptions},
	{HCL: "operating_system", Privilege: ConfigOptions},
	{HCL: "protection", Privilege: ConfigOptions},
	{HCL: "rng", Privilege: ConfigHardware},
	{HCL: "scsi_hardware", Privilege: ConfigHardware},
	{HCL: "serial_device", Privilege: ConfigHardware, Device: true},
	{HCL: "smbios", Privilege: ConfigHardware},
	{HCL: "startup", Privilege: ConfigOptions},
	{HCL: "tablet_device", Privilege: ConfigHardware},
	{HCL: "tags", Privilege: ConfigOptions},
	{HCL: "tpm_state", Privilege: ConfigDisk},
	{HCL: "usb", Privilege: ConfigHardware, Device: true},
	{HCL: "vga", Privilege: ConfigHardware},
	{HCL: "virtiofs", Privilege: ConfigDisk},
	{HCL: "watchdog", Privilege: ConfigHardware},
}

// RightsOf are the rows about an attribute or block: those of the blocks that it is in,
// and its own. There are none for what is no option of the configuration, such as the pool.
func RightsOf(path string) []Right {
	var out []Right
	for _, r := range rights {
		if path == r.HCL || strings.HasPrefix(path, r.HCL+".") {
			out = append(out, r)
		}
	}
	return out
}

// RootOnly reports whether only root@pam may set a property of a VM, whatever its value.
func (f *Field) RootOnly() bool {
	return slices.ContainsFunc(RightsOf(f.HCL), func(r Right) bool { return r.Root && r.HCL == f.HCL })
}

// OfNode reports whether only root@pam may set a property of a VM to devices of the node.
func (f *Field) OfNode() bool {
	return slices.ContainsFunc(RightsOf(f.HCL), func(r Right) bool { return r.Device })
}

// Needs reports whether Proxmox VE requires a privilege for a value of a property, which is
// not what a VM has without it.
func (f *Field) Needs(privilege string, value *Node) bool {
	if !slices.ContainsFunc(RightsOf(f.HCL), func(r Right) bool { return r.Privilege == privilege }) {
		return false
	}
	if f.Unset == "" || f.Unset == Keep {
		return value != nil && !value.Off()
	}
	return !f.IsDefault(value)
}
