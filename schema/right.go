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
