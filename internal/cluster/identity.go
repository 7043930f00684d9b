package cluster

import (
	"stackgen/internal/lock"
)

// Identity returns what tells this cluster from another one, as far as it could be
// read, in the form that the lock records. It is nil if nothing could be read.
func (inv *Inventory) Identity() *lock.Cluster {
	out := &lock.Cluster{CA: inv.CA, Name: inv.Cluster}
	for _, n := range inv.Nodes {
		out.Nodes = append(out.Nodes, lock.ClusterNode{Name: n.Name, Address: n.Address})
	}
	if out.CA == "" && len(out.Nodes) == 0 {
		return nil
	}
	return out
}
