package discover

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// choose finds the guests that get an entry in a spec, by VMID, and notes all others.
func (p *proposer) choose() ([]*cluster.Guest, error) {
	if err := p.exist(); err != nil {
		return nil, err
	}
	owners, namesakes := p.match()
	var out []*cluster.Guest
	for i := range p.Inventory.Guests {
		g := &p.Inventory.Guests[i]
		p.count(g)
		m, owned := owners[g.VMID]
		owned = owned && !g.Template
		switch {
		case owned && m.Kind() != g.Kind && (m.Entry == nil || m.Entry.Status == lock.Live):
			p.left(g, Unclear, Reason{Why: fmt.Sprintf("%s/%s has its VMID, and is a %s: `stackgen preflight` says what to do",
				m.Stack, m.Key, m.Kind().Name())})
		case owned && (m.Entry == nil || m.Entry.Status == lock.Live && m.VM != nil):
			p.out.Count.addInSpecs(g)
			p.left(g, InSpec, Reason{Why: "in the spec of " + m.Stack + "/" + m.Key})
		case owned:
			p.left(g, Leaving, Reason{Why: "the lock has it as " + m.Stack + "/" + m.Key + ", which no spec has any more"})
		case !p.Selects(g):
			if !g.Template {
				p.out.Count.addOther(g)
			}
		case !p.taken(g, namesakes[g.VMID]) && p.fits(g):
			out = append(out, g)
		}
	}
	return out, nil
}

// match finds the guests that are VMs of specs or of the lock, by the VMID that these have, and
// the namesakes of VMs of specs that are no guest yet. It notes the VMs that do not exist yet.
func (p *proposer) match() (owners, namesakes map[int]cluster.Match) {
	owners, namesakes = map[int]cluster.Match{}, map[int]cluster.Match{}
	for _, m := range cluster.Matches(p.Project.Stacks, p.Lock, nil, p.Inventory) {
		if m.VMID != 0 {
			owners[m.VMID] = m
		}
		if m.Guest != nil || m.VM == nil {
			continue
		}
		seen := m.Entry != nil && m.Entry.Fingerprint != nil // it was applied, then deleted, or is hidden
		if m.Holder == nil && !m.VM.Adopt && len(m.Others) == 0 && !seen {
			p.absent[m.Stack] = append(p.absent[m.Stack], m.Key)
		}
		for _, g := range m.Others {
			namesakes[g.VMID] = m
		}
	}
	return owners, namesakes
}

// taken reports whether a guest is one of another project, or may be the one of a spec whose
// name it has, and notes that.
func (p *proposer) taken(g *cluster.Guest, namesake cluster.Match) bool {
	if claim := p.Inventory.Claimed(p.Others, g); claim != nil {
		p.left(g, Elsewhere, Reason{Why: "another project manages it, as " + claim.String() + ": " +
			"two projects with one " + g.Kind.Name() + " change and destroy it without seeing each other. " +
			"To move it here, forget it there first: `forgotten: [" + claim.Key + "]`"})
		return true
	}
	if namesake.VM == nil {
		return false
	}
	at := namesake.Stack + "/" + namesake.Key
	r := Reason{Why: fmt.Sprintf("it has the name of %s, which no guest is yet: ", at)}
	switch {
	case namesake.Kind() != g.Kind:
		r.Why += "rename one of the two"
	default:
		r.Why += "if it is that " + g.Kind.Name() + ", adopt it; otherwise rename one of the two"
		r.Commands = []string{fmt.Sprintf("stackgen adopt %s=%d", at, g.VMID)}
	}
	p.left(g, Unclear, r)
	return true
}

// exist refuses VMIDs, pools, nodes and tags that were asked for and do not exist.
func (p *proposer) exist() error {
	var errs []error
	for _, vmid := range p.VMIDs {
		switch g := p.Inventory.Guest(vmid); {
		case g == nil:
			errs = append(errs, fmt.Errorf("the cluster has no guest %d that can be seen", vmid))
		case g.Template && g.Kind == guest.Container:
			errs = append(errs, fmt.Errorf("%d is a template of containers: a spec does not manage it", vmid))
		case g.Template:
			errs = append(errs, fmt.Errorf("%d is a template: a spec names it as `template: %d`, and does not manage it", vmid, vmid))
		}
	}
	some := func(r Request) bool {
		return slices.ContainsFunc(p.Inventory.Guests, func(g cluster.Guest) bool { return r.Selects(&g) })
	}
	for _, pool := range p.Pools {
		if !slices.ContainsFunc(p.Inventory.Pools, func(o cluster.Pool) bool { return o.ID == pool }) && !some(Request{Pools: []string{pool}}) {
			errs = append(errs, fmt.Errorf("--pool %s: the cluster has no such pool that can be seen", pool))
		}
	}
	for _, node := range p.Nodes {
		if p.Inventory.Node(node) == nil {
			errs = append(errs, fmt.Errorf("--node %s: the cluster has no such node", node))
		}
	}
	for _, tag := range p.Tags {
		if !some(Request{Tags: []string{tag}}) {
			errs = append(errs, fmt.Errorf("--tag %s: no guest that can be seen has this tag", tag))
		}
	}
	return errors.Join(errs...)
}

func (p *proposer) count(g *cluster.Guest) {
	if !g.Template && g.Config == nil && g.Identity == nil {
		p.out.Unread++
	}
	c := &p.out.Count
	c.Guests++
	switch {
	case g.Template:
		c.Templates++
	case g.Kind == guest.Container:
		c.Containers++
	default:
		c.VMs++
	}
}

// left notes a guest that gets no spec, if it was asked for.
func (p *proposer) left(g *cluster.Guest, kind Kind, r Reason) {
	if p.Selects(g) {
		p.out.Left = append(p.out.Left, Left{Kind: kind, Guest: kindName(g), VMID: g.VMID, Name: g.Name, Node: g.Node, Reason: r})
	}
}

// fits reports whether a guest can be in a spec at all, and notes why not.
func (p *proposer) fits(g *cluster.Guest) bool {
	node, _ := schema.Matches("node", g.Node)
	pool, _ := schema.Matches("pool", g.Pool)
	switch {
	case g.Template:
		p.left(g, Template, Reason{Why: "a template"})
	case g.Config == nil || len(g.Config.Raw) == 0:
		p.left(g, Unread, p.unread(g))
	case !node || (!pool || schema.Reserved(g.Pool)) && g.Pool != "":
		p.left(g, Unnamable, Reason{Why: "a spec does not accept the name of its node or pool"})
	case g.Kind == guest.Container:
		return p.fitsContainer(g)
	default:
		r := p.unplannable(g)
		if r.Why == "" {
			return true
		}
		p.left(g, Unfit, r)
	}
	return false
}

// unread is why the configuration of a guest was not read.
func (p *proposer) unread(g *cluster.Guest) Reason {
	out := Reason{Why: "its configuration was not read"}
	if n := p.Inventory.Node(g.Node); n != nil && !n.Online {
		out.Why = "its node does not respond, so its configuration was not read"
		return out
	}
	if gaps := p.Inventory.GapsForVM(g.VMID); len(gaps) > 0 {
		gap := gaps[0]
		out.Why = gap.Reason
		if gap.Fix != "" {
			out.Commands = append(out.Commands, gap.Fix)
		}
		return out
	}
	out.Commands = []string{"stackgen snapshot --all --out cluster.json"}
	return out
}

// agentWhy is why a VM is not plannable, by what its agent does.
var agentWhy = map[string]string{
	cluster.AgentSilent: "its guest agent is enabled and does not answer, so every plan of the stack would wait 15 minutes for it: " +
		"start the agent in the guest, or disable it here",
	cluster.AgentNoAddress: "its guest agent answers and reports no address, so every plan of the stack would wait 15 minutes for one: " +
		"find out why the guest has none, or disable the agent here",
	cluster.AgentRefuses: "its guest agent may not report addresses, so every plan of the stack would wait 15 minutes for one: " +
		"permit guest-network-get-interfaces in the guest, or disable the agent here",
}

// unplannable is why every plan of a stack with the VM would fail or wait, whatever its
// profile is.
func (p *proposer) unplannable(g *cluster.Guest) Reason {
	set := func(options string) []string { return []string{pve.Pvesh("set", g.Path("config"), options)} }
	if u := hardware.FindUnreadable(g.Config.Raw); u != nil {
		r := Reason{
			Config: u.Key + "=" + g.Config.Raw[u.Key],
			Why:    "the provider cannot read " + u.Cannot + ", and every plan of the stack would fail; " + u.Effect,
		}
		if u.Options == "" {
			r.Why += ": " + u.Step
			return r
		}
		r.Commands, r.Neutral = set(u.Options), u.Neutral
		return r
	}
	if g.Status != "running" {
		return Reason{}
	}
	if why := agentWhy[g.Config.Agent]; why != "" {
		return Reason{Config: "agent=" + g.Config.Raw["agent"], Why: why, Commands: set("--agent 0")}
	}
	if agent := g.Config.Raw["agent"]; g.Config.Agent == "" && pve.AgentEnabled(agent) {
		for _, gap := range p.Inventory.GapsForAgent(g.VMID) {
			return Reason{
				Config:   "agent=" + agent,
				Why:      "whether its guest agent answers is not visible, and if it does not, every plan of the stack waits 15 minutes for it",
				Commands: slices.DeleteFunc([]string{gap.Fix}, func(s string) bool { return s == "" }),
			}
		}
	}
	return Reason{}
}

// pending are the entries of a running guest that change when it starts the next time.
func pending(g *cluster.Guest) []string {
	if g.Status != "running" {
		return nil
	}
	return cluster.PendingKeys(hardware.Waiting(g.Kind, g.Config.Pending))
}

// locked is the reason of a VM that only its own state keeps from being managed.
func locked(g *cluster.Guest) Reason {
	return Reason{
		Config: "lock=" + cmp.Or(g.Lock, "none"),
		Why: "it is locked, so its configuration may be about to change: " +
			"once that has ended, `stackgen adopt --match KEY` writes its hardware",
	}
}
