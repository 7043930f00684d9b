package guest

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
)

// A Kind is the type of a guest, as the API of Proxmox VE has it in lists and in paths.
type Kind string

// The kinds of guests.
const (
	VM        Kind = "qemu"
	Container Kind = "lxc"
)

// Types of resources.
const (
	VMResource        = "proxmox_virtual_environment_vm"
	ContainerResource = "proxmox_virtual_environment_container"
	FileResource      = "proxmox_virtual_environment_download_file"
	PoolResource      = "proxmox_virtual_environment_pool"
	RecordResource    = "dns_a_record_set"
)

// The units of guests in a stack.
const (
	VMUnit        = "proxmox-vm"
	ContainerUnit = "proxmox-container"
)

// kinds have what people call a guest of a kind, the command of a node for it, its console in
// the web interface, the prefix of its resource of the HA manager, its type of resource, its unit, the
// name of the map of its guests in specs, units and outputs, the prefix of the types of its tasks, the
// file that a node locks while it changes the configuration of a guest, around its VMID, and the lock of a guest
// while it is cloned from another one.
var kinds = map[Kind]struct{ name, tool, console, ha, resource, unit, list, task, lock, lockEnd, clone string }{
	VM: {"VM", "qm", "kvm", "vm", VMResource, VMUnit, "vms", "qm", "/var/lock/qemu-server/lock-", ".conf", "clone"},
	Container: {"container", "pct", "lxc", "ct", ContainerResource, ContainerUnit, "containers", "vz",
		"/run/lock/lxc/pve-config-", ".lock", "create"},
}

// Kinds are all kinds, VMs first.
func Kinds() []Kind { return []Kind{VM, Container} }

// KindOf is the kind of the guests of a type of resource, or "".
func KindOf(resource string) Kind {
	for _, k := range Kinds() {
		if kinds[k].resource == resource {
			return k
		}
	}
	return ""
}

// KindOfUnit is the kind of the guests of a unit of a stack, or "".
func KindOfUnit(unit string) Kind {
	for _, k := range Kinds() {
		if kinds[k].unit == unit {
			return k
		}
	}
	return ""
}

// Resource is the type of resource of a guest of the kind. The zero value is a VM, here and
// in what follows.
func (k Kind) Resource() string { return kinds[cmp.Or(k, VM)].resource }

// Unit is the unit of the guests of the kind in a stack.
func (k Kind) Unit() string { return kinds[cmp.Or(k, VM)].unit }

// HA is the prefix of the name of a guest in the HA manager: vm.
func (k Kind) HA() string { return kinds[cmp.Or(k, VM)].ha }

// List is the name of the map of guests of the kind in a spec, in the variables of a unit, and
// in its outputs: vms.
func (k Kind) List() string { return kinds[cmp.Or(k, VM)].list }

// Known reports whether Proxmox VE has guests of the kind.
func (k Kind) Known() bool { return kinds[k].name != "" }

// Name is what people call a guest of the kind: VM.
func (k Kind) Name() string { return kinds[cmp.Or(k, VM)].name }

// Tool is the command of a node for a guest of the kind: qm.
func (k Kind) Tool() string { return kinds[cmp.Or(k, VM)].tool }

// Task is the type of the task that does an action to a guest of the kind: qmstart.
func (k Kind) Task(action string) string { return kinds[cmp.Or(k, VM)].task + action }

// LockFile is the file that a node locks while it changes the configuration of a guest.
func (k Kind) LockFile(vmid int) string {
	row := kinds[cmp.Or(k, VM)]
	return row.lock + strconv.Itoa(vmid) + row.lockEnd
}

// CloneLock is the lock of a guest of the kind while it is cloned from another one.
func (k Kind) CloneLock() string { return kinds[cmp.Or(k, VM)].clone }

// Guests is the path of the guests of the kind on a node, in the API of Proxmox VE.
func (k Kind) Guests(node string) string { return "/nodes/" + node + "/" + string(k) }

// Path is the path of a guest, or of a part of it, such as config, in the API of Proxmox VE.
func (k Kind) Path(node string, vmid int, part ...string) string {
	return strings.Join(append([]string{k.Guests(node), strconv.Itoa(vmid)}, part...), "/")
}

// Console is the address of Proxmox VE's own page with the console of a guest (noVNC), on a
// server of the cluster. node is where the guest is.
func (k Kind) Console(endpoint string, vmid int, name, node string) string {
	return strings.TrimRight(endpoint, "/") + "/?console=" + kinds[k].console + "&novnc=1&vmid=" + strconv.Itoa(vmid) +
		"&vmname=" + url.QueryEscape(name) + "&node=" + url.QueryEscape(node)
}
