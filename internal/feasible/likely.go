package feasible

import (
	"cmp"
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A Demand is what the VMs that are about to be created or migrated need of a node or
// storage, where that is more than is free: a warning, because a start may succeed, and a
// disk is written later.
type Demand struct {
	Reason   string
	Evidence []string
}

// A Created is a VM that is about to be created.
type Created struct {
	VM    *schema.VM
	Entry *lock.VM
}

// Likely returns what probably fails because VMs are created, or running ones migrated:
// the sum of their memory is more than is free on their node, or the sum of the full
// clones and of the volumes of containers is more than is free on a storage.
func Likely(inv *cluster.Inventory, created, migrated []Created) []Demand {
	out := slices.Concat(memoryDemands(inv, created, migrated), diskDemands(inv, created))
	slices.SortFunc(out, func(a, b Demand) int { return cmp.Compare(a.Reason, b.Reason) })
	return out
}

// memoryDemands are the demands on the memory of nodes.
func memoryDemands(inv *cluster.Inventory, created, migrated []Created) []Demand {
	memory, starts, arrivals := map[string]int64{}, map[string][]Created{}, map[string][]Created{}
	for _, x := range migrated {
		memory[x.Entry.Node] += int64(x.VM.Values.Get(guest.Memory).Int()) << 20
		arrivals[x.Entry.Node] = append(arrivals[x.Entry.Node], x)
	}
	for _, x := range created {
		if newCreation(inv, x.VM, x.Entry).starts() {
			memory[x.Entry.Node] += int64(x.VM.Values.Get(guest.Memory).Int()) << 20
			starts[x.Entry.Node] = append(starts[x.Entry.Node], x)
		}
	}
	var out []Demand
	for _, n := range inv.Nodes {
		if free := n.Memory - n.Used; n.Memory > 0 && memory[n.Name] > free {
			start, arrive := kindsOf(starts[n.Name]), kindsOf(arrivals[n.Name])
			what, vms := "are started on", start.String()+" start"
			switch {
			case len(start) == 0:
				what, vms = "are migrated to", arrive.String()+" would arrive"
			case len(arrive) > 0:
				what, vms = "are started on or migrated to", vms+" and "+arrive.String()+" would arrive"
			}
			all := kindsOf(slices.Concat(starts[n.Name], arrivals[n.Name]))
			out = append(out, Demand{"the " + all.Word() + "s that " + what + " node " + n.Name + " have more memory together than is free",
				[]string{fmt.Sprintf("%s with %s; node %s has %s of %s free", vms, gib(memory[n.Name]), n.Name, gib(max(0, free)), gib(n.Memory))}})
		}
	}
	return out
}

// kindsOf counts guests that are created or migrated.
func kindsOf(all []Created) guest.Tally {
	return guest.Count(all, func(x Created) guest.Kind { return x.VM.Kind })
}

// diskDemands are the demands on the space of storages.
func diskDemands(inv *cluster.Inventory, created []Created) []Demand {
	var all []volume
	for _, x := range created {
		c := newCreation(inv, x.VM, x.Entry)
		if t := x.Entry.Template; t != nil {
			c.template = inv.Guest(t.VMID)
		}
		for id, size := range c.sizes() {
			all = append(all, volume{id, c.on, size, "full clone"})
		}
		for _, v := range volumesOf(x.VM) {
			all = append(all, newVolume(v, c.on))
		}
		all = append(all, c.copiedMounts()...)
	}
	return larger(inv, all)
}

// A MovedDisk is a disk that is about to move.
type MovedDisk struct {
	Storage, Node string // that it moves to, and on which node it is
	Size          int64  // bytes
}

// LikelyMoves returns where disks that are about to move are larger together than what is free
// on their storage. A move writes the whole disk.
func LikelyMoves(inv *cluster.Inventory, moved []MovedDisk) []Demand {
	var all []volume
	for _, d := range moved {
		all = append(all, volume{d.Storage, d.Node, d.Size, "moved disk"})
	}
	return larger(inv, all)
}

// A volume is one that a storage is about to have.
type volume struct {
	id, node string
	size     int64
	noun     string // what it is
}

// larger are the storages on which new volumes are larger together than what is free.
func larger(inv *cluster.Inventory, volumes []volume) []Demand {
	type key struct{ id, node string } // no node if it is shared
	of := func(s *cluster.Storage) key {
		if s.Shared {
			return key{s.ID, ""}
		}
		return key{s.ID, s.Node}
	}
	size, count, nouns := map[key]int64{}, map[key]int{}, map[key]string{}
	for _, v := range volumes {
		if s := inv.Storage(v.id, v.node); s != nil {
			size[of(s)] += v.size
			count[of(s)]++
			if noun := nouns[of(s)]; noun == "" || noun == v.noun {
				nouns[of(s)] = v.noun
			} else {
				nouns[of(s)] = "new volume" // of several kinds
			}
		}
	}
	var out []Demand
	for i := range inv.Storages {
		s := &inv.Storages[i]
		k, where := of(s), " of node "+s.Node
		if s.Shared {
			where = ""
		}
		if free := s.Free(); s.Total > 0 && size[k] > free {
			noun := nouns[k]
			out = append(out, Demand{"the " + noun + "s on storage " + s.ID + where + " are larger together than its free space",
				[]string{fmt.Sprintf("%s of %s; %s of %s are free", cluster.Count(count[k], noun), gib(size[k]), gib(free), gib(s.Total))}})
			delete(size, k) // once for a shared one
		}
	}
	return out
}

// sizes are the bytes that a full clone needs, by storage.
func (c *creation) sizes() map[string]int64 {
	if c.isLinked() {
		return nil
	}
	out := map[string]int64{}
	specified := map[string]bool{}
	sizes := map[string]int64{}
	for _, d := range c.drives() {
		if !d.CDROM() {
			sizes[d.Key] = d.Size()
		}
	}
	for _, d := range c.get(guest.Disks).List() {
		key := d.Get(guest.Interface).Str()
		specified[key] = true
		out[d.Get(guest.Datastore).Str()] += max(sizes[key], int64(d.Get(guest.Size).Int())<<30)
	}
	for _, d := range c.drives() {
		if !d.CDROM() && !specified[d.Key] {
			out[cmp.Or(c.target(), d.Storage)] += d.Size()
		}
	}
	return out
}

func gib(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
