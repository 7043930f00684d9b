package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// spaceTimeout limits the query of the storages of one node.
const spaceTimeout = 5 * time.Second

// addResources adds nodes, storages and guests from the cluster-wide list. In it,
// node, tags, lock and pool of a guest are current, and so are deletions; names,
// sizes, template flags and states lag.
func (r *reader) addResources(list []resource) {
	for _, e := range list {
		switch e.Type {
		case "node":
			r.inv.Nodes = append(r.inv.Nodes, cluster.Node{Name: e.Node, Online: e.Status == "online", CPUs: int(e.MaxCPU), CPU: float64(e.CPU),
				Memory: int64(e.MaxMemory), Used: int64(e.Memory)})
		case "storage":
			r.inv.Storages = append(r.inv.Storages, cluster.Storage{ID: e.Storage, Node: e.Node, Type: e.PluginType, Shared: e.Shared != 0,
				Content: sortedList(e.Content), Active: e.Status == "available", Total: int64(e.MaxDisk), Used: int64(e.Disk)})
		case string(guest.VM), string(guest.Container):
			r.guests[int(e.VMID)] = &cluster.Guest{VMID: int(e.VMID), Node: e.Node, Kind: guest.Kind(e.Type),
				Template: e.Template != 0, Name: string(e.Name), Status: cmp.Or(e.Status, cluster.StatusUnknown),
				Tags: splitTags(e.Tags), Pool: e.Pool, Lock: e.Lock, HA: e.HA, Uptime: int64(e.Uptime),
				CPUs: float64(e.MaxCPU), Memory: int64(e.MaxMemory), Disk: int64(e.MaxDisk)}
		}
	}
}

// addDatastores adds the definitions of storages.
func (r *reader) addDatastores(list []datastore) {
	r.inv.Datastores = []cluster.Datastore{}
	for _, d := range list {
		nodes := strings.FieldsFunc(d.Nodes, func(r rune) bool { return r == ',' })
		slices.Sort(nodes)
		r.inv.Datastores = append(r.inv.Datastores, cluster.Datastore{ID: d.ID, Type: d.Type, Content: sortedList(d.Content),
			Shared: d.Shared != 0, Disabled: d.Disable != 0, Nodes: nodes, Chain: d.Chain != 0})
	}
}

// linuxBridge is the type of a bridge of the kernel.
const linuxBridge = "bridge"

// readNetworks reads the bridges and virtual networks of a node.
func (r *reader) readNetworks(ctx context.Context, n *cluster.Node) {
	var list []network
	if err := r.get(ctx, "/nodes/"+n.Name+"/network?type=any_bridge", &list); err != nil {
		return // then nothing is known of them
	}
	n.Networks = []cluster.Network{}
	// The interface of an Open vSwitch bridge may be down while the bridge works. A virtual network is always
	// reported as active, and a server that reports no active bridge may report none at all.
	reports := slices.ContainsFunc(list, func(b network) bool { return b.Active != 0 && b.Type == linuxBridge })
	for i := range list {
		b := &list[i]
		noVLAN, noTrunks := b.vlans()
		off := reports && b.Active == 0 && b.Type == linuxBridge
		n.Networks = append(n.Networks, cluster.Network{Name: b.Name, Type: b.Type, Inactive: off, NoVLAN: noVLAN, NoTrunks: noTrunks})
	}
	slices.SortFunc(n.Networks, func(a, b cluster.Network) int { return strings.Compare(a.Name, b.Name) })
}

// readSpace reads how much space the storages of a node have for new images, which the
// cluster-wide list does not say. A node asks each storage for that, and one whose server is
// gone may take a while: such a request is not worth a second one.
func (r *reader) readSpace(ctx context.Context, node string) {
	limited, cancel := context.WithTimeout(context.WithValue(ctx, noRetry{}, true), spaceTimeout)
	defer cancel()
	var list []nodeStorage
	if err := r.get(limited, "/nodes/"+node+"/storage?content=images&enabled=1", &list); err != nil {
		return // then what is not used counts as free
	}
	for _, e := range list {
		if s := r.inv.Storage(e.ID, node); s != nil && e.Active != 0 {
			avail := int64(e.Avail)
			s.Avail = &avail
		}
	}
}

// readZones reads the zones of virtual networks, if the specs name one and its privileges
// depend on the zone. The list has only what the credentials may audit.
func (r *reader) readZones(ctx context.Context) {
	var wanted []*cluster.Network
	for i := range r.inv.Nodes {
		for k := range r.inv.Nodes[i].Networks {
			b := &r.inv.Nodes[i].Networks[k]
			if b.Type == cluster.VNet && slices.Contains(r.wanted.Paths, cluster.BridgePath(b.Name)) && !r.rights.UsesAllNetworks() {
				wanted = append(wanted, b)
			}
		}
	}
	var list []struct {
		Name string `json:"vnet"`
		Zone string `json:"zone"`
	}
	if len(wanted) == 0 || r.get(ctx, "/cluster/sdn/vnets", &list) != nil {
		return // then the privileges may name the zone
	}
	for _, b := range wanted {
		for _, v := range list {
			if v.Name == b.Name {
				b.Zone = v.Zone
			}
		}
	}
}

// readNodes reads the lists of guests of every online node, which are current, its networks and
// the space of its storages, and adds a gap for every node without such lists.
func (r *reader) readNodes(ctx context.Context) {
	lists := make([][]nodeGuest, len(r.inv.Nodes))
	errs := make([]error, len(r.inv.Nodes))
	var reads []func()
	for i := range r.inv.Nodes {
		n := &r.inv.Nodes[i]
		if n.Online {
			reads = append(reads, func() { lists[i], errs[i] = r.readGuests(ctx, n.Name) },
				func() { r.readNetworks(ctx, n) }, func() { r.readSpace(ctx, n.Name) })
		}
	}
	concurrently(reads, func(read func()) { read() })
	if slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		r.readOnline(ctx)
	}
	listed := map[int]bool{}
	for i := range r.inv.Nodes {
		n := &r.inv.Nodes[i]
		switch {
		case !n.Online:
			r.addGap(cluster.Gap{Path: "/nodes/" + n.Name, Reason: "node " + n.Name + " is offline; only the VMIDs of its guests are known"})
			r.setUnknown(n.Name)
		case errs[i] != nil:
			n.Online, n.Silent = false, silence(errs[i])
			r.addGap(cluster.Gap{Path: "/nodes/" + n.Name, Reason: "node " + n.Name + " is " + n.Down()})
			r.setUnknown(n.Name)
		}
		for _, v := range lists[i] {
			listed[int(v.VMID)] = true
			r.update(n.Name, v)
		}
	}
	r.findMoved(listed)
	r.readZones(ctx)
	r.readCPUModels(ctx)
}

// readGuests reads the lists of guests of a node: that of VMs, and that of another kind if the cluster-wide list
// has such guests on it.
func (r *reader) readGuests(ctx context.Context, node string) (all []nodeGuest, err error) {
	kinds := map[guest.Kind]bool{guest.VM: true}
	for _, g := range r.guests {
		kinds[g.Kind] = kinds[g.Kind] || g.Node == node
	}
	for _, kind := range guest.Kinds() {
		if !kinds[kind] {
			continue
		}
		var list []nodeGuest
		err := r.get(ctx, kind.Guests(node), &list)
		switch {
		case err != nil && kind == guest.VM:
			return nil, err
		case err != nil: // the node answers: all that is not known of these is their state
			for _, g := range r.guests {
				if g.Kind == kind && g.Node == node {
					all = append(all, nodeGuest{VMID: number(g.VMID), unread: true})
				}
			}
		}
		for i := range list {
			list[i].kind = kind
		}
		all = append(all, list...)
	}
	return all, nil
}

// readOnline reads again which nodes are online: the cluster takes some seconds to see that one
// is lost, in which it does not answer.
func (r *reader) readOnline(ctx context.Context) {
	var list []resource
	if err := r.get(ctx, "/nodes", &list); err != nil {
		return // then what was read first counts
	}
	for _, e := range list {
		if n := r.inv.Node(e.Node); n != nil && e.Status == "offline" {
			n.Online = false
		}
	}
}

// readCPUModels reads the CPU models of the administrator, if a spec names one. All nodes
// have the same, and only those who may see the nodes get them.
func (r *reader) readCPUModels(ctx context.Context) {
	i := slices.IndexFunc(r.inv.Nodes, func(n cluster.Node) bool { return n.Online })
	if i < 0 || !r.wanted.CPUModels || !r.rights.Has("/nodes", cluster.SysAudit) {
		return
	}
	var list []struct {
		Name string `json:"name"`
	}
	if err := r.get(ctx, "/nodes/"+r.inv.Nodes[i].Name+"/capabilities/qemu/cpu", &list); err != nil {
		return // then nothing is known of them
	}
	r.inv.CPUModels = []string{}
	for _, m := range list {
		if pve.CustomModel(m.Name) {
			r.inv.CPUModels = append(r.inv.CPUModels, m.Name)
		}
	}
	slices.Sort(r.inv.CPUModels)
}

// readMachines reads which machine types the QEMU of a node has, if a spec names one with a version, and of the nodes of candidates
// that have one.
func (r *reader) readMachines(ctx context.Context, candidates []*cluster.Guest) {
	wanted := map[string]bool{}
	for _, g := range candidates {
		if g.Config != nil && pve.MachineVersion(pve.MachineType(g.Config.Raw)) != "" {
			wanted[g.Node] = true
		}
	}
	var nodes []*cluster.Node
	for i := range r.inv.Nodes {
		if n := &r.inv.Nodes[i]; n.Online && (r.wanted.Machines || wanted[n.Name]) {
			nodes = append(nodes, n)
		}
	}
	concurrently(nodes, func(n *cluster.Node) {
		var list []struct {
			ID string `json:"id"`
		}
		if err := r.get(ctx, "/nodes/"+n.Name+"/capabilities/qemu/machines", &list); err != nil {
			return // then nothing is known of them
		}
		for _, m := range list {
			if name, _, revised := strings.Cut(m.ID, "+"); !revised {
				n.Machines = append(n.Machines, name)
			}
		}
	})
}

// setUnknown sets the status of all guests of a node to unknown.
func (r *reader) setUnknown(node string) {
	for _, g := range r.guests {
		if g.Node == node {
			g.Status = cluster.StatusUnknown
		}
	}
}

// update overwrites a guest with the values from the list of its node.
func (r *reader) update(node string, v nodeGuest) {
	g := r.guests[int(v.VMID)]
	switch {
	case g == nil: // created after the cluster-wide list was read
		g = &cluster.Guest{VMID: int(v.VMID)}
		r.guests[g.VMID] = g
	case v.unread:
		g.Status = cluster.StatusUnknown
		return
	}
	g.Kind = v.kind
	g.Node, g.Name, g.Status, g.Template = node, string(v.Name), v.Status, v.Template != 0
	g.Tags, g.Lock, g.Uptime = splitTags(v.Tags), v.Lock, int64(v.Uptime)
	g.CPUs, g.Memory, g.Disk = float64(v.CPUs), int64(v.MaxMemory), int64(v.MaxDisk)
}

// findMoved adds a gap for every guest that is in the cluster-wide list but not in
// the list of its node: it was moved or removed between the two requests.
func (r *reader) findMoved(listed map[int]bool) {
	for _, g := range r.guests {
		if n := r.inv.Node(g.Node); !listed[g.VMID] && n != nil && n.Online {
			g.Status = cluster.StatusUnknown
			reason := fmt.Sprintf("%s %d was moved or removed while the lists were read; run the command again", g.Kind.Name(), g.VMID)
			r.addGap(cluster.Gap{Path: vmPath(g.VMID), Reason: reason})
		}
	}
}

// candidates returns, by VMID, the guests of online nodes whose configuration must be read: VMs and containers with a
// VMID or name of the project, those that are wanted further or that have no name in the list, and the templates that are
// wanted.
func (r *reader) candidates() []*cluster.Guest {
	var out []*cluster.Guest
	for _, g := range r.guests {
		if n := r.inv.Node(g.Node); n == nil || !n.Online {
			continue
		}
		further := r.wanted.Further != nil && r.wanted.Further(g)
		ours := r.vmids[g.VMID] || r.names[strings.ToLower(g.Name)] || further
		switch {
		case !g.Template && (ours || g.Name == ""),
			g.Template && g.Kind == guest.VM && r.wanted.EveryTemplate,
			g.Template && (slices.Contains(r.wanted.Templates, g.Name) || slices.Contains(r.wanted.Templates, strconv.Itoa(g.VMID))):
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *cluster.Guest) int { return a.VMID - b.VMID })
	return out
}

// unusedVMIDs returns the wanted VMIDs that no listed guest has. Where all VMs are wanted,
// these are also those with an ACL entry of their own, which may hide a VM.
func (r *reader) unusedVMIDs(ctx context.Context) []int {
	wanted := slices.Collect(maps.Keys(r.vmids))
	if r.wanted.Further != nil && r.seesAllVMs() {
		for _, e := range r.access(ctx).Entries {
			if vmid, err := strconv.Atoi(strings.TrimPrefix(e.Path, "/vms/")); err == nil {
				wanted = append(wanted, vmid)
			}
		}
	}
	slices.Sort(wanted)
	return slices.DeleteFunc(slices.Compact(wanted), func(vmid int) bool { return r.guests[vmid] != nil })
}

// sortedList sorts a list with commas, which Proxmox VE sends in random order.
func sortedList(list string) string {
	parts := strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// vmidOf returns the VMID in the ID of a task, or 0.
func vmidOf(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil {
		return 0
	}
	return n
}
