package lock

import (
	"cmp"
	"slices"

	"stackgen/guest"
	"stackgen/schema"
)

// A stackDecider decides for one stack.
type stackDecider struct {
	*decider
	stack     *schema.Stack
	lock      *Stack
	inSpec    map[string]*schema.VM // the spec's VMs, by key
	retired   map[string]bool       // names in the spec's retired list
	forgotten map[string]bool
	old       map[string]*VM     // entries of the lock, by key
	addresses map[string]Address // of these entries until this run, by key
	had       map[string]bool    // keys that VMs have and had before this run
	counts    map[string]int     // VMs of the stack on each node
	turns     map[schema.Pos]int // how often a placement was asked
	next      int                // where to look for a free VMID
	moving    int                // units whose records begin to move
	respelt   []string           // members whose names have another spelling now
	unmoved   []string           // VMs with another node than before, and a profile that ignores that

	otherTemplate map[int][]string // VMs with another template than before, by its VMID
	otherCreation map[creationChange][]string
	notPlaced     []string // VMs whose placement does not have their node

	keys map[string]rekeying // see rekeyed; nil until it is asked for

	publishing map[string]bool // see publishingUnits; nil until it is asked for
}

// decide decides for every VM of the spec, in the order they are written in.
func (d *stackDecider) decide() {
	for _, v := range d.stack.VMs {
		if was := d.old[v.Key]; was != nil && was.Node != "" && v.Placement != nil {
			d.counts[was.Node]++
		}
	}
	var added Ordered[VM] // at the end, since d.old points into d.lock.VMs
	for _, v := range d.stack.VMs {
		was := d.old[v.Key]
		if was == nil {
			added = append(added, Entry[VM]{Key: v.Key, Value: d.vm(v, &VM{})})
			continue
		}
		d.steady(v, was)
		if was.Seat != 0 && v.Seat != 0 && was.Seat != v.Seat {
			d.note("%s/%s: its {n} is %d now, and was %d: what the spec computes from that changes", d.stack.Name, v.Key, v.Seat, was.Seat)
		}
		*was = d.vm(v, was)
	}
	d.stayNote()
	d.respeltNote()
	d.templateNotes()
	d.creationNotes()
	d.spellingNote(added)
	d.lock.VMs = append(d.lock.VMs, added...)
	d.formerKeysFree()
	d.lock.recordAddresses(d.addresses, d.had)
}

// harmless reports whether no plan under the profile of a guest can destroy it. One that ignores all of a container
// does not ignore its VMID.
func (d *stackDecider) harmless(v *schema.VM) bool {
	return slices.ContainsFunc(d.project.Profiles, func(p schema.Profile) bool {
		return p.Name == v.Profile && (p.IgnoreAll && !v.IsContainer() || p.PreventDestroy)
	})
}

// vm decides what a VM's entry lacks. What the spec sets comes from there; what it
// leaves open keeps its decision.
func (d *stackDecider) vm(v *schema.VM, was *VM) VM {
	out := VM{
		Kind:        v.Kind,
		VMID:        was.VMID,
		MACs:        d.macs(v, was),
		Unit:        was.Unit,
		Member:      cmp.Or(v.Member, was.Member),
		Email:       cmp.Or(v.Email, was.Email),
		Seat:        v.Seat,
		Former:      was.Former,
		Fingerprint: was.Fingerprint,
		Addresses:   was.Addresses,
		Detached:    was.Detached,
		Rebuild:     was.Rebuild,
		Exchanged:   was.Exchanged,
	}
	if v.Profile != "default" {
		out.Profile = v.Profile
	}
	if v.VMID != 0 {
		if holder := d.used[v.VMID]; holder != "" && holder != d.stack.Name+"/"+v.Key && !(v.Adopt && d.left[v.VMID] == holder) {
			d.vmError(v, v.Pos, v.Path, schema.CodeVMIDClash,
				"choose another VMID; to move a guest from another stack, add it to forgotten there and adopt it here; "+
					"`stackgen resolve` frees the VMID of a forgotten guest that is gone",
				"VMID %d is recorded for %s", v.VMID, holder)
		}
		out.VMID = v.VMID
	}
	if out.VMID == 0 {
		out.VMID = d.allocate(v)
	}
	if out.VMID != was.VMID {
		out.Fingerprint, out.Addresses, out.Detached, out.Rebuild, out.Exchanged = nil, nil, nil, nil, "" // of the former VM
		if was.VMID != 0 && v.Adopt {
			d.note("%s/%s: its VMID is now %d; stackgen does not know VMID %d any more", d.stack.Name, v.Key, out.VMID, was.VMID)
		}
	}
	if out.MACs != nil && (len(was.MACs) == 0 || was.Networks != nil || d.options.Orders) {
		out.Networks = Networks(v)
	}
	switch {
	case out.VMID != was.VMID:
		out.Disks = disks(v, &VM{}) // of another VM, or of a new one
	case was.Disks != nil || d.options.Orders:
		out.Disks = disks(v, was)
		d.bootDisk(v, was, &out)
	}
	d.used[out.VMID] = d.stack.Name + "/" + v.Key
	out.Node = d.node(v, was)
	d.image(v, was, &out)
	d.source(v, was, &out)
	d.resolve(v, was, &out)
	d.madeFrom(v, was, &out)
	d.madeWith(v, was, &out)
	if out.VMID == was.VMID {
		out.FormerNodes = d.formerNodes(v, was, out.Node)
	}
	return out
}

// allocate takes the lowest free VMID of the stack's range.
func (d *stackDecider) allocate(v *schema.VM) int {
	r := d.stack.VMIDs
	if r == nil {
		d.vmError(v, v.Pos, v.Path, schema.CodeNoVMIDs,
			"add vmids: FIRST-LAST to the stack, or vmid: N to the guest",
			"no VMID, and the stack has no vmids to allocate one from")
		return 0
	}
	for d.next = max(d.next, r.First); d.next <= r.Last; d.next++ {
		if d.used[d.next] == "" {
			return d.next
		}
	}
	d.vmError(v, r.Pos, "vmids", schema.CodeVMIDsExhausted,
		"widen the range; `stackgen resolve` records which retired and forgotten guests are gone, then remove their lines and render",
		"the range %d-%d has no free VMID", r.First, r.Last)
	return 0
}

// node decides where a VM is created. It returns nothing where only the cluster knows.
func (d *stackDecider) node(v *schema.VM, was *VM) string {
	if v.Node != "" {
		return v.Node
	}
	turn := d.turns[v.Placement.Pos]
	d.turns[v.Placement.Pos]++
	if was.Node != "" {
		return was.Node
	}
	nodes, full := v.Placement.Choices(), v.Placement.MaxPerNode
	switch v.Placement.Strategy {
	case "fixed":
		turn = 0
	case "round-robin":
	default:
		return ""
	}
	for i := range nodes {
		node := nodes[(turn+i)%len(nodes)]
		if full == 0 || d.counts[node] < full {
			d.counts[node]++
			return node
		}
	}
	if len(nodes) > 0 {
		d.vmError(v, v.Placement.Pos, guest.Placement, schema.CodeNoNode,
			"raise max_per_node, or add nodes",
			"every node already has max_per_node (%d) guests of the stack", full)
	}
	return ""
}

// formerNodes are the nodes that the spec said before, from which an apply migrates the VM. A
// profile that ignores node_name leaves it where it is; another profile may manage it later.
func (d *stackDecider) formerNodes(v *schema.VM, was *VM, node string) []string {
	ignores := slices.ContainsFunc(d.project.Profiles, func(p schema.Profile) bool {
		return p.Name == v.Profile && p.Ignores("node_name")
	})
	changed := was.Node != "" && node != "" && was.Node != node
	if v.IsContainer() { // the provider cannot migrate it
		if changed {
			d.note("%s/%s: another node in the spec, %s. An apply creates the container there if it does not exist yet, and does not move one "+
				"that exists: migrate it by hand", d.stack.Name, v.Key, node)
		}
		return nil
	}
	if changed && ignores {
		d.unmoved = append(d.unmoved, v.Key)
	}
	out := slices.DeleteFunc(slices.Clone(was.FormerNodes), func(n string) bool { return n == node || n == was.Node })
	switch {
	case changed:
		return append(out, was.Node)
	case len(out) == 0:
		return nil
	}
	return out
}

// stayNote says which VMs an apply does not move, although the spec has another node for
// them now.
func (d *stackDecider) stayNote() {
	if len(d.unmoved) == 0 {
		return
	}
	d.note("%s: another node in the spec: %s. An apply creates a VM there if it does not exist yet, and does not move one that exists, "+
		"because the profile ignores node_name: migrate it by hand, or choose a profile that does not ignore node_name",
		d.stack.Name, some(d.unmoved))
}
