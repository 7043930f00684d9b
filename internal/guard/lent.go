package guard

import (
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A volume has the VMID of one guest in its name, and another guest may have it as a disk, too: somebody
// attached it there. Proxmox VE asks no other guest before it deletes a volume: with the guest, with a disk
// that is moved, and with a local disk that is copied to another node.

// lent are the volumes of a guest that it has itself, and that others have, too.
func lent(g *cluster.Guest, borrowed []cluster.Borrowed) []cluster.Borrowed {
	return slices.DeleteFunc(slices.Clone(borrowed), func(b cluster.Borrowed) bool { return len(entriesWith(g, b.Volume)) == 0 })
}

// lostWith are the volumes of other guests that a destroy of a guest would delete. The provider has Proxmox VE delete all
// volumes with the VMID of a VM, but of a container only those that it has itself, now or before its next start.
func lostWith(g *cluster.Guest, borrowed []cluster.Borrowed) []cluster.Borrowed {
	if g == nil || g.Kind != guest.Container || g.Config == nil || len(g.Config.Pending) > 0 {
		return borrowed
	}
	return lent(g, borrowed)
}

// entriesWith are the entries in which a guest has a volume.
func entriesWith(g *cluster.Guest, volume string) (keys []string) {
	if g.Config == nil {
		return nil
	}
	for _, d := range slices.Concat(pve.Drives(g.Config.Raw), pve.Mounts(g.Config.Raw)) {
		if d.File == volume {
			keys = append(keys, d.Key)
		}
	}
	return keys
}

// lentEntries are the entries of a guest whose volumes others have, too.
func lentEntries(g *cluster.Guest, borrowed []cluster.Borrowed) (keys []string) {
	for _, b := range borrowed {
		keys = append(keys, entriesWith(g, b.Volume)...)
	}
	return keys
}

// DeletesVolumes reports whether an apply would delete volumes that it copies elsewhere: it moves disks,
// or migrates VMs.
func DeletesVolumes(found []finding.Finding, updates []effect.Update) bool {
	return slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Effect == schema.Move }) ||
		slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Kind == finding.Migrate && !f.Stops() })
}

// sayLent adds which guests have the volumes that updates would delete, and how they are taken from them.
func sayLent(f *finding.Finding, g *cluster.Guest, updates []effect.Update, borrowed []cluster.Borrowed) {
	for _, b := range lent(g, borrowed) {
		if slices.ContainsFunc(updates, func(u effect.Update) bool {
			return u.Harm == effect.Lends && slices.Contains(entriesWith(g, b.Volume), u.Entry())
		}) {
			takeLent(f, b)
		}
	}
}

// takeLent adds who has a volume of another guest, and how it is taken from there: Proxmox VE deletes no volume with
// an entry of a guest to which the volume does not belong.
func takeLent(f *finding.Finding, b cluster.Borrowed) {
	f.Because("%s has %s as %s", Describe(b.By), b.Volume, b.Entry)
	f.Next("or, if that guest does not need the disk, remove it there: the volume is not deleted with it", set(b.By, "--delete "+b.Entry))
}

// copyLent is the line that gives a guest a copy of a volume that another one has, too, instead of it.
func copyLent(b cluster.Borrowed) []string {
	switch name, _ := pve.SplitKey(b.Entry); {
	case b.By.Kind == guest.Container:
		return []string{pve.Pvesh("create", b.By.Path("move_volume"), "--volume "+shell.Word(b.Entry), "--storage STORAGE")}
	case name != "unused":
		return []string{pve.Pvesh("create", b.By.Path("move_disk"), "--disk "+shell.Word(b.Entry), "--storage STORAGE")}
	}
	return nil
}

// LentNow are the findings about VMs that are about to lose volumes, and of which other guests have volumes now.
func LentNow(now *cluster.Inventory, stack string, replaced []Replacement) (out []finding.Finding) {
	borrowed := now.Borrowed()
	for _, vm := range replaced {
		if b := borrowed[vm.VMID]; len(b) > 0 {
			f := finding.Finding{Address: finding.Address{Stack: stack, Unit: lock.UnitVM, Type: finding.VM, Key: vm.Key}}
			f.VMID, f.Name, f.Node, f.Resource = vm.VMID, vm.Guest.Name, vm.Guest.Node, vm.Address
			refuseLent(&f, vm.Guest, b)
			out = append(out, f)
		}
	}
	return out
}
