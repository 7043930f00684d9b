package guest

import (
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

// Types of resources. The modules make all of them but containers.
const (
	VMResource        = "proxmox_virtual_environment_vm"
	ContainerResource = "proxmox_virtual_environment_container"
	FileResource      = "proxmox_virtual_environment_download_file"
	PoolResource      = "proxmox_virtual_environment_pool"
	RecordResource    = "dns_a_record_set"
)

// kinds have what people call a guest of a kind, the command of a node for it, and its
// console in the web interface.
var kinds = map[Kind]struct{ name, tool, console string }{
	VM:        {"VM", "qm", "kvm"},
	Container: {"container", "pct", "lxc"},
}

// Known reports whether Proxmox VE has guests of the kind.
func (k Kind) Known() bool { return kinds[k].name != "" }

// Name is what people call a guest of the kind: VM.
func (k Kind) Name() string { return kinds[k].name }

// Tool is the command of a node for a guest of the kind: qm.
func (k Kind) Tool() string { return kinds[k].tool }

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
