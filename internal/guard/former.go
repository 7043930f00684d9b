package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A disk that gets another interface, or that a spec removes and has again later, is a new,
// empty disk to the provider, and Proxmox VE keeps the volume that it had. Which disk an
// unused volume was, only the state and the lock say: an apply records it before it removes
// a disk.

// without are words that other words do not have.
func without(words, others []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(others, word) })
}

// volumeAt is the volume of a disk of a guest, or "".
func volumeAt(g *cluster.Guest, at string) string {
	return pve.ParseDrive(at, Disks(g)[at]).File
}

// detachedDisks are the disks that a spec removes or has removed, and whose volumes the VM
// has: what the lock records.
func detachedDisks(r *tf.Resource, v *schema.VM, entry *lock.VM, g *cluster.Guest) []string {
	out, spec := []string{}, v.Interfaces()
	if len(spec) == 0 { // it leaves the disks as they are
		return out
	}
	all := slices.Clone(entry.Detached)
	for _, at := range without(r.Values.Devices("disk"), spec) {
		if text := at + "=" + r.Values.Volume(at); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for _, text := range all {
		at, volume, _ := strings.Cut(text, "=")
		if isUnused(g, volume) || volume != "" && volumeAt(g, at) == volume && !slices.Contains(spec, at) {
			out = append(out, text)
		}
	}
	slices.SortFunc(out, natural.Compare)
	return out
}

// formerVolumes are changes of a VM in which each disk that is added, and empty, has the
// volume that it had before: that of its interface in the lock, or of a disk of the same
// size on the same storage that the same update removes.
func formerVolumes(state tf.Values, v *schema.VM, entry *lock.VM, g *cluster.Guest, changes []tf.Change) []tf.Change {
	out := slices.Clone(changes)
	var removed []string
	if v != nil {
		removed = without(state.Devices("disk"), v.Interfaces())
	}
	for i := range out {
		c := &out[i]
		if c.Path != "disk" || !c.Adds() || c.Present || volumeAt(g, c.Device) != "" {
			continue
		}
		for _, volume := range entry.DetachedVolumes(c.Device) {
			if isUnused(g, volume) {
				c.Former = volume
			}
		}
		at := slices.IndexFunc(removed, func(at string) bool {
			return c.Former == "" && volumeAt(g, at) != "" && volumeAt(g, at) == state.Volume(at) && alike(state, at, v, c.Device)
		})
		if at >= 0 {
			c.Former = state.Volume(removed[at])
			removed = slices.Delete(removed, at, at+1)
		}
	}
	return out
}

// alike reports whether a disk of a state and one of a spec have the same size and storage.
func alike(state tf.Values, had string, v *schema.VM, at string) bool {
	d := v.Disk(at)
	return d != nil && d.Get(guest.Size).Str() == state["disk."+had+".size"] &&
		d.Get(guest.Datastore).Str() == state["disk."+had+".datastore_id"]
}

// unusedEntry is the entry of a VM's configuration that has a volume as an unused one.
func unusedEntry(g *cluster.Guest, volume string) string {
	for n := range 256 {
		if entry := fmt.Sprintf("unused%d", n); g.Config.Raw[entry] == volume {
			return entry
		}
	}
	return ""
}
