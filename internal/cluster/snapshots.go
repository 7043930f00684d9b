package cluster

import (
	"cmp"
	"path"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// An image is a disk image of a VM, as far as snapshots depend on it.
type image struct {
	disk    string // such as scsi0
	storage string
	format  string // raw, qcow2 or another one; empty if it is not known
}

// WithoutSnapshots is the first disk of a VM that can have no snapshot, with its storage and
// why; empty if all can, or nothing is known. Before the VM exists, its spec and its template
// decide.
func (inv *Inventory) WithoutSnapshots(g *Guest, v *schema.VM, template *Guest) string {
	switch {
	case g != nil && g.Config != nil:
		return inv.withoutSnapshots(g.Node, images(g))
	case v == nil:
		return ""
	}
	node := v.Node
	var all []image
	for _, d := range v.Values.Get(guest.Disks).List() {
		all = append(all, image{d.Get(guest.Interface).Str(), d.Get(guest.Datastore).Str(), d.Get(guest.Format).Str()})
	}
	if len(all) == 0 && template != nil && template.Config != nil {
		node, all = template.Node, images(template)
	}
	return inv.withoutSnapshots(node, all)
}

func (inv *Inventory) withoutSnapshots(node string, all []image) string {
	for _, i := range all {
		s := inv.Storage(i.storage, node)
		if s == nil || i.format == "qcow2" {
			continue
		}
		if t := StorageTypeOf(s.Type); !t.Snapshots && (t.Raw || t.Files && i.format != "") {
			return i.disk + " on " + i.storage + " (" + s.Type + ") is raw, and such an image has no snapshots"
		}
	}
	return ""
}

// OnlyNewest reports whether Proxmox VE takes a VM back to its newest snapshot only.
func (inv *Inventory) OnlyNewest(g *Guest) bool {
	for _, i := range images(g) {
		if s := inv.Storage(i.storage, g.Node); s != nil && StorageTypeOf(s.Type).OnlyNewest {
			return true
		}
	}
	return false
}

// images are the disk images that a snapshot of a VM has.
func images(g *Guest) []image {
	var out []image
	for _, d := range pve.Drives(g.Config.Raw) {
		if !d.CDROM() && !strings.HasPrefix(d.Key, "unused") {
			format := strings.TrimPrefix(path.Ext(d.Name), ".")
			out = append(out, image{d.Key, d.Storage, cmp.Or(format, "raw")})
		}
	}
	return out
}
