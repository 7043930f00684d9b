package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// Observed returns what the lock records of the cluster now: what was read, and what
// was recorded where less could be read than before.
func (inv *Inventory) Observed(recorded *lock.Cluster) *lock.Cluster {
	now := inv.Identity()
	if now == nil || recorded == nil {
		return cmp.Or(now, recorded)
	}
	now.CA = cmp.Or(now.CA, recorded.CA)
	if len(addresses(now)) == 0 {
		now.Name = cmp.Or(now.Name, recorded.Name)
		for i := range now.Nodes {
			if j := indexNode(recorded, now.Nodes[i].Name); j >= 0 {
				now.Nodes[i].Address = recorded.Nodes[j].Address
			}
		}
	}
	return now
}

// A Sameness is the result of comparing a cluster with the recorded one.
type Sameness int

// The results.
const (
	SameCluster    Sameness = iota // or nothing is recorded
	OtherCluster                   // another certificate authority, or nothing in common
	CopiedCluster                  // the same certificate authority at other addresses only: a copy, or all nodes have new addresses
	UnclearCluster                 // the addresses of the nodes could not be read
)

// Compare compares the cluster with the recorded one. A certificate authority tells
// clusters apart, unless one is a restored copy of the other. Therefore one recorded
// address must belong to this cluster too, as far as addresses are recorded: a cluster
// that grows or replaces nodes keeps some of its addresses at each step.
func (inv *Inventory) Compare(recorded *lock.Cluster) Sameness {
	if recorded == nil {
		return SameCluster
	}
	now := inv.Identity()
	if now == nil {
		return UnclearCluster
	}
	known, seen := addresses(recorded), addresses(now)
	common := slices.ContainsFunc(known, func(a string) bool { return a == inv.Address || slices.Contains(seen, a) })
	sameNode := slices.ContainsFunc(now.Nodes, func(n lock.ClusterNode) bool { return indexNode(recorded, n.Name) >= 0 })
	switch {
	case recorded.CA != "" && now.CA != "" && recorded.CA != now.CA:
		return OtherCluster
	case common, len(known) == 0 && sameNode:
		return SameCluster
	case len(known) > 0 && len(seen) == 0:
		return UnclearCluster
	case recorded.CA != "" && recorded.CA == now.CA:
		return CopiedCluster
	}
	return OtherCluster
}

// addresses are the addresses of the nodes of a cluster.
func addresses(c *lock.Cluster) []string {
	var out []string
	for _, n := range c.Nodes {
		if n.Address != "" {
			out = append(out, n.Address)
		}
	}
	return out
}

func indexNode(c *lock.Cluster, name string) int {
	return slices.IndexFunc(c.Nodes, func(n lock.ClusterNode) bool { return n.Name == name })
}

// Differences are what is new in the cluster since it was recorded, as far as it could
// be read.
func (inv *Inventory) Differences(recorded *lock.Cluster) []string {
	now := inv.Identity()
	if now == nil || recorded == nil {
		return nil
	}
	var out []string
	if now.Name != recorded.Name && len(addresses(now)) > 0 {
		out = append(out, fmt.Sprintf("its name is %s, and was %s", cmp.Or(now.Name, "none"), cmp.Or(recorded.Name, "none")))
	}
	for _, n := range now.Nodes {
		switch i := indexNode(recorded, n.Name); {
		case i < 0:
			out = append(out, "node "+n.Name+" is new")
		case n.Address != "" && n.Address != recorded.Nodes[i].Address && recorded.Nodes[i].Address != "":
			out = append(out, fmt.Sprintf("the address of node %s is %s, and was %s", n.Name, n.Address, recorded.Nodes[i].Address))
		}
	}
	for _, n := range recorded.Nodes {
		if indexNode(now, n.Name) < 0 {
			out = append(out, "node "+n.Name+" is no longer a member")
		}
	}
	return out
}

// DescribeCluster names a cluster in a few words.
func DescribeCluster(c *lock.Cluster) string {
	const few = 4
	var nodes []string
	for _, n := range c.Nodes[:min(few, len(c.Nodes))] {
		nodes = append(nodes, strings.TrimSpace(n.Name+" "+n.Address))
	}
	if more := len(c.Nodes) - few; more > 0 {
		nodes = append(nodes, fmt.Sprintf("%d more", more))
	}
	what := "a server"
	switch {
	case c.Name != "":
		what = "cluster " + c.Name
	case len(c.Nodes) > 1:
		what = "a cluster"
	}
	switch len(nodes) {
	case 0:
		return what
	case 1:
		return what + " with node " + nodes[0]
	}
	return what + " with nodes " + strings.Join(nodes, ", ")
}
