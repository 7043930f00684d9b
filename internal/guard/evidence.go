package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
)

func contains(macs []string, mac string) bool {
	return slices.ContainsFunc(macs, func(m string) bool { return strings.EqualFold(m, mac) })
}

// Describe says in one line what a guest is: where, since when, with what disks.
func Describe(g *cluster.Guest) string {
	name := g.Name
	if name == "" {
		name = "without a name yet"
	}
	out := fmt.Sprintf("%s %d (%s) on %s, %s", g.What(), g.VMID, name, g.Node, status(g))
	if g.Pool != "" {
		out += ", pool " + g.Pool
	}
	if len(g.Tags) > 0 {
		out += ", tags " + strings.Join(g.Tags, " ")
	}
	switch {
	case g.Config != nil && len(g.Config.Disks) > 0:
		out += ", disks " + strings.Join(g.Config.Disks, " ")
	case g.Disk > 0:
		out += fmt.Sprintf(", disk of %d GiB", g.Disk>>30)
	}
	if g.Config != nil && len(g.Config.MACs) > 0 {
		out += ", MAC " + strings.Join(g.Config.MACs, " ")
	}
	return out
}

func status(g *cluster.Guest) string {
	if g.Status == "running" && g.Uptime > 0 {
		return "running for " + duration(g.Uptime)
	}
	return g.Status
}

// duration is an uptime in its largest unit.
func duration(seconds int64) string {
	switch {
	case seconds >= 2*86400:
		return fmt.Sprintf("%d days", seconds/86400)
	case seconds >= 2*3600:
		return fmt.Sprintf("%d hours", seconds/3600)
	case seconds >= 120:
		return fmt.Sprintf("%d minutes", seconds/60)
	}
	return cluster.Count(int(seconds), "second")
}

// inspect is the line that shows a guest's configuration, from any node.
func inspect(g *cluster.Guest) string {
	return pve.Pvesh("get", g.Path("config"))
}

// set is the line that sets options of a VM, on any node.
func set(g *cluster.Guest, options string) string {
	return pve.Pvesh("set", g.Path("config"), options)
}

// destroy adds the step that destroys a guest by hand, as what says, in which %s is who does that. While a task
// may work on the guest, the steps of that come instead: a destroy would meet a backup or a migration.
func (h hold) destroy(f *finding.Finding, what string) {
	if h.mayWork() {
		h.explain(f)
		h.release(f)
		return
	}
	if h.guest.Lock != "" && h.guest.Lock != "suspended" {
		f.Next("no visible task holds its lock. Look for one, as root on a node, and do nothing while it is running", activeTasks(h.guest))
	}
	f.Next(fmt.Sprintf(what, "as root on "+whereDestroyed(h.guest)), destroyLine(h.guest))
}

// whereDestroyed is the node that the line of a destroy is for.
func whereDestroyed(g *cluster.Guest) string {
	if g.Lock != "" && g.Kind == guest.Container { // pct is for its own node only
		return g.Node
	}
	return "a node"
}

// destroyLine is the line that destroys a guest. Nothing of it runs after what failed. Proxmox VE destroys no guest that
// is running, protected, or an HA resource, which it also does not stop at once; and a container with a lock, not at all.
func destroyLine(g *cluster.Guest) string {
	isContainer := g.Kind == guest.Container
	var lines, unlocked []string
	if g.Lock != "" && !isContainer {
		unlocked = []string{"--skiplock 1"}
	}
	if g.HA != "" {
		lines = append(lines, fmt.Sprintf("ha-manager remove %s:%d", haType(g.Kind), g.VMID))
	}
	if g.Lock != "" && isContainer {
		lines = append(lines, fmt.Sprintf("pct unlock %d", g.VMID))
	}
	if protected(g) {
		lines = append(lines, set(g, strings.Join(append([]string{"--protection 0"}, unlocked...), " ")))
	}
	if g.Status == "running" {
		lines = append(lines, pve.Pvesh("create", g.Path("status", "stop"), unlocked...))
	}
	return strings.Join(append(lines, pve.Pvesh("delete", g.Path(), unlocked...)), " && ")
}

// haType is the type of the HA resource of a guest.
func haType(kind guest.Kind) string {
	if kind == guest.Container {
		return "ct"
	}
	return "vm"
}

// vmsOf are the guests that are VMs.
func vmsOf(guests []*cluster.Guest) []*cluster.Guest {
	return slices.DeleteFunc(slices.Clone(guests), func(g *cluster.Guest) bool { return g.Kind != guest.VM })
}

// protected reports whether a guest has Proxmox VE's own protection.
func protected(g *cluster.Guest) bool {
	return g.Config != nil && g.Config.Raw[guest.Protection] == "1"
}
