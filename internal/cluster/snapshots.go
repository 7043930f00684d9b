package cluster

import (
	"cmp"
	"path"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// An image is a disk image of a VM, or a volume of a container, as far as snapshots depend on it.
type image struct {
	disk    string // such as scsi0
	path    string // of the node, which a container has in place of a volume
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
		all = append(all, image{disk: d.Get(guest.Interface).Str(), storage: d.Get(guest.Datastore).Str(), format: d.Get(guest.Format).Str()})
	}
	if len(all) == 0 && template != nil && template.Config != nil {
		node, all = template.Node, images(template)
	}
	return inv.withoutSnapshots(node, all)
}

func (inv *Inventory) withoutSnapshots(node string, all []image) string {
	for _, i := range all {
		if i.path != "" { // Source: volume_has_feature of PVE::Storage
			return i.disk + " is the path " + i.path + " of the node and no volume, and Proxmox VE takes no snapshot of a container with one"
		}
		s := inv.Storage(i.storage, node)
		d := inv.Datastore(i.storage)
		if s == nil || i.format == "qcow2" || i.format == "" && d != nil && d.Chain { // qcow2 is the default of such a storage
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
		s, d := inv.Storage(i.storage, g.Node), inv.Datastore(i.storage)
		if s != nil && StorageTypeOf(s.Type).OnlyNewest || d != nil && d.Chain && i.format == "qcow2" {
			return true
		}
	}
	return false
}

// images are the disk images that a snapshot of a VM has, or the volumes and paths of a container.
func images(g *Guest) []image {
	var out []image
	drives := pve.Drives(g.Config.Raw)
	if g.Kind == guest.Container {
		drives = pve.Mounts(g.Config.Raw)
	}
	for _, d := range drives {
		if !d.CDROM() && !strings.HasPrefix(d.Key, "unused") {
			format := strings.TrimPrefix(path.Ext(d.Name), ".")
			i := image{disk: d.Key, storage: d.Storage, format: cmp.Or(format, "raw")}
			if g.Kind == guest.Container && d.Storage == "" {
				i.path = d.File
			}
			out = append(out, i)
		}
	}
	return out
}
