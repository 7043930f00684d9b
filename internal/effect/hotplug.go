package effect

import (
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/pve"
	"stackgen/internal/tf"
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
	case USBs:
		if v.NoUSB {
			return false
		}
		kind = "usb"
	case "tablet_device":
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

// plugKinds are the values that a running VM gets by hotplug, with the kind of it: Proxmox VE plugs memory and CPUs, and
// unplugs them. The default has neither of these kinds.
var plugKinds = map[string]string{"memory.dedicated": "memory", "cpu.hotplugged": "cpu"}

// plugged is what a change of the memory or of the CPUs does to a running VM with hotplug of them, and to one that the
// provider takes for such a VM: it does not restart it for more memory, or for another number of CPUs alone. It is ""
// for any other change.
func (v *VM) plugged(c tf.Change, all []tf.Change) (string, Harm) {
	kind := plugKinds[c.Path]
	switch {
	case kind == "" || !v.Running || c.Present:
		return "", ""
	case kind == "cpu" && slices.Contains(pve.List(v.Hotplug), kind) && v.tooMany(c.Is):
		return "fails while the VM runs", TooManyCPUs // whether the provider may restart it, or not: it would, after that
	case v.Restarts && !v.plugsOnly(c, all):
		return "", ""
	}
	less := shrinks(c)
	if kind == "cpu" { // no number is all of them
		less = !noNumber(c.Is) && (less || noNumber(c.Was))
	}
	switch {
	case !slices.Contains(pve.List(v.Hotplug), kind):
		return afterRestart, ""
	case less:
		return released, ""
	}
	return atOnce, ""
}

// tooMany reports whether a number of CPUs is more than the sockets and cores have with which the VM runs.
func (v *VM) tooMany(text string) bool {
	count := func(entry string) int {
		n, _ := strconv.Atoi(v.Runs[entry])
		return max(n, 1)
	}
	n, _ := strconv.Atoi(text)
	return v.Runs != nil && n > count("cores")*count("sockets")
}

// noNumber reports whether a plan has no number of CPUs.
func noNumber(text string) bool { return text == "" || text == "0" }

// plugsOnly reports whether the provider takes all changes of the memory, or of the CPUs, for those that need no restart.
// It takes 1 for all kinds of hotplug, which Proxmox VE does not.
func (v *VM) plugsOnly(c tf.Change, all []tf.Change) bool {
	block, _, _ := strings.Cut(c.Path, ".")
	if (block != "memory" && block != "cpu") || v.Plugs != "1" && !slices.Contains(pve.List(v.Plugs), block) {
		return false
	}
	return !slices.ContainsFunc(all, func(other tf.Change) bool {
		switch of, _, _ := strings.Cut(other.Path, "."); {
		case of != block:
			return false
		case block == "cpu":
			return other.Path != "cpu.hotplugged"
		}
		return other.Path == "memory" || strings.Contains(other.Path, "hugepages") || shrinks(other) || other.Removes()
	})
}
