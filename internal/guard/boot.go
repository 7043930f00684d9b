package guard

import (
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// bootOrder are the devices that a guest boots from.
func bootOrder(g *cluster.Guest) []string {
	for option := range strings.SplitSeq(g.Config.Raw["boot"], ",") {
		if order, ok := strings.CutPrefix(option, "order="); ok {
			return strings.Split(order, ";")
		}
	}
	if disk := g.Config.Raw["bootdisk"]; disk != "" {
		return []string{disk}
	}
	return nil
}

// bootDevices are the devices that no update of a guest detaches: the provider detaches none
// of the boot order after the update, which is that of Proxmox VE if the spec has none, and
// Proxmox VE none from which a running VM boots.
func bootDevices(g *cluster.Guest, v *schema.VM) []string {
	if g.Config == nil {
		return nil
	}
	now, spec := bootOrder(g), v.Values.Get("boot_order").Strings()
	switch {
	case len(spec) == 0:
		return now
	case g.Status == "running":
		return append(slices.Clone(spec), now...)
	}
	return spec
}

// bootSteps are the ways out where an update would detach disks that the VM boots from: the
// boot order first, which a running VM has after a restart.
func bootSteps(v *schema.VM, spec string, g *cluster.Guest, updates []effect.Update) []finding.Step {
	var removed []string
	for _, u := range updates {
		if u.Harm == effect.Boots {
			removed = append(removed, u.Device)
		}
	}
	kept := hardware.Read(g).Keep(v, "disks", removed)
	if len(removed) == 0 || kept == "" {
		return nil
	}
	order := without(v.Values.Get("boot_order").Strings(), removed)
	if len(order) == 0 {
		order = without(bootOrder(g), removed)
	}
	disks := diskInterfaces(v)
	if !slices.ContainsFunc(order, func(at string) bool { return slices.Contains(disks, at) }) {
		order = append(slices.Clone(disks[:1]), order...)
	}
	boots := specLine(v, "boot_order: ["+strings.Join(order, ", ")+"]")
	if g.Status != "running" {
		return []finding.Step{finding.Do("to boot from other devices, write into "+spec, boots)}
	}
	lines := []string{boots, specLine(v, kept), "stackgen render", "stackgen apply " + shell.Path(spec)}
	if !permitsRestart(v) {
		lines = append(lines, restart(g))
	}
	return []finding.Step{finding.Do("to boot from other devices, write them into "+spec+" first, restart the VM, and remove the disk then",
		append(lines, specLine(v, hardware.Disks(v, nil)), "stackgen render")...)}
}
