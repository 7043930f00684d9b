package feasible

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// The clone modes.
const (
	Linked = "linked"
	Full   = "full"
)

// CloneMode decides between a linked and a full clone of a template for a VM on a node,
// and says why. What is not known makes it full, which works wherever a clone does.
func CloneMode(inv *cluster.Inventory, v *schema.VM, template *cluster.Guest, node string) (mode, reason string) {
	if template.Config == nil || len(template.Config.Raw) == 0 {
		return Full, fmt.Sprintf("the configuration of template %d could not be read", template.VMID)
	}
	var on []string
	for _, d := range drivesOf(template.Config.Raw) {
		if d.CDROM() {
			continue // a clone gets its own cloud-init drive
		}
		if to := v.Disk(d.Key).Get(guest.Datastore).Str(); to != "" && to != d.Storage {
			return Full, fmt.Sprintf("%s is on storage %s and on %s in the template", d.Key, to, d.Storage)
		}
		if why := noLinked(inv, template, d, node); why != "" {
			return Full, why
		}
		if s := inv.Storage(d.Storage, template.Node); !slices.Contains(on, describe(s)) {
			on = append(on, describe(s))
		}
	}
	if len(on) == 0 {
		return Full, fmt.Sprintf("template %d has no disk", template.VMID)
	}
	return Linked, "the template is on " + strings.Join(on, " and ")
}

// describe names a storage with what decides about linked clones.
func describe(s *cluster.Storage) string {
	if s.Shared {
		return fmt.Sprintf("shared storage %s (%s)", s.ID, s.Type)
	}
	return fmt.Sprintf("local storage %s (%s) of the same node", s.ID, s.Type)
}

// noLinked says why a drive of a template cannot be the base of a linked clone on a
// node, or nothing.
func noLinked(inv *cluster.Inventory, template *cluster.Guest, d pve.Drive, node string) string {
	s := inv.Storage(d.Storage, template.Node)
	switch {
	case s == nil:
		return fmt.Sprintf("storage %s of the template is not known", d.Storage)
	case !s.Images():
		return fmt.Sprintf("storage %s takes no disk images", s.ID)
	case unfit(s, d) != "":
		return unfit(s, d)
	case template.Node != node && !s.Shared:
		return fmt.Sprintf("the template is on local storage %s (%s) of node %s", s.ID, s.Type, template.Node)
	}
	if at := inv.Storage(d.Storage, node); at == nil || !at.Active {
		return fmt.Sprintf("storage %s of the template is not available on node %s", s.ID, node)
	}
	return ""
}

// unfit says why no drive like this one on the storage can be the base of a linked clone,
// or nothing.
func unfit(s *cluster.Storage, d pve.Drive) string {
	switch kind := cluster.StorageTypeOf(s.Type); {
	case kind.Files && !slices.Contains([]string{"qcow2", "vmdk"}, d.Format()):
		return fmt.Sprintf("%s of the template is a raw image on storage %s (%s)", d.Key, s.ID, s.Type)
	case !kind.Links:
		return fmt.Sprintf("storage %s of the template (%s) supports no linked clones", s.ID, s.Type)
	}
	return ""
}

// CloneTarget is the storage that a full clone writes to, and whether it is shared: that of
// the spec's first disk, or that of the template's first drive.
func CloneTarget(inv *cluster.Inventory, v *schema.VM, e *lock.VM) (id string, shared bool) {
	c := &creation{inv: inv, vm: v, entry: e, on: e.Node, template: inv.Guest(e.Template.VMID)}
	id = c.target()
	for _, d := range c.drives() {
		if id == "" && !d.CDROM() {
			id = d.Storage
		}
	}
	s := inv.Storage(id, e.Node)
	return id, s != nil && s.Shared
}
