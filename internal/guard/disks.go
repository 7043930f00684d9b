package guard

import (
	"fmt"
	"slices"

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
// provider cannot remove such a disk from the state, an import reads the VM without it. begun
// is whether an apply of stackgen completes the VM.
func (k *keeper) detached(updates []effect.Update, begun bool) []finding.Step {
	f, lost := &finding.Finding{}, detached(updates)
	again := append([]finding.Line{k.remove}, finding.Lines("stackgen import-blocks")...)
	switch unadded := slices.Contains(harmsOf(updates), effect.Unadded); {
	case unadded && begun:
		return f.Next("let an apply complete the VM: it imports it again", "stackgen apply "+shell.Path(k.spec)).Steps
	case unadded:
		f.Add(finding.Step{What: "remove the VM from the state and import it again, so that the next apply adds the disk", Lines: again})
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

// LacksDisk reports whether the state of a VM has a disk that the VM does not have. The
// provider cannot update such a VM. The volumes of a container are made with it.
func LacksDisk(r *tf.Resource, g *cluster.Guest) bool {
	disks := Disks(g)
	lacks := func(at string) bool { return disks[at] == "" }
	return r.Type == guest.VMResource && disks != nil && (r.Values.NamelessDisks() || slices.ContainsFunc(r.Values.Devices("disk"), lacks))
}
