package discover

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// fitsContainer reports whether a container can be in a spec at all, and notes why not. No command is
// printed that writes a whole network: the container may run.
func (p *proposer) fitsContainer(g *cluster.Guest) bool {
	unreadable := hardware.FindUnreadable(g.Config.Raw)
	unidentified := p.unidentified(g)
	limit, cores := g.Config.Raw["cpulimit"], g.Config.Raw["cores"]
	switch {
	case g.Lock != "":
		p.left(g, Locked, Reason{
			Config: "lock=" + g.Lock,
			Why:    "its configuration may be about to change: run this command again once that has ended",
		})
	case unidentified != "":
		p.left(g, Unknown, Reason{Why: unidentified})
	case unreadable != nil:
		p.left(g, Unfit, Reason{
			Config: unreadable.Key + "=" + g.Config.Raw[unreadable.Key],
			Why: "the provider cannot read " + unreadable.Cannot + ", and every plan of the stack would fail: " +
				unreadable.Step + ", while it is off: Proxmox VE connects a running one again",
		})
	case limit != "" && limit != "0" && cores == "":
		r := Reason{
			Config: "cpulimit=" + limit,
			Why: "the provider cannot read what Proxmox VE says of a container with a limit and without cores, " +
				"and every plan of the stack would fail: set cores, such as all of its node, which it may use now",
		}
		if n := p.Inventory.Node(g.Node); n != nil && n.CPUs > 0 {
			r.Commands = []string{pve.Pvesh("set", g.Path("config"), fmt.Sprintf("--cores %d", n.CPUs))}
		}
		p.left(g, Unfit, r)
	default:
		return true
	}
	return false
}

// unidentified is why MAC addresses do not say which container it is, or "". A container has no UUID.
func (p *proposer) unidentified(g *cluster.Guest) string {
	macs, nets := g.Config.MACs, 0
	for key := range g.Config.Raw {
		if name, n := pve.SplitKey(key); name == "net" && n >= 0 {
			nets++
		}
	}
	switch {
	case nets == 0:
		return "it has no network, and a spec knows a container by the MAC addresses of its networks: give it one, or leave it out"
	case len(macs) < nets:
		return "one of its networks has no hwaddr, and a spec knows a container by the MAC addresses of its networks: " +
			"Proxmox VE gives it one when the network is changed while the container is off"
	}
	for _, mac := range macs {
		if fits, want := schema.Matches("chosenmac", mac); !fits {
			return fmt.Sprintf("its MAC address %s is not %s", mac, want)
		}
		if other := p.holder(g, mac); other != "" {
			return fmt.Sprintf("%s has its MAC address %s, too, and a spec knows a container by the MAC addresses of its networks: "+
				"give one of the two another one", other, mac)
		}
	}
	return ""
}

// holder is what else has a MAC address of a container: another guest, or an entry of the project that is no
// guest yet; "" if nothing has.
func (p *proposer) holder(g *cluster.Guest, mac string) string {
	same := func(other string) bool { return strings.EqualFold(other, mac) }
	for i := range p.Inventory.Guests {
		other := &p.Inventory.Guests[i]
		if other.VMID != g.VMID && !other.Template && slices.ContainsFunc(other.Identified().MACs, same) {
			return fmt.Sprintf("%s %d", other.Kind.Name(), other.VMID)
		}
	}
	for _, s := range p.Lock.Stacks {
		for _, e := range s.Value.VMs {
			if e.Value.Status != lock.Forgotten && slices.ContainsFunc(e.Value.RecordedMACs(), same) {
				return s.Key + "/" + e.Key + " of the lock"
			}
		}
	}
	for _, s := range p.Project.Stacks {
		for _, v := range s.VMs {
			if slices.ContainsFunc(v.MACs, same) {
				return s.Name + "/" + v.Key + " of the specs"
			}
		}
	}
	return ""
}
