package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Decision is what was decided for a VM. What it lacks was decided before, or is in
// the spec.
type Decision struct {
	Stack       string      `json:"stack"`
	Key         string      `json:"key"`
	Container   bool        `json:"container,omitempty"`
	Again       bool        `json:"again,omitempty"`
	VMID        int         `json:"vmid"`
	MACs        []string    `json:"macs"`
	Template    *Template   `json:"template,omitempty"`
	Clone       string      `json:"clone,omitempty"`
	CloneReason string      `json:"clone_reason,omitempty"`
	Node        string      `json:"node,omitempty"`
	Strategy    string      `json:"strategy,omitempty"`
	Candidates  []Candidate `json:"candidates,omitempty"` // the nodes to choose from
}

// A Template is where a template was found.
type Template struct {
	VMID int    `json:"vmid"`
	Node string `json:"node"`
	Name string `json:"name,omitempty"` // in the spec
}

// A Candidate is a node as it would be with the VM. Shares are of the whole node, and
// negative where more is promised than there is.
type Candidate struct {
	Node    string  `json:"node"`
	Out     string  `json:"out,omitempty"` // why it cannot have the VM
	Score   float64 `json:"score"`
	CPU     float64 `json:"free_cpu"`
	Memory  float64 `json:"free_memory"`
	VMs     int     `json:"vms"`               // that the stack has there already
	Crowded bool    `json:"crowded,omitempty"` // the VM needs more memory than is free
}

// An Advice is a figure for apply.parallelism of a stack.
type Advice struct {
	Stack  string `json:"stack"`
	Figure int    `json:"figure"`
	Reason string `json:"reason"`
}

// decisions are lines about what was decided, one for all that is alike.
func (r *Resolve) decisions(verbose bool) []string {
	var out, heads []string
	keys := map[string][]string{}
	add := func(d *Decision, format string, args ...any) {
		head := d.Stack + "\x00" + fmt.Sprintf(format, args...)
		if keys[head] == nil || verbose {
			heads = append(heads, head)
		}
		keys[head] = append(keys[head], d.Key)
	}
	for i := range r.Decided {
		d := &r.Decided[i]
		if d.Again {
			out = append(out, fmt.Sprintf("%s/%s: VMID %d, MAC %s", d.Stack, d.Key, d.VMID, cmp.Or(strings.Join(d.MACs, " "), "none")))
		}
	}
	for i := range r.Decided {
		d := &r.Decided[i]
		if t := d.Template; t != nil && t.Name != "" {
			add(d, "template %s is %d on %s", t.Name, t.VMID, t.Node)
		} else if t != nil {
			add(d, "template %d is on %s", t.VMID, t.Node)
		}
	}
	for i := range r.Decided {
		if d := &r.Decided[i]; d.Clone != "" {
			add(d, "%s clone: %s", d.Clone, d.CloneReason)
		}
	}
	for i := range r.Decided {
		if d := &r.Decided[i]; d.Node != "" {
			add(d, "node %s by %s", d.Node, d.Strategy)
		}
	}
	return append(out, joined(heads, keys, verbose)...)
}

// explain prints how the nodes compared for each VM, and the advice.
func (r *Resolve) explain(w io.Writer) {
	var stack []Decision
	for i, d := range r.Decided {
		if len(d.Candidates) > 0 {
			stack = append(stack, d)
		}
		if last := i == len(r.Decided)-1; len(stack) > 0 && (last || r.Decided[i+1].Stack != d.Stack) {
			table(w, stack)
			stack = nil
		}
	}
	for _, a := range r.Advice {
		fmt.Fprintln(w, line(fmt.Sprintf("%s: apply: {parallelism: %d}: %s", a.Stack, a.Figure, a.Reason)))
	}
}

// table prints the nodes of the VMs of a stack, a column for each node.
func table(w io.Writer, all []Decision) {
	var nodes, outs []string
	keys := map[string][]string{}
	for _, d := range all {
		for _, c := range d.Candidates {
			if !slices.Contains(nodes, c.Node) {
				nodes = append(nodes, c.Node)
			}
		}
	}
	fmt.Fprintln(w, line(all[0].Stack+": score of each node with the VM (free CPU, free memory, VMs of the stack)"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  VM\t%s\tnode\n", strings.Join(nodes, "\t"))
	for _, d := range all {
		cells := make([]string, len(nodes))
		for _, c := range d.Candidates {
			cells[slices.Index(nodes, c.Node)] = c.cell()
			if c.Out != "" {
				head := d.Stack + "\x00" + c.Node + " is out: " + c.Out
				if keys[head] == nil {
					outs = append(outs, head)
				}
				keys[head] = append(keys[head], d.Key)
			}
		}
		fmt.Fprintf(t, "  %s\t%s\t%s by %s\n", d.Key, strings.Join(cells, "\t"), d.Node, d.Strategy)
	}
	_ = t.Flush() // w is a buffer
	for _, l := range joined(outs, keys, false) {
		fmt.Fprintln(w, line(l))
	}
}

func (c *Candidate) cell() string {
	if c.Out != "" {
		return "out"
	}
	crowded := ""
	if c.Crowded {
		crowded = ", too little memory"
	}
	return fmt.Sprintf("%.2f (%.0f%%, %.0f%%, %d%s)", c.Score, 100*c.CPU, 100*c.Memory, c.VMs, crowded)
}
