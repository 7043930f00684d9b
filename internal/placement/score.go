package placement

import (
	"math"

	"stackgen/internal/natural"
)

// A Host is a node with its load: what is in use, and what the VMs need that were
// placed there and do not run yet.
type Host struct {
	Name   string
	CPUs   float64
	Busy   float64 // CPUs
	Memory int64   // bytes
	Used   int64   // bytes
}

// A Need is what a VM needs of its node. It is empty for a VM that is not started.
type Need struct {
	CPUs   float64
	Memory int64 // bytes
}

// The strategies that choose by the load of the nodes.
const (
	Score   = "score"   // the most free CPU and memory
	Spread  = "spread"  // the fewest VMs of the stack
	Binpack = "binpack" // the least free memory that is enough
)

// A Rule is how one node is chosen.
type Rule struct {
	Strategy    string
	CPU, Memory float64 // weights of the score
}

// A Candidate is a node as it would be with the VM.
type Candidate struct {
	Node    string
	Out     string  // why it cannot have the VM; nothing else is set then
	Score   float64 // of free CPU and memory, by weight
	CPU     float64 // share; negative if more is promised than there is
	Memory  float64 // share
	VMs     int     // that the stack has there already
	Crowded bool    // the VM needs more memory than is free
	free    int64   // bytes of memory
}

// With is the node with a VM more.
func (h *Host) With(n Need, r Rule, vms int) Candidate {
	c := Candidate{Node: h.Name, VMs: vms, free: h.Memory - h.Used - n.Memory}
	c.CPU, c.Memory = 1-(h.Busy+n.CPUs)/h.CPUs, float64(c.free)/float64(h.Memory)
	c.Crowded = n.Memory > 0 && c.free < 0
	// Rounded, so that a tie is a tie on every processor.
	c.Score = math.Round((r.CPU*c.CPU+r.Memory*c.Memory)*1e9) / 1e9
	return c
}

// Take counts a VM that was placed on the node.
func (h *Host) Take(n Need) {
	h.Busy += n.CPUs
	h.Used += n.Memory
}

// Choose returns the best candidate, or nil if all are out. A node without enough
// free memory is chosen only if no node has enough. Ties go to the first in natural
// order of the names.
func (r Rule) Choose(all []Candidate) *Candidate {
	var best *Candidate
	for i := range all {
		if c := &all[i]; c.Out == "" && (best == nil || r.better(c, best)) {
			best = c
		}
	}
	return best
}

// better reports whether a is chosen before b.
func (r Rule) better(a, b *Candidate) bool {
	if a.Crowded != b.Crowded {
		return b.Crowded
	}
	switch {
	case r.Strategy == Spread && a.VMs != b.VMs:
		return a.VMs < b.VMs
	case r.Strategy == Binpack && !a.Crowded && a.free != b.free:
		return a.free < b.free
	case a.Score != b.Score && (r.Strategy != Binpack || a.Crowded):
		return a.Score > b.Score
	}
	return natural.Compare(a.Node, b.Node) < 0
}
