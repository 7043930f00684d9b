package report

import (
	"fmt"
	"strings"
)

// A Node is what a node has to do before and after VMs were placed by load. Shares are of the whole
// node, and negative where more is needed than there is.
type Node struct {
	Node           string   `json:"node"`
	VMs            int      `json:"vms"`                  // placed there now, with containers
	Containers     int      `json:"containers,omitempty"` // of these
	Strategies     []string `json:"strategies"`
	Out            []string `json:"out,omitempty"` // why it could not have some of them
	CPU            float64  `json:"free_cpu_before"`
	FreeMemory     float64  `json:"free_memory_before"`
	CPUWith        float64  `json:"free_cpu"`
	FreeMemoryWith float64  `json:"free_memory"`
	CPUs           float64  `json:"cpus"`
	NeededCPUs     float64  `json:"needed_cpus"` // in use, and of the VMs that were placed
	Memory         int64    `json:"memory"`      // bytes
	NeededMemory   int64    `json:"needed_memory"`
}

// loads say why VMs are where they are, and which nodes have less than they need.
func (r *Resolve) loads() []string {
	var out []string
	for i := range r.Nodes {
		if len(r.Nodes) > 1 {
			out = append(out, r.Nodes[i].why())
		}
	}
	for i := range r.Nodes {
		if text := r.Nodes[i].short(); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// why says what the strategies saw of a node.
func (n *Node) why() string {
	text := fmt.Sprintf("%s: %s by %s", n.Node, guestsOf(n.VMs-n.Containers, n.Containers), strings.Join(n.Strategies, " and "))
	switch {
	case n.CPUs == 0 || n.Memory == 0:
	case n.VMs == 0:
		text += fmt.Sprintf("; free CPU %.0f%%, free memory %.0f%%", 100*n.CPU, 100*n.FreeMemory)
	default:
		text += fmt.Sprintf("; free CPU %.0f%% -> %.0f%%, free memory %.0f%% -> %.0f%%",
			100*n.CPU, 100*n.CPUWith, 100*n.FreeMemory, 100*n.FreeMemoryWith)
	}
	if len(n.Out) > 0 {
		few := ""
		if n.VMs > 0 {
			few = " for others"
		}
		text += "; out" + few + ": " + strings.Join(n.Out, "; ")
	}
	return text
}

// short is a warning about what is promised to two VMs, or nothing.
func (n *Node) short() string {
	var of []string
	if n.VMs > 0 && n.NeededCPUs > n.CPUs {
		of = append(of, fmt.Sprintf("%.0f CPUs of %.0f", n.NeededCPUs, n.CPUs))
	}
	if n.VMs > 0 && n.NeededMemory > n.Memory {
		of = append(of, fmt.Sprintf("%.1f GiB of memory of %.1f", gib(n.NeededMemory), gib(n.Memory)))
	}
	if of == nil {
		return ""
	}
	return fmt.Sprintf("warning: %s: what is in use and %s placed there need %s: some are promised twice",
		n.Node, guestsOf(n.VMs-n.Containers, n.Containers), strings.Join(of, " and "))
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }
