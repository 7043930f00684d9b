package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A Decision is what the cluster decided for a VM. What it lacks was decided before, or
// is in the spec.
type Decision struct {
	Stack, Key  string
	Container   bool
	Template    *lock.Template
	Clone       string
	CloneReason string
	Node        string
	Strategy    string
	Candidates  []Candidate // with a strategy that uses the load
}

// A Resolver decides what only the cluster knows. Resolve is for [lock.Options].
type Resolver struct {
	Decisions []Decision
	Problems  int // that Resolve returned

	inv    *cluster.Inventory
	hosts  map[string]*Host
	before map[string]Host // what they had to do before this run
	guests map[int]*cluster.Guest
	counts map[string]map[string]int // stack -> node -> VMs by placement
	known  map[string]bool           // STACK/KEY of VMs whose node was known at first
}

// New begins with what the nodes have to do, and what the lock and the specs have placed
// there that does not run yet. again are VMs, as STACK/KEY, whose decisions do not
// count.
func New(p *schema.Project, l *lock.Lock, inv *cluster.Inventory, again []string) *Resolver {
	r := &Resolver{
		inv:    inv,
		hosts:  map[string]*Host{},
		before: map[string]Host{},
		guests: map[int]*cluster.Guest{},
		counts: map[string]map[string]int{},
		known:  map[string]bool{},
	}
	for i := range inv.Guests {
		r.guests[inv.Guests[i].VMID] = &inv.Guests[i]
	}
	for _, n := range inv.Nodes {
		r.hosts[n.Name] = &Host{Name: n.Name, CPUs: float64(n.CPUs), Busy: n.CPU * float64(n.CPUs), Memory: n.Memory, Used: n.Used}
	}
	for _, s := range p.Stacks {
		r.counts[s.Name] = map[string]int{}
		r.takePlaced(s, entriesOf(p, s, l), again)
	}
	for name, h := range r.hosts {
		r.before[name] = *h
	}
	return r
}

// takePlaced counts the VMs of a stack that lock and spec have placed.
func (r *Resolver) takePlaced(s *schema.Stack, entries map[string]*lock.VM, again []string) {
	for _, v := range s.VMs {
		name, e, node := s.Name+"/"+v.Key, entries[v.Key], v.Node
		if e != nil && !slices.Contains(again, name) {
			if node = cmp.Or(node, e.Node); v.Placement != nil && e.Node != "" {
				r.counts[s.Name][e.Node]++
			}
		}
		if node == "" {
			continue
		}
		r.known[name] = true
		var g *cluster.Guest // the VM, if it exists
		if e != nil {
			g = r.guests[e.VMID]
		}
		switch {
		case g == nil:
			r.take(node, v)
		case g.Status != "running":
			r.take(g.Node, v)
		}
	}
}

// entriesOf are the entries of a stack by the keys that its VMs have now.
func entriesOf(p *schema.Project, s *schema.Stack, l *lock.Lock) map[string]*lock.VM {
	i := slices.IndexFunc(l.Stacks, func(e lock.Entry[lock.Stack]) bool { return p.NewName(e.Key) == s.Name })
	if i < 0 {
		return map[string]*lock.VM{}
	}
	out := l.Stacks[i].Value.VMs.ByKey()
	for _, r := range s.Renamed {
		if out[r.To] == nil {
			out[r.To] = out[r.From]
		}
	}
	return out
}

// take counts a VM that was placed on a node.
func (r *Resolver) take(node string, v *schema.VM) {
	if h := r.hosts[node]; h != nil {
		h.Take(need(v))
	}
}

// need is what a VM needs once it runs.
func need(v *schema.VM) Need {
	if v.Values.Get(guest.Started).Off() {
		return Need{}
	}
	return Need{CPUs: float64(v.VCPUs()), Memory: int64(v.Values.Get(guest.Memory).Int()) << 20}
}

// Resolve decides what out leaves open. It returns what keeps it from that. template is what a
// Template of the project has on a node, or nil if the VM is made from none.
func (r *Resolver) Resolve(
	s *schema.Stack, v *schema.VM, was, out *lock.VM, template func(node string) *lock.Template,
) []schema.Problem {
	d := Decision{Stack: s.Name, Key: v.Key, Container: v.IsContainer()}
	var problem *schema.Problem
	if template == nil {
		problem = r.template(v, was, out, &d)
	}
	if problem == nil && out.Node == "" {
		problem = r.node(s, v, out, &d, template)
	}
	if problem == nil && template != nil && out.Template == nil && out.Node != "" {
		out.Template = template(out.Node)
		d.Template = out.Template
	}
	if problem != nil {
		r.Problems++
		return []schema.Problem{*problem}
	}
	if out.Template != nil && out.Clone == "" {
		r.clone(v, out, &d)
	}
	if name := s.Name + "/" + v.Key; !r.known[name] && out.Node != "" {
		r.take(out.Node, v)
		if v.Placement != nil {
			r.counts[s.Name][out.Node]++
		}
	}
	if d.Template != nil || d.Clone != "" || d.Node != "" {
		r.Decisions = append(r.Decisions, d)
	}
	return nil
}

// clone decides the clone mode.
func (r *Resolver) clone(v *schema.VM, out *lock.VM, d *Decision) {
	out.Clone, out.CloneReason = feasible.Full, fmt.Sprintf("template %d cannot be seen", out.Template.VMID)
	if t := r.guests[out.Template.VMID]; t != nil {
		out.Clone, out.CloneReason = feasible.CloneMode(r.inv, v, t, out.Node)
	}
	d.Clone, d.CloneReason = out.Clone, out.CloneReason
}

// node decides the node.
func (r *Resolver) node(
	s *schema.Stack, v *schema.VM, out *lock.VM, d *Decision, template func(node string) *lock.Template,
) *schema.Problem {
	p := v.Placement
	if !p.NeedsCluster() {
		return nil // no node is free, which the lock says
	}
	d.Strategy = p.Strategy
	if v.Adopt {
		g := r.guests[out.VMID]
		if g == nil {
			return &schema.Problem{
				Pos:     v.At(guest.Adopt),
				Path:    v.Path,
				Code:    schema.CodeNoNode,
				Message: fmt.Sprintf("%s %d, which it adopts, cannot be seen, so its node is not known", v.Kind.Name(), out.VMID),
				Fix:     "correct the VMID, or write node: NAME",
			}
		}
		out.Node, d.Node = g.Node, g.Node
		return nil
	}
	rule := Rule{p.Strategy, p.CPU, p.Memory}
	for _, name := range p.Nodes {
		entry := *out
		if template != nil {
			if entry.Template = template(name); entry.Template == nil {
				d.Candidates = append(d.Candidates, Candidate{Node: name, Out: "the Template " + v.Template.Name + " has no template there"})
				continue
			}
		}
		if why := r.out(s, v, &entry, name); why != "" {
			d.Candidates = append(d.Candidates, Candidate{Node: name, Out: why})
			continue
		}
		d.Candidates = append(d.Candidates, r.hosts[name].With(need(v), rule, r.counts[s.Name][name]))
	}
	best := rule.Choose(d.Candidates)
	if best == nil {
		var why []string
		for _, c := range d.Candidates {
			why = append(why, c.Node+": "+c.Out)
		}
		return &schema.Problem{
			Pos:     p.Pos,
			Path:    v.Path + ".placement",
			Code:    schema.CodeNoNode,
			Message: "no node can have it: " + strings.Join(why, "; "),
			Fix:     "add nodes to the placement, or change what keeps the VM from these",
		}
	}
	out.Node, d.Node = best.Node, best.Node
	return nil
}

// nodeChecks are the checks of a creation that depend on the node.
var nodeChecks = []feasible.Check{
	feasible.NodeCheck, feasible.ArchiveCheck, feasible.LinkedCheck, feasible.CrossNodeCheck, feasible.StorageCheck,
	feasible.NetworkCheck, feasible.CPUCheck, feasible.MemoryCheck,
}

// out says why a node cannot have a VM, or nothing.
func (r *Resolver) out(s *schema.Stack, v *schema.VM, entry *lock.VM, node string) string {
	n, full := r.inv.Node(node), v.Placement.MaxPerNode
	switch {
	case n == nil:
		return "the cluster has no such node"
	case !n.Online:
		return n.Down()
	case n.CPUs == 0 || n.Memory == 0:
		return "its load cannot be seen; the token lacks Sys.Audit on /nodes/" + node
	case full > 0 && r.counts[s.Name][node] >= full:
		return fmt.Sprintf("already has max_per_node (%d) guests of the stack", full)
	}
	e := *entry
	if e.Node = node; e.Template != nil && e.Clone == "" {
		e.Clone = feasible.Full
		if t := r.guests[e.Template.VMID]; t != nil {
			e.Clone, _ = feasible.CloneMode(r.inv, v, t, node)
		}
	}
	obstacles, _ := feasible.Creation(r.inv, v, &e)
	for _, o := range obstacles {
		if slices.Contains(nodeChecks, o.Check) {
			return o.Reason
		}
	}
	return ""
}
