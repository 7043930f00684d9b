package guard

import (
	"fmt"
	"net/netip"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// No two guests of a project have one static address. Those of other projects, and of other branches, only the cluster
// knows: where a guest that runs has the address of one that is about to be created and started, both would answer to it.

// An addressIn is a static address in a network, such as vmbr0.20: an address may be in several networks.
type addressIn struct{ address, network string }

// addressesOf are the static addresses that a spec gives to a guest.
func addressesOf(v *schema.VM) []addressIn {
	var out []addressIn
	networks := lock.Networks(v)
	add := func(text string, nic int) {
		if at, err := netip.ParsePrefix(text); err == nil && nic >= 0 && nic < len(networks) {
			out = append(out, addressIn{at.Addr().String(), networks[nic]})
		}
	}
	for _, key := range []string{guest.IPv4, guest.IPv6} {
		add(v.Values.Get(guest.CloudInit, key).Str(), 0)
		for _, ip := range v.Values.Get(guest.CloudInit, guest.IPConfigs).List() {
			_, nic := pve.SplitKey(ip.Get(guest.Device).Str())
			add(ip.Get(key).Str(), nic)
		}
		for nic, n := range v.Values.Get(guest.Networks).List() {
			add(n.Get(key).Str(), nic)
		}
	}
	return out
}

// users are the guests of others that run and have a static address. What an apply does to those of the project, their specs say.
func (j *judge) users(at addressIn) []*cluster.Guest {
	if j.inUse == nil { // most runs need none
		j.useAddresses()
	}
	return j.inUse[at]
}

func (j *judge) useAddresses() {
	own := map[int]bool{}
	for i := range j.all {
		if m := &j.all[i]; m.Guest != nil && m.Entry != nil && m.Entry.Status != lock.Forgotten {
			own[m.Guest.VMID] = true
		}
	}
	j.inUse = map[addressIn][]*cluster.Guest{}
	for i := range j.Inventory.Guests {
		g := &j.Inventory.Guests[i]
		if own[g.VMID] || g.Status != "running" {
			continue
		}
		for address, network := range g.StaticAddresses() {
			at := addressIn{address, network}
			j.inUse[at] = append(j.inUse[at], g)
		}
	}
}

// addressTaken reports whether a guest that runs has a static address of one that is created and started.
func (s *subject) addressTaken() bool {
	v := s.match.VM
	return s.absent() && v != nil && v.Values.Get(guest.Started).Bool() &&
		slices.ContainsFunc(addressesOf(v), func(at addressIn) bool { return len(s.users(at)) > 0 })
}

func (s *subject) conflictAddress() {
	s.Is(finding.Conflict, finding.Why("address-of-other-guest"))
	for _, at := range addressesOf(s.match.VM) {
		for _, g := range s.users(at) {
			s.listed[g.VMID] = true
			s.Because("%s on %s is that of %s", at.address, at.network, Describe(g))
			s.Next(fmt.Sprintf("if %s %d does not use it any more, remove it from its configuration, or shut it down; then run preflight again",
				g.Kind.Name(), g.VMID), inspect(g))
		}
	}
	s.Next("or give this " + s.Word() + " another address in " + s.at.Spec)
}
