package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
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

// destroyPart are the lines that destroy a part of a clone. It has the protection of its template, which nobody has given it.
func destroyPart(g *cluster.Guest) []string {
	lines := destroyByHand(g)
	if g.Config == nil || !pve.True(g.Config.Raw["protection"]) {
		return lines
	}
	off := "--protection 0"
	if g.Lock != "" && g.Kind != guest.Container {
		off += " --skiplock 1"
	}
	return slices.Insert(lines, len(lines)-1, set(g, off))
}

// destroyByHand are the lines that destroy a VM, on any node: Proxmox VE does not
// destroy a running one.
func destroyByHand(g *cluster.Guest) []string {
	switch {
	case g.Lock != "" && g.Kind == guest.Container: // its DELETE has no skiplock; the first line is for its node
		unlocked := *g
		unlocked.Lock = ""
		return append([]string{fmt.Sprintf("pct unlock %d", g.VMID)}, destroyByHand(&unlocked)...)
	case g.Lock != "":
		return []string{pve.Pvesh("delete", g.Path(), "--skiplock 1")}
	case g.Status == "running":
		return []string{pve.Pvesh("create", g.Path("status", "stop")), pve.Pvesh("delete", g.Path())}
	}
	return []string{pve.Pvesh("delete", g.Path())}
}

// vmsOf are the guests that are VMs.
func vmsOf(guests []*cluster.Guest) []*cluster.Guest {
	return slices.DeleteFunc(slices.Clone(guests), func(g *cluster.Guest) bool { return g.Kind != guest.VM })
}

// on reports whether a flag of a configuration is set.
func on(c *cluster.Config, key string) bool { return c != nil && c.Raw[key] == "1" }
