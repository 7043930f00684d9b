package guard

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// detached are the interfaces of disks that somebody detached, and that the state has.
func detached(updates []effect.Update) []string {
	var out []string
	for _, u := range updates {
		if u.Harm == effect.Empties || u.Harm == effect.Lost {
			out = append(out, u.Device)
		}
	}
	return out
}

// detached are the ways out where the state has disks that the VM does not have. The
// provider cannot remove such a disk from the state, an import reads the VM without it, and an
// apply of stackgen removes from the state what was never added.
func (k *keeper) detached(updates []effect.Update) []finding.Step {
	f, lost := &finding.Finding{}, detached(updates)
	again := append([]finding.Line{k.remove}, finding.Lines("stackgen import-blocks")...)
	if slices.Contains(harmsOf(updates), effect.Unadded) {
		f.Next("let an apply add the disk, which corrects the state first", "stackgen apply "+shell.Path(k.spec))
	}
	if len(lost) == 0 {
		return f.Steps
	}
	for _, at := range lost {
		if volume := k.state.Volume(at); isUnused(k.guest, volume) {
			f.Next("attach the disk again, then run preflight again", set(k.guest, fmt.Sprintf("--%s %s", at, shell.Word(volume))))
		}
	}
	for _, d := range k.differences() {
		switch {
		case d.Field != guest.Disks:
		case d.Line == "":
			return f.Steps // the spec would add a disk
		default:
			return f.Add(finding.Step{What: "to leave it detached, import the VM again without it: write into " + k.spec,
				Lines: append(finding.Lines(append(k.places(keepLines(&d)), "stackgen render")...), again...)}).Steps
		}
	}
	return f.Add(finding.Step{What: "to leave it detached, import the VM again without it", Lines: again}).Steps
}

// resizeUnread are the lines that grow the disks of a running VM which an update would
// grow, where the spec must first have other disks that the state does not have: the
// provider sets aio on these, and then refuses to resize a disk without a restart.
func (k *keeper) resizeUnread(updates []effect.Update, unread []string) []string {
	g := k.guest
	getsAIO := func(at string) bool { return !pve.Parse(g.Config.Raw[at]).Has("aio") }
	if g.Status != "running" || permitsRestart(k.vm) || !slices.ContainsFunc(unread, getsAIO) {
		return nil
	}
	var out []string
	for _, u := range updates {
		if u.Effect == schema.Grow && u.Harm == "" {
			out = append(out, resizeDisk(g, u))
		}
	}
	return out
}

// NeverAdded are the disks and the volumes of firmware in the state of a VM that the VM does not have, because an apply failed
// before it added them: the provider cannot update a VM without such a disk, and never adds such a volume. lists are what the
// state should have instead. begun is whether a run from here began to create the VM, and did not complete it. The volumes of
// a container are made with it.
func NeverAdded(r *tf.Resource, g *cluster.Guest, begun bool) (disks []string, lists []tf.DeviceList) {
	if g == nil || r.Type != guest.VMResource || Disks(g) == nil {
		return nil, nil
	}
	vm := vmEffects(g, false)
	vm.State, vm.Begun = r.Values, begun
	var others []string
	for _, at := range r.Values.Devices("disk") {
		if vm.Disks[at] == "" && vm.NeverAdded(at) {
			disks = append(disks, at)
		} else {
			others = append(others, at)
		}
	}
	if begun && r.Values.NamelessDisks() {
		disks = append(disks, "a disk without an interface")
	}
	lists = append(lists, diskList(others))
	for _, f := range schema.Fields(guest.VM) {
		if begun && f.Sticky && f.Type == schema.Object && r.Values.Has(f.HCL) && g.Config.Raw[f.PVE] == "" {
			disks, lists = append(disks, f.PVE), append(lists, tf.DeviceList{Name: f.HCL})
		}
	}
	return disks, lists
}

// Devices are the lists of devices of a guest in which its state may be wrong after an update that failed, and which no
// refresh corrects: the provider does not read a disk that the state does not have, and the guard refuses to read devices
// that somebody may have added.
func Devices(g *cluster.Guest) []tf.DeviceList {
	nics := tf.DeviceList{Name: schema.FieldOf(g.Kind, guest.Networks).HCL, Key: "mac_address"}
	for _, mac := range g.Config.MACs {
		nics.Has = append(nics.Has, strings.ToUpper(mac))
	}
	if g.Kind != guest.VM {
		return []tf.DeviceList{nics}
	}
	out := []tf.DeviceList{diskList(configuredDisks(g)), nics}
	for _, key := range []string{guest.EFI, guest.TPM, guest.USB, guest.HostPCI, guest.Virtiofs, guest.Startup} {
		f := schema.VMField(key)
		list := tf.DeviceList{Name: f.HCL}
		for entry := range g.Config.Raw {
			is, _ := path.Match(f.PVE, entry)
			list.Any = list.Any || is
		}
		out = append(out, list)
	}
	return out
}

// diskList is the list of the disks of a VM in a state, of which some stay there.
func diskList(interfaces []string) tf.DeviceList {
	list := tf.DeviceList{Name: schema.VMField(guest.Disks).HCL, Key: guest.Interface}
	for _, at := range interfaces {
		list.Has = append(list.Has, strings.ToUpper(at))
	}
	return list
}
