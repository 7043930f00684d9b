package proxmox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// readUnclaimed reads which volumes have the VMID of a VM that may be destroyed, and are not in its configuration:
// Proxmox VE deletes them with it, and another guest may have one. That is asked only where guests could not be
// read, because they do not say it themselves. A list has all volumes of a storage on a node, so this costs one
// request for each storage, whatever the number of VMs. Proxmox VE leaves out what the token may not read, and
// reports no error: without Datastore.Audit on the storage or VM.Config.Disk on the VM, nothing is known by this.
func (r *reader) readUnclaimed(ctx context.Context) {
	if !r.hidesGuests() {
		return
	}
	type place struct{ storage, node string }
	lists := map[place]*volumeList{}
	for _, vmid := range r.wanted.Destroyed {
		g := r.guests[vmid]
		if g == nil || g.Kind != guest.VM || g.Config == nil {
			continue // it is judged as one that is gone, or that could not be read
		}
		u := cluster.Unclaimed{VMID: vmid}
		for _, storage := range r.imageStorages(g.Node) {
			at := place{storage, g.Node}
			if lists[at] == nil {
				lists[at] = r.readVolumes(ctx, storage, g.Node)
			}
			if err := lists[at].err; err != nil && !Forbidden(err) {
				u.Gaps = append(u.Gaps, cluster.Gap{Path: "/storage/" + storage, Reason: fmt.Sprintf("its volumes could not be listed: %v", err)})
			}
			u.Volumes = append(u.Volumes, lists[at].of[vmid]...)
		}
		own, err := r.ownVolumes(ctx, g)
		if err != nil {
			u.Gaps = append(u.Gaps, cluster.Gap{Path: vmPath(vmid), Reason: fmt.Sprintf("the snapshots of VM %d could not be read: %v", vmid, err)})
		}
		u.Volumes = slices.DeleteFunc(u.Volumes, func(volume string) bool { return own[volumeName(volume)] })
		if len(u.Volumes)+len(u.Gaps) > 0 {
			r.inv.Unclaimed = append(r.inv.Unclaimed, u)
		}
	}
}

// hidesGuests reports whether there may be guests whose volumes are not known. A template has only volumes of its own.
func (r *reader) hidesGuests() bool {
	if slices.ContainsFunc(r.inv.Gaps, cluster.Gap.AnyGuest) {
		return true
	}
	for _, g := range r.guests {
		if !g.Template && g.Config == nil && g.Identity == nil {
			return true
		}
	}
	return false
}

// imageStorages are the storages on which Proxmox VE looks for volumes of a VM of a node. A storage is defined for tokens that
// may use it, and listed with its state only for those that may see what is on it.
func (r *reader) imageStorages(node string) (out []string) {
	for _, s := range r.inv.Storages {
		if s.Node == node && s.Images() {
			out = append(out, s.ID)
		}
	}
	for _, d := range r.inv.Datastores {
		if !d.Disabled && (len(d.Nodes) == 0 || slices.Contains(d.Nodes, node)) && slices.Contains(pve.List(d.Content), "images") {
			out = append(out, d.ID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A volumeList are the disk images of a storage, as a node sees it.
type volumeList struct {
	of  map[int][]string // by the VMID to which they belong
	err error
}

func (r *reader) readVolumes(ctx context.Context, storage, node string) *volumeList {
	var list []struct {
		Volume string `json:"volid"`
	}
	out := &volumeList{of: map[int][]string{}}
	if out.err = r.get(ctx, "/nodes/"+node+"/storage/"+storage+"/content?content=images", &list); out.err != nil {
		return out
	}
	for _, v := range list {
		owner := pve.VolumeOwner(v.Volume)
		out.of[owner] = append(out.of[owner], v.Volume)
	}
	return out
}

// ownVolumes are the names of the volumes that a VM has: in its configuration, before and after what waits for its
// restart, and in its snapshots.
func (r *reader) ownVolumes(ctx context.Context, g *cluster.Guest) (map[string]bool, error) {
	own := map[string]bool{}
	add := func(text string) {
		volume, _, _ := strings.Cut(text, ",")
		own[volumeName(volume[strings.IndexByte(volume, '=')+1:])] = true
	}
	for _, text := range g.Config.Raw {
		add(text)
	}
	for _, p := range g.Config.Pending {
		add(p.Value)
	}
	p := &Power{r.client}
	snapshots, err := p.Snapshots(ctx, g) // the configuration need not name one that it has: see readSnapshots
	for _, s := range snapshots {
		raw, failed := p.entries(ctx, g.Path("snapshot", s.Name, "config"))
		if failed != nil {
			return own, failed
		}
		for _, text := range raw {
			add(text)
		}
	}
	return own, err
}

// volumeName is a volume without its base and its folder, which a configuration may leave out: nfs:vm-100-disk-0.qcow2.
func volumeName(volume string) string {
	storage, path, has := strings.Cut(volume, ":")
	if !has {
		return volume
	}
	return storage + ":" + path[strings.LastIndexByte(path, '/')+1:]
}
