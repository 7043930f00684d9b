package proxmox

import (
	"context"
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// readReplication reads the replication jobs, if a candidate has a disk on a storage of which jobs copy images. The list has
// the jobs of those guests whose configuration the credentials may read.
func (r *reader) readReplication(ctx context.Context, candidates []*cluster.Guest) {
	if !slices.ContainsFunc(candidates, r.canReplicate) {
		return
	}
	var list []struct {
		Guest  number `json:"guest"`
		Target string `json:"target"`
	}
	if err := r.get(ctx, "/cluster/replication", &list); err != nil {
		return // then nothing is known of them
	}
	targets := map[int][]string{}
	for _, j := range list {
		targets[int(j.Guest)] = append(targets[int(j.Guest)], j.Target)
	}
	for _, g := range candidates {
		if to := targets[g.VMID]; len(to) > 0 {
			slices.Sort(to)
			r.inv.Replication = append(r.inv.Replication, cluster.Replication{VMID: g.VMID, Targets: to})
		}
	}
}

// canReplicate reports whether a guest has a disk that a replication job would copy.
func (r *reader) canReplicate(g *cluster.Guest) bool {
	return g.Config != nil && slices.ContainsFunc(pve.Drives(g.Config.Raw), func(d pve.Drive) bool {
		s := r.inv.Storage(d.Storage, g.Node)
		return s != nil && cluster.StorageTypeOf(s.Type).Replicates
	})
}
