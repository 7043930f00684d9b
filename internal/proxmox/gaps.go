package proxmox

import (
	"context"
	"fmt"

	"stackgen/internal/cluster"
)

// mend hands out the mender, made when the first gap needs it.
func (l *look) mend(ctx context.Context) *mender {
	if l.mender == nil {
		l.mender = newMender(ctx, l.client, l.rights, l.old)
	}
	return l.mender
}

func (l *look) add(g cluster.Gap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inv.Gaps = append(l.inv.Gaps, g)
}

// general finds what the asker may not see at large. An empty list proves
// nothing: guests without VM.Audit are simply not in it.
func (l *look) general(ctx context.Context) {
	if !l.everyVM() {
		l.add(l.mend(ctx).gap("/vms", cluster.VMAudit, "guests may exist that "+l.config.Who()+" does not see"))
	}
	if !l.rights.has("/", cluster.SysAudit) {
		l.add(l.mend(ctx).gap("/", cluster.SysAudit, "quorum and the tasks of others are not seen"))
	}
	for _, id := range l.wanted.Pools {
		if l.inv.Pool(id) == nil && !l.rights.has("/pool/"+id, cluster.PoolAudit) {
			l.add(l.mend(ctx).gap("/pool/"+id, cluster.PoolAudit, "pool "+id+" is not seen, whether it exists or not"))
		}
	}
}

// everyVM reports whether the asker sees every guest, but for those that an
// entry of their own takes away.
func (l *look) everyVM() bool { return l.rights.below("/vms", cluster.VMAudit) }

// prove finds out whether a VMID that no guest has is free. The dump of rights
// does not name a path on which an entry takes everything away, so where the
// right is inherited the path itself is asked for.
func (l *look) prove(ctx context.Context, vmid int) {
	at := vmPath(vmid)
	_, listed := l.rights[at]
	switch {
	case listed && l.rights.has(at, cluster.VMAudit):
		l.free(vmid)
		return
	case !l.everyVM():
		return // the gap at large says so
	case !listed:
		var own rights
		if err := l.get(ctx, "/access/permissions?path="+at, &own); err != nil {
			l.add(cluster.Gap{Path: at, Privilege: cluster.VMAudit, Reason: fmt.Sprintf("whether VM %d may be seen could not be found out: %v", vmid, err)})
			return
		}
		if _, ok := own[at][cluster.VMAudit]; ok {
			l.free(vmid)
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inv.Gaps = append(l.inv.Gaps, l.mend(ctx).gap(at, cluster.VMAudit, fmt.Sprintf("VM %d is not seen, whether it exists or not: an entry for %s takes the right away", vmid, at)))
}

func (l *look) free(vmid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inv.Free = append(l.inv.Free, vmid)
}
