package cluster

import "strconv"

// StatusUnknown is the status of a guest whose node does not answer.
const StatusUnknown = "unknown"

// byVMID is every guest by its VMID.
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

// Node returns the node of a name, or nil.
func (inv *Inventory) Node(name string) *Node {
	for i := range inv.Nodes {
		if inv.Nodes[i].Name == name {
			return &inv.Nodes[i]
		}
	}
	return nil
}

// Pool returns the pool of a name, or nil.
func (inv *Inventory) Pool(id string) *Pool {
	for i := range inv.Pools {
		if inv.Pools[i].ID == id {
			return &inv.Pools[i]
		}
	}
	return nil
}

// Blind lists the gaps that keep the inventory from saying the truth about a
// VMID: its guest was not read in full, or nothing has it and that proves
// nothing. Gaps that concern neither, such as Sys.Audit for tasks and quorum,
// are not among them.
func (inv *Inventory) Blind(vmid int) []Gap {
	path := "/vms/" + strconv.Itoa(vmid)
	g := inv.Guest(vmid)
	var out []Gap
	for _, gap := range inv.Gaps {
		switch {
		case gap.Path == path && !gap.Agent(),
			g != nil && gap.Path == "/nodes/"+g.Node && gap.Privilege == "",
			g == nil && gap.General() && !inv.free(vmid):
			out = append(out, gap)
		}
	}
	return out
}

// BlindAgent lists the gaps because of which nobody knows whether a guest's
// agent answers.
func (inv *Inventory) BlindAgent(vmid int) []Gap {
	var out []Gap
	for _, gap := range inv.Gaps {
		if gap.Agent() && (gap.Path == "/vms" || gap.Path == "/vms/"+strconv.Itoa(vmid)) {
			out = append(out, gap)
		}
	}
	return out
}

// BlindNames lists the gaps that may hide further guests of some name.
func (inv *Inventory) BlindNames() []Gap {
	var out []Gap
	for _, gap := range inv.Gaps {
		if gap.General() || gap.Privilege == "" {
			out = append(out, gap)
		}
	}
	return out
}

// BlindPool lists the gaps because of which the absence of a pool proves
// nothing.
func (inv *Inventory) BlindPool(id string) []Gap {
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
	VMMonitor  = "VM.Monitor"          // asks the agent, up to Proxmox VE 8
	AgentAudit = "VM.GuestAgent.Audit" // asks the agent, from Proxmox VE 9
)

// General reports whether a gap hides guests at large, and not one of them.
func (g Gap) General() bool {
	return g.Privilege == VMAudit && g.Path == "/vms"
}

// Agent reports whether a gap is only about asking a guest's agent.
func (g Gap) Agent() bool {
	return g.Privilege == VMMonitor || g.Privilege == AgentAudit
}

// free reports whether it is proved that nothing has a VMID.
func (inv *Inventory) free(vmid int) bool {
	for _, id := range inv.Free {
		if id == vmid {
			return true
		}
	}
	return false
}
