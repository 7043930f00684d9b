package guard

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// bootDevices are the devices that no update of a guest detaches: the provider detaches none
// of the boot order after the update, which is that of Proxmox VE if the spec has none, and
// Proxmox VE none from which a running VM boots.
func bootDevices(g *cluster.Guest, v *schema.VM) []string {
	if g.Config == nil {
		return nil
	}
	out := slices.Clone(v.Values.Get(guest.BootOrder).Strings())
	if len(out) == 0 {
		out = pve.BootOrder(g.Config.Raw)
	}
	if g.Status != "running" {
		return out
	}
	return append(out, without(pve.BootOrder(g.Config.Now()), out)...)
}

// boot are the ways out where an update would detach disks that the VM boots from: the boot
// order first, which a running VM has after a restart.
func (k *keeper) boot(updates []effect.Update) []finding.Step {
	var removed []string
	for _, u := range updates {
		if u.Harm == effect.BootsFrom {
			removed = append(removed, u.Device)
		}
	}
	kept := k.reading.Keep(k.vm, guest.Disks, removed)
	if len(removed) == 0 || kept == nil {
		return nil
	}
	order := without(k.vm.Values.Get(guest.BootOrder).Strings(), removed)
	if len(order) == 0 {
		order = without(pve.BootOrder(k.guest.Config.Raw), removed)
	}
	disks := k.vm.Interfaces()
	if !slices.ContainsFunc(order, func(at string) bool { return slices.Contains(disks, at) }) {
		order = append(slices.Clone(disks[:1]), order...)
	}
	boots := "boot_order: [" + strings.Join(order, ", ") + "]"
	after := k.reading.Disks(k.vm, k.vm.Values.Get(guest.Disks).List())
	if k.guest.Status != "running" {
		return []finding.Step{finding.Do("to boot from other devices, write into "+k.spec, k.places(append([]string{boots}, after[1:]...))...)}
	}
	first := append(k.rendered(append([]string{boots}, kept...)), "stackgen apply "+shell.Path(k.spec))
	then := append(k.places(after), "stackgen render")
	if !permitsRestart(k.vm) {
		then = append([]string{restart(k.guest)}, then...)
	}
	what := "to boot from other devices, write them into " + k.spec + " first, restart the VM, and remove the disk then"
	return []finding.Step{finding.DoPhases(what, first, then)}
}
