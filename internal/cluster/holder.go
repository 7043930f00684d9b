package cluster

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/lock"
	"stackgen/internal/pve"
)

// holderOf begins the name of the VM with new disks for a VM.
const holderOf = "rebuild-%d-from-"

// HolderName is the name of the VM with new disks for a VM, by the VMIDs of that and of a template: from another
// template, it is another one.
func HolderName(vmid, template int) string { return fmt.Sprintf(holderOf+"%d", vmid, template) }

// MadeFor reports whether a guest is the VM which a rebuild has made for the new disks of a VM.
func MadeFor(g *Guest, e *lock.VM) bool {
	return g != nil && strings.HasPrefix(g.Name, fmt.Sprintf(holderOf, e.VMID))
}

// Holder is what has the VMID of the VM that a rebuild makes for the new disks of a VM, or nil.
func (inv *Inventory) Holder(e *lock.VM) *Guest {
	if e == nil || e.Rebuild == nil || e.Rebuild.Holder == 0 {
		return nil
	}
	return inv.Guest(e.Rebuild.Holder)
}

// HalfExchanged reports whether a rebuild has exchanged disks of a guest that certainly is a VM of the lock, and has not
// ended: until then, the guest has an unused volume that it was given, or that it has lost, or the VM that was made for it
// has given one. Somebody who needs space removes volumes that nothing uses.
func (inv *Inventory) HalfExchanged(e *lock.VM, g *Guest) bool {
	if g.Config == nil || !e.Exchanges(g.Config.UUID) {
		return false
	}
	return inv.gave(e) || slices.ContainsFunc(pve.Drives(g.Config.Raw), func(d pve.Drive) bool {
		return d.IsUnused() && (pve.Given(d.Key) || slices.Contains(e.Rebuild.Volumes, d.File))
	})
}

// gave reports whether the VM with new disks for a VM is made, and lacks one that its template has.
func (inv *Inventory) gave(e *lock.VM) bool {
	holder := inv.Holder(e)
	if !MadeFor(holder, e) || holder.Lock != "" || holder.Config == nil || e.Rebuild.From == nil {
		return false
	}
	template := inv.Guest(e.Rebuild.From.VMID)
	return template != nil && template.Config != nil && slices.ContainsFunc(template.SystemDisks(), func(d pve.Drive) bool {
		return holder.Config.Raw[d.Key] == ""
	})
}

// Volumes are what a VM with a configuration has on storages, unused volumes too, in the order of their keys. Its
// destroy deletes them.
func Volumes(raw map[string]string) []string {
	var out []string
	for _, d := range pve.Drives(raw) {
		if !d.CDROM() && !d.CloudInit() {
			out = append(out, d.File)
		}
	}
	return out
}

// SystemDisks are the disks of a guest with a volume, and its EFI disk and TPM state.
func (g *Guest) SystemDisks() []pve.Drive {
	return slices.DeleteFunc(pve.Drives(g.Config.Raw), func(d pve.Drive) bool { return d.CDROM() || d.CloudInit() || d.IsUnused() })
}
