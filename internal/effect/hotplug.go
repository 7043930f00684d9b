package effect

import (
	"slices"
	"strings"

	"stackgen/internal/pve"
)

// What a VM takes and releases while it runs is in its entry hotplug. Proxmox VE reads it
// before an update, and keeps anything else until the next start. The provider reads it after
// the update, and only to decide whether to restart the VM: it never asks for a network
// device, and asks for a disk that grows, which Proxmox VE grows at once in any case.

// hotplugs reports whether the VM takes and releases a device while it runs, by the path of
// a change of it. No entry has IDE and SATA: they are fixed.
func (v *VM) hotplugs(path, device string) bool {
	kind := ""
	switch list, _, _ := strings.Cut(path, "."); list {
	case NICs:
		kind = "network"
	case USBs, "tablet_device":
		kind = "usb"
	case "disk":
		if strings.HasPrefix(device, "ide") || strings.HasPrefix(device, "sata") {
			return false
		}
		kind = "disk"
	default:
		return true
	}
	return plugs(v.Hotplug, kind)
}

// restartsToGrow reports whether the provider restarts the VM after a disk has grown.
func (v *VM) restartsToGrow() bool {
	return v.Running && v.Restarts && !plugs(v.Plugs, "disk")
}

// plugs reports whether a value of hotplug has a kind of device that the default has, too.
func plugs(value, kind string) bool {
	return value == "" || value == "1" || slices.Contains(pve.List(value), kind)
}
