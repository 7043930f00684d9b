package schema

import "stackgen/guest"

// A Right is what Proxmox VE requires for an update of an attribute or block of a VM that
// exists, and of everything in it. The provider sends a block as a whole. There is none for
// what is no option of the configuration, such as the pool.
//
// It is what PUT /nodes/N/qemu/ID/config checks for these options, and PUT .../cloudinit,
// which follows a change of cloud-init:
// https://git.proxmox.com/?p=qemu-server.git;a=blob;f=src/PVE/API2/Qemu.pm (check_vm_modify_config_perm, update_vm_api)
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/resource/vm/vm.go (vmUpdate)
type Right struct {
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

	allocate = "VM.Allocate" // also for features of an unprivileged container
)

// RightsOf are those for an attribute or block: its own, and those of the blocks that it is
// in.
func RightsOf(path string) []Right {
	var out []Right
	for a := range attributeRows(guest.VMResource, path) {
		if inBlock(path, a.HCL) && a.Right != (Right{}) {
			out = append(out, a.Right)
		}
	}
	return out
}

// Needs reports whether Proxmox VE requires a privilege for a value of a property, which is
// not what a VM has without it.
func (f *Field) Needs(privilege string, value *Node) bool {
	switch {
	case f.Right.Privilege != privilege:
		return false
	case f.Unset == "" || f.Unset == Keep:
		return value != nil && !value.Off()
	}
	return !f.IsDefault(value)
}
