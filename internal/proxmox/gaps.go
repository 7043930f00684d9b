package proxmox

import (
	"context"
	"fmt"

	"stackgen/internal/cluster"
)

// advice returns the advisor, and makes it for the first gap.
func (r *reader) advice(ctx context.Context) *advisor {
	if r.advisor == nil {
		r.advisor = newAdvisor(ctx, r.client, r.rights)
	}
	return r.advisor
}

func (r *reader) addGap(g cluster.Gap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inv.Gaps = append(r.inv.Gaps, g)
}

// findGaps adds the gaps that concern the whole cluster. Proxmox VE does not list
// guests without VM.Audit, so an empty list proves nothing.
func (r *reader) findGaps(ctx context.Context) {
	if !r.seesAllVMs() {
		r.addGap(r.advice(ctx).gap("/vms", cluster.VMAudit, "guests may exist that "+r.config.Who()+" cannot see"))
	}
	if !r.rights.has("/", cluster.SysAudit) {
		r.addGap(r.advice(ctx).gap("/", cluster.SysAudit, "quorum, addresses of nodes and tasks of other users cannot be read"))
	}
	for _, id := range r.wanted.Pools {
		if r.inv.Pool(id) == nil && !r.rights.has("/pool/"+id, cluster.PoolAudit) {
			r.addGap(r.advice(ctx).gap("/pool/"+id, cluster.PoolAudit, "pool "+id+" is not visible, whether it exists or not"))
		}
	}
}

// seesAllVMs reports whether the credentials can see every guest, except guests
// with an ACL entry of their own that removes VM.Audit.
func (r *reader) seesAllVMs() bool { return r.rights.below("/vms", cluster.VMAudit) }

// proveFree finds out whether a VMID that no guest has is free. The dump of
// privileges omits a path whose ACL entry removes all of them, so if VM.Audit is
// inherited, it queries the path itself.
func (r *reader) proveFree(ctx context.Context, vmid int) {
	at := vmPath(vmid)
	_, listed := r.rights[at]
	switch {
	case listed && r.rights.has(at, cluster.VMAudit):
		r.addFree(vmid)
		return
	case !r.seesAllVMs():
		return // findGaps has reported it
	case !listed:
		var own rights
		if err := r.get(ctx, "/access/permissions?path="+at, &own); err != nil {
			r.addGap(cluster.Gap{Path: at, Privilege: cluster.VMAudit, Reason: fmt.Sprintf("the privileges on VM %d could not be read: %v", vmid, err)})
			return
		}
		if _, ok := own[at][cluster.VMAudit]; ok {
			r.addFree(vmid)
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inv.Gaps = append(r.inv.Gaps, r.advice(ctx).gap(at, cluster.VMAudit, fmt.Sprintf("VM %d is not visible, whether it exists or not: an ACL entry for %s removes the privilege", vmid, at)))
}

func (r *reader) addFree(vmid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inv.Free = append(r.inv.Free, vmid)
}
