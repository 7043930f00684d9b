package placement

import (
	"math"
	"slices"
	"strings"

	"stackgen/internal/natural"
)

// A Load is what a node has to do before and after VMs were placed by load.
type Load struct {
	Node          string
	VMs           int      // placed there now, with containers
	Containers    int      // of these
	Strategies    []string // that placed VMs, or could have
	Out           []string // why it could not have some of them
	Before, After Host
}

// Loads are the nodes among which VMs were placed by load, in natural order.
func (r *Resolver) Loads() []Load {
	at := map[string]*Load{}
	for _, d := range r.Decisions {
		for _, c := range d.Candidates {
			l := at[c.Node]
			if l == nil {
				l = &Load{Node: c.Node, Before: r.before[c.Node]}
				if h := r.hosts[c.Node]; h != nil {
					l.After = *h
				}
				at[c.Node] = l
			}
			l.add(&d, &c)
		}
	}
	var out []Load
	for _, l := range at {
		l.Strategies, l.Out = each(l.Strategies), each(l.Out)
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Load) int { return natural.Compare(a.Node, b.Node) })
	return out
}

// add notes a decision for which the node was a candidate.
func (l *Load) add(d *Decision, c *Candidate) {
	l.Strategies = append(l.Strategies, d.Strategy)
	if c.Out != "" {
		l.Out = append(l.Out, c.Out)
	}
	if c.Node == d.Node {
		l.VMs++
		if d.Container {
			l.Containers++
		}
	}
}

// each is each text once.
func each(all []string) []string {
	slices.SortFunc(all, strings.Compare)
	return slices.Compact(all)
}

// Free are the shares of CPU and memory that are free; negative if more is needed than
// there is.
func (h *Host) Free() (cpu, memory float64) {
	if h.CPUs == 0 || h.Memory == 0 {
		return 0, 0
	}
	rounded := func(share float64) float64 { return math.Round(share*1e9) / 1e9 }
	return rounded(1 - h.Busy/h.CPUs), rounded(1 - float64(h.Used)/float64(h.Memory))
}
