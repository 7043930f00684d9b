package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
)

// describe says in one line what a guest is: where, since when, with what disks.
func describe(g *cluster.Guest) string {
	kind := "VM"
	switch {
	case g.Template:
		kind = "template"
	case g.Kind == cluster.KindContainer:
		kind = "container"
	}
	name := g.Name
	if name == "" {
		name = "without a name yet"
	}
	out := fmt.Sprintf("%s %d (%s) on %s, %s", kind, g.VMID, name, g.Node, status(g))
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

// duration is an uptime as people say it.
func duration(seconds int64) string {
	switch {
	case seconds >= 2*86400:
		return fmt.Sprintf("%d days", seconds/86400)
	case seconds >= 2*3600:
		return fmt.Sprintf("%d hours", seconds/3600)
	case seconds >= 120:
		return fmt.Sprintf("%d minutes", seconds/60)
	}
	return fmt.Sprintf("%d seconds", seconds)
}

// inspect is the line that shows a guest's configuration, from any node.
func inspect(g *cluster.Guest) string {
	return fmt.Sprintf("pvesh get /nodes/%s/%s/%d/config", g.Node, g.Kind, g.VMID)
}

// vmsOf are the guests that are VMs.
func vmsOf(guests []*cluster.Guest) []*cluster.Guest {
	return slices.DeleteFunc(slices.Clone(guests), func(g *cluster.Guest) bool { return g.Kind != cluster.KindVM })
}

// tasksOn are the tasks in flight on a guest. The task of a clone carries the
// VMID of what is cloned, so that every clone may be the one that is making a
// guest which is locked for it.
func tasksOn(inv *cluster.Inventory, g *cluster.Guest) []cluster.Task {
	return slices.DeleteFunc(slices.Clone(inv.Tasks), func(t cluster.Task) bool {
		return t.VMID != g.VMID && !(g.Lock == "clone" && t.Type == "qmclone")
	})
}

// hole is the first missing number of a numbered device, such as net1 where there
// are net0 and net2.
func hole(raw map[string]string, device string) string {
	found := 0
	for key := range raw {
		if number, ok := strings.CutPrefix(key, device); ok && number != "" && strings.Trim(number, "0123456789") == "" {
			found++
		}
	}
	for i := range found {
		if key := fmt.Sprintf("%s%d", device, i); raw[key] == "" {
			return key
		}
	}
	return ""
}

// on reports whether a switch of a configuration is on.
func on(c *cluster.Config, key string) bool { return c != nil && c.Raw[key] == "1" }

// otherMACs says how the guest of the right name differs from the one in state.
func (s *subject) otherMACs() {
	known := strings.Join(s.states[0].MACs, " ")
	if len(s.guest.Config.MACs) == 0 { // a VM that lost its NICs looks the same: nothing proves which it is
		s.Because("VMID %d has the VM's name, but it has no NIC, and the state knows the VM by its MAC (%s): it was made again by hand, or its NICs were taken away", s.VMID, known)
		return
	}
	s.Because("VMID %d has the VM's name, but no NIC of it has a MAC that the state knows (%s): it was made again by hand", s.VMID, known)
}
