package proxmox

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
)

// resources takes the cluster's list: who lives where, tags, locks, pools and
// deletions are current in it; names, figures, template flags and states lag.
func (l *look) resources(list []resource) {
	for _, r := range list {
		switch r.Type {
		case "node":
			l.inv.Nodes = append(l.inv.Nodes, cluster.Node{Name: r.Node, Online: r.Status == "online", CPUs: int(r.MaxCPU), CPU: float64(r.CPU),
				Memory: int64(r.MaxMemory), Used: int64(r.Memory)})
		case "storage":
			l.inv.Storages = append(l.inv.Storages, cluster.Storage{ID: r.Storage, Node: r.Node, Type: r.PluginType, Shared: r.Shared != 0,
				Content: ordered(r.Content), Active: r.Status == "available", Total: int64(r.MaxDisk), Used: int64(r.Disk)})
		case cluster.KindVM, cluster.KindContainer:
			l.found[int(r.VMID)] = &cluster.Guest{VMID: int(r.VMID), Node: r.Node, Kind: r.Type, Template: r.Template != 0, Name: string(r.Name),
				Status: or(r.Status, cluster.StatusUnknown), Tags: tags(r.Tags), Pool: r.Pool, Lock: r.Lock, HA: r.HA, Uptime: int64(r.Uptime),
				CPUs: float64(r.MaxCPU), Memory: int64(r.MaxMemory), Disk: int64(r.MaxDisk)}
		}
	}
}

// nodes lets every node say what it knows of its own VMs, which is current.
func (l *look) nodes(ctx context.Context) {
	lists := make([][]listed, len(l.inv.Nodes))
	errs := make([]error, len(l.inv.Nodes))
	var asked []int
	for i, n := range l.inv.Nodes {
		if n.Online {
			asked = append(asked, i)
		}
	}
	each(asked, func(i int) { errs[i] = l.get(ctx, "/nodes/"+l.inv.Nodes[i].Name+"/qemu", &lists[i]) })
	told := map[int]bool{}
	for i := range l.inv.Nodes {
		n := &l.inv.Nodes[i]
		switch {
		case !n.Online:
			l.inv.Gaps = append(l.inv.Gaps, cluster.Gap{Path: "/nodes/" + n.Name, Reason: "node " + n.Name + " is offline; nothing is known of its guests but where they are"})
			l.silence(n.Name)
		case errs[i] != nil:
			n.Online = false
			l.inv.Gaps = append(l.inv.Gaps, cluster.Gap{Path: "/nodes/" + n.Name, Reason: "node " + n.Name + " does not answer: " + errs[i].Error()})
			l.silence(n.Name)
		}
		for _, v := range lists[i] {
			told[int(v.VMID)] = true
			l.current(n.Name, v)
		}
	}
	l.vanished(told)
}

// silence makes the guests of a node unknown.
func (l *look) silence(node string) {
	for _, g := range l.found {
		if g.Node == node {
			g.Status = cluster.StatusUnknown
		}
	}
}

// current lays what a node says of a VM over what the cluster's list said.
func (l *look) current(node string, v listed) {
	g := l.found[int(v.VMID)]
	if g == nil { // it is younger than the cluster's list
		g = &cluster.Guest{VMID: int(v.VMID), Kind: cluster.KindVM}
		l.found[g.VMID] = g
	}
	g.Node, g.Name, g.Status, g.Template = node, string(v.Name), v.Status, v.Template != 0
	g.Tags, g.Lock, g.Uptime = tags(v.Tags), v.Lock, int64(v.Uptime)
	g.CPUs, g.Memory, g.Disk = float64(v.CPUs), int64(v.MaxMemory), int64(v.MaxDisk)
}

// vanished finds the VMs that the cluster's list has and their node has not:
// they moved or went between the two.
func (l *look) vanished(told map[int]bool) {
	for _, g := range l.found {
		if n := l.inv.Node(g.Node); g.Kind == cluster.KindVM && !told[g.VMID] && n != nil && n.Online {
			g.Status = cluster.StatusUnknown
			l.inv.Gaps = append(l.inv.Gaps, cluster.Gap{Path: vmPath(g.VMID), Reason: fmt.Sprintf("VM %d was moved or removed while the lists were read; look again", g.VMID)})
		}
	}
}

// candidates are the guests whose configuration is wanted, by VMID: VMs that may
// be one of the project's, and containers whose name the list does not have yet.
func (l *look) candidates() []*cluster.Guest {
	var out []*cluster.Guest
	for _, g := range l.found {
		if n := l.inv.Node(g.Node); n == nil || !n.Online {
			continue
		}
		ours := l.vmids[g.VMID] || l.names[strings.ToLower(g.Name)]
		switch {
		case g.Kind == cluster.KindContainer && g.Name == "",
			g.Kind == cluster.KindVM && !g.Template && (ours || g.Name == ""),
			g.Template && (slices.Contains(l.wanted.Templates, g.Name) || slices.Contains(l.wanted.Templates, strconv.Itoa(g.VMID))):
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *cluster.Guest) int { return a.VMID - b.VMID })
	return out
}

// missing are the VMIDs asked about that no guest has.
func (l *look) missing() []int {
	var out []int
	for id := range l.vmids {
		if l.found[id] == nil {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// ordered sorts a list with commas, which Proxmox VE sends in any order.
func ordered(list string) string {
	parts := strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// number is the VMID in a text, or 0.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
