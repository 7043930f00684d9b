package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/lock"
)

// Fingerprint returns what the lock records of a guest, or nil if its
// configuration was not read or has neither a UUID nor a MAC address.
func (g *Guest) Fingerprint() *lock.Fingerprint {
	if g.Config == nil || g.Config.UUID == "" && len(g.Config.MACs) == 0 {
		return nil
	}
	return &lock.Fingerprint{UUID: g.Config.UUID, MACs: slices.Clone(g.Config.MACs)}
}

// Identified returns the UUID and MAC addresses of a guest, as far as they were read.
func (g *Guest) Identified() Identity {
	switch {
	case g.Config != nil:
		return Identity{UUID: g.Config.UUID, MACs: g.Config.MACs}
	case g.Identity != nil:
		return *g.Identity
	}
	return Identity{}
}

// States are the VMs that states have, or that runs began to create, by STACK/KEY.
type States map[string]StateVM

// A StateVM is what a state records of a VM.
type StateVM struct {
	VMID    int // 0 if the state does not have it
	Name    string
	MACs    []string
	Planned bool // no read followed its creation, so its MAC addresses are those of the plan
	Newer   bool // it was created there, perhaps after the lock's observation of it
	Begun   Begun
}

// A Begun is the record of a run that began to create a VM, and may not have completed it.
type Begun struct {
	VMID int    // 0 if there is none
	UUID string // that the lock recorded then, of the guest that had the VMID before
	Done bool   // the state says that the creation was completed since

	Replaces bool // a guest of the VM: what the state has may be of that one

	Clone *CloneRecord // of a container that is cloned
}

// An identity is what is recorded of one VM that tells it from others.
type identity struct {
	uuid      string   // of the fingerprint
	seen      []nic    // of a VM that was seen
	planned   []nic    // decided, and perhaps never seen
	complete  bool     // all NICs have a decided MAC address, and no state has the VM
	inState   bool     // the state has the VM
	begun     bool     // a run began to create the VM, as its record or the state says
	stateName string   // in the state; empty if that has no VM
	all       []string // seen and planned addresses, upper case
}

// A nic is a recorded MAC address.
type nic struct{ mac, where string }

// nicsIn are MAC addresses with the place that records them.
func nicsIn(where string, macs []string) []nic {
	var out []nic
	for _, mac := range macs {
		out = append(out, nic{mac, where})
	}
	return out
}

// recordedOf collects what lock and state record of a VM. What they record under
// another VMID is of another VM, except the addresses that were decided.
func recordedOf(entry *lock.VM, state StateVM, vmid int) identity {
	var r identity
	if entry.IsContainer() { // its state may have the MAC addresses of a stranger
		state.VMID, state.MACs, state.Begun = 0, nil, Begun{}
	}
	if state.VMID == vmid && vmid != 0 {
		if nics := nicsIn("the state", state.MACs); state.Planned {
			r.planned = nics
		} else {
			r.seen = nics
		}
		r.stateName, r.inState = state.Name, true
	}
	r.begun = vmid != 0 && (state.Begun.VMID == vmid || r.inState && state.Planned)
	if entry != nil {
		if f := entry.Fingerprint; f != nil && entry.VMID == vmid {
			r.uuid = f.UUID
			r.seen = append(r.seen, nicsIn("the lock", f.MACs)...)
		}
		decided := entry.DecidedMACs()
		r.complete = len(decided) > 0 && len(decided) == len(entry.MACs) && (state.VMID != vmid || state.Planned)
		r.planned = append(r.planned, nicsIn("the lock", decided)...)
	}
	for _, n := range slices.Concat(r.seen, r.planned) {
		if mac := strings.ToUpper(n.mac); !slices.Contains(r.all, mac) {
			r.all = append(r.all, mac)
		}
	}
	return r
}

// contradicts reports whether a guest has another UUID than the recorded one, which decides
// whatever else agrees: people give a successor the MAC addresses of a VM, to keep its
// reservation in DHCP.
func (r *identity) contradicts(g *Guest) bool {
	return r.uuid != "" && g.Config != nil && !strings.EqualFold(r.uuid, g.Config.UUID)
}

// createdAgain reports whether our own run created the VM again after its recorded guest
// was gone, so that a guest has another UUID than the recorded one: the run recorded which
// UUID that was, or the state is newer than the observation and has the guest's name and all
// of its MAC addresses, as right after a creation.
func createdAgain(entry *lock.VM, state StateVM, g *Guest) bool {
	if entry == nil || entry.Fingerprint == nil {
		return false
	}
	begun := state.Begun.VMID == g.VMID && strings.EqualFold(state.Begun.UUID, entry.Fingerprint.UUID)
	newer := state.VMID == g.VMID && state.Newer && state.Name == cmp.Or(g.Name, g.Config.Raw["name"]) && sameMACs(state.MACs, g.Config.MACs)
	return begun || newer
}

// sameMACs reports whether two lists have the same MAC addresses, and any.
func sameMACs(a, b []string) bool {
	return len(a) > 0 && len(a) == len(b) && !slices.ContainsFunc(a, func(mac string) bool { return !hasMAC(b, mac) })
}

// recorded reports whether there is something that the VM must agree with.
func (r *identity) recorded() bool { return r.uuid != "" || len(r.seen) > 0 }

// decided reports whether a VM that was created from the lock would have one of its
// MAC addresses.
func (r *identity) decided() bool { return r.complete }

// compare says in words what agrees with a guest, and what does not. One MAC address
// is enough where no UUID is recorded, because NICs may be added and removed. Proxmox VE
// never changes a UUID, and gives every clone another one.
func (r *identity) compare(g *Guest) (agrees, differ []string) {
	if g.Config == nil {
		return nil, nil
	}
	is := g.Identified()
	for _, mac := range r.all {
		where := strings.Join(r.places(mac), " and ")
		if hasMAC(is.MACs, mac) {
			agrees = append(agrees, fmt.Sprintf("its MAC %s is recorded in %s", mac, where))
		} else {
			differ = append(differ, fmt.Sprintf("no NIC has the MAC %s, which is recorded in %s", mac, where))
		}
	}
	switch {
	case r.uuid == "":
	case strings.EqualFold(r.uuid, is.UUID):
		agrees = append(agrees, "its smbios1 uuid is the recorded one")
	default:
		differ = append(differ, fmt.Sprintf("smbios1 uuid is %s, recorded is %s", cmp.Or(is.UUID, "none"), r.uuid))
	}
	return agrees, differ
}

// places say where a MAC address is recorded.
func (r *identity) places(mac string) []string {
	var out []string
	for _, n := range slices.Concat(r.seen, r.planned) {
		if strings.EqualFold(n.mac, mac) && !slices.Contains(out, n.where) {
			out = append(out, n.where)
		}
	}
	slices.Sort(out)
	return out
}

func hasMAC(macs []string, mac string) bool {
	return slices.ContainsFunc(macs, func(m string) bool { return strings.EqualFold(m, mac) })
}

// A Copy is a guest with another VMID that has the identity of a VM.
type Copy struct {
	*Guest
	MACs []string // that it shares with what is recorded, upper case
	Seen bool     // the identity is of a VM that was seen: it is that VM, or a copy of it
}

// addCopies adds to every match the guests with another VMID that have its identity. A
// guest that is about to be destroyed as a retired VM leaves its MAC addresses to others.
func (r *matcher) addCopies(inv *Inventory) {
	retired := map[int]bool{}
	for _, m := range r.out {
		if m.Guest != nil && m.Entry != nil && m.Entry.Status == lock.Retired {
			retired[m.VMID] = true
		}
	}
	index := guestIndex{map[string][]*Guest{}, map[string][]*Guest{}}
	for i := range inv.Guests {
		if g := &inv.Guests[i]; !retired[g.VMID] {
			index.add(g)
		}
	}
	for i := range r.out {
		m := &r.out[i]
		m.Copies = slices.DeleteFunc(index.copies(&r.known[i], m.VMID), func(c Copy) bool { return !m.mayBe(c.Guest) })
	}
}

// A guestIndex has guests by what tells them from others.
type guestIndex struct {
	byMAC  map[string][]*Guest // upper case
	byUUID map[string][]*Guest // lower case
}

// add adds a guest.
func (x guestIndex) add(g *Guest) {
	is := g.Identified()
	for _, mac := range is.MACs {
		x.byMAC[strings.ToUpper(mac)] = append(x.byMAC[strings.ToUpper(mac)], g)
	}
	if is.UUID != "" {
		x.byUUID[strings.ToLower(is.UUID)] = append(x.byUUID[strings.ToLower(is.UUID)], g)
	}
}

// copies are the guests with an identity that do not have the VMID of its VM, by VMID.
func (x guestIndex) copies(known *identity, vmid int) []Copy {
	copies := map[int]*Copy{}
	of := func(g *Guest) *Copy {
		if copies[g.VMID] == nil {
			copies[g.VMID] = &Copy{Guest: g}
		}
		return copies[g.VMID]
	}
	for _, mac := range known.all {
		for _, g := range x.byMAC[mac] {
			c := of(g)
			c.MACs = append(c.MACs, mac)
			c.Seen = c.Seen || known.saw(mac)
		}
	}
	for _, g := range x.byUUID[strings.ToLower(known.uuid)] {
		of(g).Seen = true
	}
	delete(copies, vmid)
	var out []Copy
	for _, vmid := range slices.Sorted(maps.Keys(copies)) {
		out = append(out, *copies[vmid])
	}
	return out
}

// saw reports whether a VM with a MAC address was seen.
func (r *identity) saw(mac string) bool {
	return slices.ContainsFunc(r.seen, func(n nic) bool { return strings.EqualFold(n.mac, mac) })
}
