package discover

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// fitsContainer reports whether a container can be in a spec at all, and notes why not.
func (p *proposer) fitsContainer(g *cluster.Guest) bool {
	kind, why := p.Obstacle(g, "")
	if kind != "" {
		p.left(g, kind, why)
	}
	return kind == ""
}

// Obstacle is why a container cannot be in a spec, or empty. own is its entry, STACK/KEY, if it has one. No
// command is printed that writes a whole network: the container may run.
func (in *Input) Obstacle(g *cluster.Guest, own string) (Kind, Reason) {
	unreadable := hardware.FindUnreadable(g.Config.Raw)
	unidentified := in.unidentified(g, own)
	limit, cores := g.Config.Raw["cpulimit"], g.Config.Raw["cores"]
	again := ""
	if unreadable != nil && unreadable.Property == guest.Networks {
		again = ", while it is off: Proxmox VE connects a running one again"
	}
	switch {
	case g.Lock != "":
		return Locked, Reason{
			Config: "lock=" + g.Lock,
			Why:    "its configuration may be about to change: run this command again once that has ended",
		}
	case len(networksOf(g)) == 0:
		return NoNetwork, Reason{Why: "it has no network, and a spec knows a container by the MAC addresses of its networks: " +
			"give it one, or leave it out"}
	case unidentified != "":
		return Unknown, Reason{Why: unidentified}
	case unreadable != nil:
		return Unfit, Reason{
			Config: unreadable.Key + "=" + g.Config.Raw[unreadable.Key],
			Why: "the provider cannot read " + unreadable.Cannot + ", and every plan of the stack would fail: " +
				unreadable.Step + again,
		}
	case limit != "" && limit != "0" && cores == "":
		r := Reason{
			Config: "cpulimit=" + limit,
			Why: "the provider cannot read what Proxmox VE says of a container with a limit and without cores, " +
				"and every plan of the stack would fail: set cores, such as all of its node, which it may use now",
		}
		if n := in.Inventory.Node(g.Node); n != nil && n.CPUs > 0 {
			r.Commands = []string{pve.Pvesh("set", g.Path("config"), fmt.Sprintf("--cores %d", n.CPUs))}
		}
		return Unfit, r
	}
	return "", Reason{}
}

// unidentified is why MAC addresses do not say which container it is, or "". A container has no UUID.
func (in *Input) unidentified(g *cluster.Guest, own string) string {
	macs := g.Config.MACs
	if len(macs) < len(networksOf(g)) {
		return "one of its networks has no hwaddr, and a spec knows a container by the MAC addresses of its networks: " +
			"Proxmox VE gives it one when the network is changed while the container is off"
	}
	for _, mac := range macs {
		if fits, want := schema.Matches("chosenmac", mac); !fits {
			return fmt.Sprintf("its MAC address %s is not %s", mac, want)
		}
		if other := in.holder(g, own, mac); other != "" {
			return fmt.Sprintf("%s has its MAC address %s, too, and a spec knows a container by the MAC addresses of its networks: "+
				"give one of the two another one", other, mac)
		}
	}
	return ""
}

// networksOf are the keys of the networks of a container.
func networksOf(g *cluster.Guest) (out []string) {
	for key := range g.Config.Raw {
		if name, n := pve.SplitKey(key); name == "net" && n >= 0 {
			out = append(out, key)
		}
	}
	return out
}

// shared are the MAC addresses of a guest that something else has, too. It is a VM: a container with such an
// address gets no entry, and a VM is known by its UUID.
func (in *Input) shared(g *cluster.Guest) (out []string) {
	for _, mac := range g.Config.MACs {
		if other := in.holder(g, "", mac); other != "" {
			out = append(out, mac+" of "+other)
		}
	}
	return out
}

// holder is what else has a MAC address of a guest: another guest, or an entry of the project that is no
// guest yet; "" if nothing has. own is its own entry.
func (in *Input) holder(g *cluster.Guest, own, mac string) string {
	same := func(other string) bool { return strings.EqualFold(other, mac) }
	for i := range in.Inventory.Guests {
		other := &in.Inventory.Guests[i]
		if other.VMID != g.VMID && !other.Template && slices.ContainsFunc(other.Identified().MACs, same) {
			return fmt.Sprintf("%s %d", other.Kind.Name(), other.VMID)
		}
	}
	for _, s := range in.Lock.Stacks {
		for _, e := range s.Value.VMs {
			if s.Key+"/"+e.Key != own && e.Value.Status != lock.Forgotten && slices.ContainsFunc(e.Value.RecordedMACs(), same) {
				return s.Key + "/" + e.Key + " of the lock"
			}
		}
	}
	if in.Project == nil { // the specs have errors, which are reported
		return ""
	}
	for _, s := range in.Project.Stacks {
		for _, v := range s.VMs {
			if s.Name+"/"+v.Key != own && slices.ContainsFunc(v.MACs, same) {
				return s.Name + "/" + v.Key + " of the specs"
			}
		}
	}
	return ""
}
