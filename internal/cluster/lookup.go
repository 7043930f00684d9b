package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
)

// StatusUnknown is the status of a guest whose node does not respond.
const StatusUnknown = "unknown"

// byVMID returns all guests by VMID.
func (inv *Inventory) byVMID() map[int]*Guest {
	out := make(map[int]*Guest, len(inv.Guests))
	for i := range inv.Guests {
		out[inv.Guests[i].VMID] = &inv.Guests[i]
	}
	return out
}

// Guest returns the guest of a VMID, or nil.
func (inv *Inventory) Guest(vmid int) *Guest {
	for i := range inv.Guests {
		if inv.Guests[i].VMID == vmid {
			return &inv.Guests[i]
		}
	}
	return nil
}

// Unidentified returns the number of guests, without templates, whose UUID and MAC
// addresses were not read.
func (inv *Inventory) Unidentified() int {
	n := 0
	for i := range inv.Guests {
		if g := &inv.Guests[i]; !g.Template && g.Config == nil && g.Identity == nil {
			n++
		}
	}
	return n
}

// Node returns the node of a name, or nil.
func (inv *Inventory) Node(name string) *Node {
	for i := range inv.Nodes {
		if inv.Nodes[i].Name == name {
			return &inv.Nodes[i]
		}
	}
	return nil
}

// Down says in what way a node cannot be used, or nothing.
func (n *Node) Down() string {
	switch {
	case n.Online:
		return ""
	case n.Silent != "":
		return "online, but its API does not answer: " + n.Silent
	}
	return "offline"
}

// Wake is what makes a node that is down usable again, and the line for it.
func (n *Node) Wake() (what, line string) {
	if n.Silent != "" {
		return "on node " + n.Name + ", restart the services of its API; if they run, check that other nodes reach its port 8006", RestartAPI
	}
	return "start node " + n.Name, "pvecm status"
}

// RestartAPI restarts the services of a node's API. Running VMs and tasks go on.
const RestartAPI = "systemctl restart pvedaemon pveproxy"

// Pool returns the pool of a name, or nil.
func (inv *Inventory) Pool(id string) *Pool {
	for i := range inv.Pools {
		if inv.Pools[i].ID == id {
			return &inv.Pools[i]
		}
	}
	return nil
}

// MACs returns the MAC addresses of all guests, as far as they were read.
func (inv *Inventory) MACs() []string {
	var out []string
	for i := range inv.Guests {
		out = append(out, inv.Guests[i].Identified().MACs...)
	}
	return out
}

// VMIDs are those of all guests, templates among them.
func (inv *Inventory) VMIDs() []int {
	var out []int
	for i := range inv.Guests {
		out = append(out, inv.Guests[i].VMID)
	}
	return out
}

// GapsForVM returns the gaps that hide the facts about a VMID: its guest was not
// read completely, or no guest has it but some guests are not visible. It omits
// gaps about other things, such as quorum and tasks.
func (inv *Inventory) GapsForVM(vmid int) []Gap {
	if len(inv.Gaps) == 0 {
		return nil // the usual case, without a search for the guest
	}
	path := "/vms/" + strconv.Itoa(vmid)
	g := inv.Guest(vmid)
	var out []Gap
	for _, gap := range inv.Gaps {
		switch {
		case gap.Path == path && !gap.Agent(),
			g != nil && gap.Path == "/nodes/"+g.Node && gap.Privilege == "",
			g == nil && gap.AnyGuest() && !slices.Contains(inv.Free, vmid):
			out = append(out, gap)
		}
	}
	return out
}

// GapsForAgent returns the gaps because of which the agent of a guest could not be
// queried.
func (inv *Inventory) GapsForAgent(vmid int) []Gap {
	var out []Gap
	for _, gap := range inv.Gaps {
		if gap.Agent() && (gap.Path == "/vms" || gap.Path == "/vms/"+strconv.Itoa(vmid)) {
			out = append(out, gap)
		}
	}
	return out
}

// GapsForNames returns the gaps that may hide further guests with some name.
func (inv *Inventory) GapsForNames() []Gap {
	var out []Gap
	for _, gap := range inv.Gaps {
		if gap.AnyGuest() || gap.Privilege == "" {
			out = append(out, gap)
		}
	}
	return out
}

// GapsForPool returns the gaps because of which the absence of a pool proves
// nothing.
func (inv *Inventory) GapsForPool(id string) []Gap {
	if inv.Pool(id) != nil {
		return nil
	}
	var out []Gap
	for _, gap := range inv.Gaps {
		if gap.Privilege == PoolAudit && (gap.Path == "/pool" || gap.Path == "/pool/"+id) {
			out = append(out, gap)
		}
	}
	return out
}

// The privileges that gaps name.
const (
	VMAudit    = "VM.Audit"
	PoolAudit  = "Pool.Audit"
	SysAudit   = "Sys.Audit"
	VMMonitor  = "VM.Monitor"          // queries the agent, up to Proxmox VE 8
	AgentAudit = "VM.GuestAgent.Audit" // queries the agent, from Proxmox VE 9
)

// The privileges that a create or an action needs, beside those of its configuration.
const (
	VMClone        = "VM.Clone"
	VMAllocate     = "VM.Allocate"
	VMMigrate      = "VM.Migrate"
	VMPowerMgmt    = "VM.PowerMgmt"
	VMSnapshot     = "VM.Snapshot"
	VMBackup       = "VM.Backup"
	VMRollback     = "VM.Snapshot.Rollback"
	VMConsole      = "VM.Console"
	MappingUse     = "Mapping.Use"
	PoolAllocate   = "Pool.Allocate"
	AllocateImage  = "Datastore.AllocateTemplate"
	AllocateAny    = "Datastore.Allocate"
	AccessNetwork  = "Sys.AccessNetwork"
	AllocateSpace  = "Datastore.AllocateSpace"
	DatastoreAudit = "Datastore.Audit"
	SDNUse         = "SDN.Use"
	SDNAudit       = "SDN.Audit"
	SysModify      = "Sys.Modify"
)

// AnyGuest reports whether a gap may hide any number of guests.
func (g Gap) AnyGuest() bool {
	return g.Privilege == VMAudit && g.Path == "/vms"
}

// Agent reports whether a gap is about querying guest agents only.
func (g Gap) Agent() bool {
	return g.Privilege == VMMonitor || g.Privilege == AgentAudit
}

// Since reports whether the cluster runs a release or a later one.
func (inv *Inventory) Since(major, minor int) bool {
	parts := strings.SplitN(inv.Release, ".", 3)
	if len(parts) < 2 {
		return false
	}
	x, errMajor := strconv.Atoi(parts[0])
	y, errMinor := strconv.Atoi(parts[1])
	return errMajor == nil && errMinor == nil && (x > major || x == major && y >= minor)
}

// Named returns the guests of a name that are no containers: templates first, then by
// VMID.
func (inv *Inventory) Named(name string) []*Guest {
	var templates, others []*Guest
	for i := range inv.Guests {
		switch g := &inv.Guests[i]; {
		case g.Name != name || g.Kind != guest.VM:
		case g.Template:
			templates = append(templates, g)
		default:
			others = append(others, g)
		}
	}
	return append(templates, others...)
}

// Brief says in a line what a guest is.
func (g *Guest) Brief() string {
	return fmt.Sprintf("%s %d (%s) on %s, %s", g.What(), g.VMID, g.Name, g.Node, g.Status)
}

// Count is a number and what it counts.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
