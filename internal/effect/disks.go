package effect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/natural"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// withHidden are the changes and what else an update of disks does, which no plan has.
func (v *VM) withHidden(changes []tf.Change) []tf.Change {
	out := append(slices.Clone(changes), v.lostDisks(changes)...)
	ofDisks := func(c tf.Change) bool { return c.Path == "disk" || strings.HasPrefix(c.Path, "disk.") }
	if !slices.ContainsFunc(out, ofDisks) {
		return out
	}
	for _, at := range slices.SortedFunc(maps.Keys(v.Disks), natural.Compare) {
		has := func(path string) bool {
			return slices.ContainsFunc(out, func(c tf.Change) bool { return c.Path == path && c.Device == at })
		}
		switch {
		case slices.Contains(v.Keeps, at):
			if !has("disk.aio") && !pve.Parse(v.Disks[at]).Has("aio") {
				out = append(out, tf.Change{Path: "disk.aio", Device: at, Is: defaultAIO, Implied: true})
			}
		case !slices.ContainsFunc(out, func(c tf.Change) bool { return c.Whole && c.Device == at }):
			// The provider does not read a disk that no state has, and detaches it.
			out = append(out, tf.Change{Path: "disk", Device: at, Was: v.Disks[at], Whole: true})
		}
	}
	return out
}

// driveWaits reports whether a change of an option of a disk waits for a restart of the VM,
// because of what else is sent for the disk: the provider sends with it all options with which
// Proxmox VE starts the VM, and Proxmox VE compares them as text with those that the VM runs with.
// If one of them differs, or was not there, the whole drive waits. No property sets queues.
func (v *VM) driveWaits(c tf.Change, all []tf.Change) bool {
	text, known := v.Disks[c.Device]
	if !v.Running || !known || !strings.HasPrefix(c.Path, "disk.") {
		return false
	}
	runs, attached := v.Runs[c.Device]
	if v.Runs == nil {
		runs, attached = text, true
	}
	changes := func(name string) bool {
		return slices.ContainsFunc(all, func(other tf.Change) bool { return other.Device == c.Device && other.Path == "disk."+name })
	}
	has, then, virtio := pve.Parse(runs), pve.Parse(text), strings.HasPrefix(c.Device, "virtio")
	return !attached || changes("queues") || slices.ContainsFunc(schema.VMField(guest.Disks).Elem.Fields, func(f schema.Field) bool {
		sent := (f.Key != guest.SSD || !virtio) && (f.Key != guest.IOThread || virtio || strings.HasPrefix(c.Device, "scsi"))
		waits := has.Option(f.PVE) != then.Option(f.PVE) || sent && !has.Has(f.PVE)
		return f.Sent && f.Change != "" && (waits || changes(f.HCL))
	})
}

// defaultAIO is what the provider sets on every disk whose configuration has no aio, with
// any change of any disk, and restarts the VM for.
const defaultAIO = "io_uring"

// lostDisks are the disks of the state that somebody detached, and that the spec does not
// have: the provider reads them as disks without an interface, and refuses to update them
// after it has made its other changes.
func (v *VM) lostDisks(changes []tf.Change) []tf.Change {
	if v.Disks == nil || v.IgnoresDisks || len(v.Keeps) == 0 { // a plan without disks leaves them as they are
		return nil
	}
	var out []tf.Change
	for _, at := range v.State.Devices("disk") {
		_, attached := v.Disks[at]
		seen := slices.ContainsFunc(changes, func(c tf.Change) bool { return c.Whole && c.Path == "disk" && c.Device == at })
		if !attached && !seen && !slices.Contains(v.Keeps, at) {
			out = append(out, tf.Change{Path: "disk", Device: at, Was: v.State.Describe("disk." + at), Whole: true})
		}
	}
	if v.State.NamelessDisks() {
		out = append(out, tf.Change{Path: "disk", Was: "one without an interface", Whole: true})
	}
	return out
}

// lost reports whether a change removes a disk of the state that the VM does not have.
func (v *VM) lost(c tf.Change) bool {
	if _, attached := v.Disks[c.Device]; c.Path != "disk" || v.Disks == nil || attached || !c.Removes() {
		return false
	}
	return c.Device == "" || v.State.Has("disk."+c.Device)
}

// NeverAdded reports whether a disk that the VM does not have is in the state only since an apply failed that would
// have added it: the creation of the VM, or an update. Then the state has no path for it, because no run has read it
// since, or that of another disk whose volume the update would have attached as it. A disk that was detached is an unused
// volume.
func (v *VM) NeverAdded(device string) bool {
	path, known := v.State["disk."+device+".path_in_datastore"]
	storage := v.State["disk."+device+".datastore_id"] + ":"
	switch {
	case v.Begun:
		return true
	case path == "": // an unused volume may be it: attached by an update that failed later, and detached since
		return known && !slices.ContainsFunc(v.Unused, func(volume string) bool { return strings.HasPrefix(volume, storage) })
	case slices.Contains(v.Unused, v.State.Volume(device)):
		return false
	}
	for other, text := range v.Disks {
		if d := pve.ParseDrive(other, text); other != device && cmp.Or(d.Name, d.File) == path {
			return true
		}
	}
	return false
}
