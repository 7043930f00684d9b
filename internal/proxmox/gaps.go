package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

func (r *reader) addGap(g cluster.Gap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inv.Gaps = append(r.inv.Gaps, g)
}

// findGaps adds the gaps that concern the whole cluster. Proxmox VE does not list
// guests without VM.Audit, so an empty list proves nothing.
func (r *reader) findGaps(ctx context.Context) {
	if !r.seesAllVMs() {
		r.addGap(r.missing(ctx, "/vms", cluster.VMAudit, "guests may exist that "+r.config.Who()+" cannot see"))
	}
	if !r.rights.Has("/", cluster.SysAudit) {
		r.addGap(r.missing(ctx, "/", cluster.SysAudit, "quorum, addresses of nodes and tasks of other users cannot be read"))
	}
	for _, id := range r.wanted.Pools {
		if r.inv.Pool(id) == nil && !r.has(ctx, "/pool/"+id, cluster.PoolAudit) {
			r.addGap(r.missing(ctx, "/pool/"+id, cluster.PoolAudit, "pool "+id+" is not visible, whether it exists or not"))
		}
	}
}

// has reports whether a privilege is granted on a path. It queries a path that the
// dump of privileges omits: an ACL entry may remove all privileges there.
func (r *reader) has(ctx context.Context, at, privilege string) bool {
	if _, listed := r.rights[at]; !listed && r.rights.Has(at, privilege) {
		var own rights
		if err := r.get(ctx, "/access/permissions?path="+url.QueryEscape(at), &own); err == nil {
			r.rights[at] = own.plain()[at]
		}
	}
	return r.rights.Has(at, privilege)
}

// seesAllVMs reports whether the credentials can see every guest, except guests
// with an ACL entry of their own that removes VM.Audit.
func (r *reader) seesAllVMs() bool { return r.rights.Below("/vms", cluster.VMAudit) }

// proveFree finds out whether a VMID that no guest has is free. The dump of
// privileges omits a path whose ACL entry removes all of them, so if VM.Audit is
// inherited, it queries the path itself.
func (r *reader) proveFree(ctx context.Context, vmid int) {
	at := vmPath(vmid)
	_, listed := r.rights[at]
	switch {
	case listed && r.rights.Has(at, cluster.VMAudit):
		r.addFree(vmid)
		return
	case !r.seesAllVMs():
		return // findGaps has reported it
	case !listed:
		var own rights
		if err := r.get(ctx, "/access/permissions?path="+at, &own); err != nil {
			reason := fmt.Sprintf("the privileges on VM %d could not be read: %v", vmid, err)
			r.addGap(cluster.Gap{Path: at, Privilege: cluster.VMAudit, Reason: reason})
			return
		}
		r.addRights(at, own)
		if _, ok := own[at][cluster.VMAudit]; ok {
			r.addFree(vmid)
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reason := fmt.Sprintf("VM %d is not visible, whether it exists or not: an ACL entry for %s removes the privilege", vmid, at)
	r.inv.Gaps = append(r.inv.Gaps, r.missing(ctx, at, cluster.VMAudit, reason))
}

// modelPaths are the ACL paths of the CPU models of guests that an administrator defines: a clone of one needs its model, since 9.2.
func (r *reader) modelPaths(guests []*cluster.Guest) (paths []string) {
	for _, g := range guests {
		if g.Config == nil || !g.Template || !r.inv.Since(9, 2) {
			continue
		}
		if at := cluster.ModelPath(pve.Parse(g.Config.Raw["cpu"]).Default("cputype")); at != "" {
			paths = append(paths, at)
		}
	}
	return paths
}

// readPaths reads the privileges on paths that a create needs, and on those above them. The dump of privileges
// omits a path whose ACL entry removes all of them. A network may also be in a zone that has such an entry.
func (r *reader) readPaths(ctx context.Context) {
	a := r.access(ctx)
	var all, paths []string
	for _, at := range r.wanted.Paths {
		for ; !cluster.TopPath(at); at = path.Dir(at) {
			all = append(all, at)
		}
	}
	if slices.Contains(all, cluster.ZonesPath) {
		for _, e := range a.Entries {
			if strings.HasPrefix(e.Path, cluster.ZonesPath+"/") {
				all = append(all, e.Path)
			}
		}
	}
	for _, at := range all {
		_, listed := r.rights[at]
		hasEntry := slices.ContainsFunc(a.Entries, func(e cluster.ACL) bool { return e.Path == at })
		if !listed && (a.Entries == nil || hasEntry) && !slices.Contains(paths, at) {
			paths = append(paths, at)
		}
	}
	concurrently(paths, func(at string) { r.readPath(ctx, at) })
}

// addRights records the privileges on one path.
func (r *reader) addRights(at string, own rights) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.who.Rights[at] = own.plain()[at]
}

func (r *reader) addFree(vmid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inv.Free = append(r.inv.Free, vmid)
}
