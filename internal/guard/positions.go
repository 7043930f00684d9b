package guard

import (
	"fmt"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// The provider knows the disks of a VM by their positions in a list. Where a plan has
// another disk at a position than the state, it has the volume of that disk there. An
// update leaves the volumes of disks that the VM has, and attaches that volume as a disk
// that the VM does not have: two disks on one image, or the image of a removed disk as a
// new one. No plan may do that, and without a plan the positions tell it.

// sharesVolumes refuses a plan that has a volume for a disk which the state does not have.
func (p *planJudge) sharesVolumes(c *tfjson.ResourceChange) bool {
	if c.Type != TypeVM || c.Change.After == nil {
		return false
	}
	before, after := effect.Flatten(c.Change.Before), effect.Flatten(c.Change.After)
	var taken []effect.Change
	for _, at := range after.Devices("disk") {
		if volume := after.Volume(at); volume != "" && !before.Has("disk."+at) {
			taken = append(taken, effect.Change{Path: "disk", Device: at, Is: volume, Whole: true, Volume: volume})
		}
	}
	if len(taken) == 0 {
		return false
	}
	if c.Change.Actions.Update() {
		p.does[c.Address], _ = p.effects(c, p.in.Inventory.Guest(vmidOf(c.Change.Before)))
	}
	f := p.add(c).Is(finding.WouldHarm, strings.Replace(string(effect.Shares), "an apply would", "the plan would", 1))
	for _, t := range taken {
		for _, other := range before.Devices("disk") {
			if before.Volume(other) == t.Volume {
				f.Because("the plan has %s for %s, which is the volume of %s", t.Volume, t.Device, other)
				t.Volume = ""
			}
		}
		if t.Volume != "" {
			f.Because("the plan has %s for %s, and no disk of the state has that volume", t.Volume, t.Device)
		}
	}
	addUpdates(f, (&effect.VM{}).Updates(taken), false)
	if v := p.spec(c); v == nil {
		f.Next(renderAndPlan, "stackgen render")
	} else {
		f.Steps = append(addLast(v, p.lock.Spec, before.Devices("disk")),
			sameDisk(v, p.in.Inventory.Guest(vmidOf(c.Change.Before)), before, lock.StateRemove(p.unit.Stack, p.unit.Unit, c.Address))...)
	}
	return true
}

// sharedVolumes are changes of a VM with the volumes that a plan would have for the disks
// which they add.
func sharedVolumes(state *Resource, v *schema.VM, entry *lock.VM, changes []effect.Change) []effect.Change {
	out, order := slices.Clone(changes), entry.OrderedDisks(v)
	for i := range out {
		c := &out[i]
		at := slices.IndexFunc(order, func(d *schema.Node) bool { return d.Get("interface").Str() == c.Device })
		if c.Path == "disk" && c.Adds() && at >= 0 && at < len(state.Disks) && !slices.Contains(state.Disks, c.Device) {
			c.Volume = state.Values.Volume(state.Disks[at])
		}
	}
	return out
}

// importedDisks is what an import reads of the disks of a VM: in the order of their
// interfaces, in which the module has those of the spec meanwhile, new ones among them.
func importedDisks(g *cluster.Guest) *Resource {
	r := &Resource{Disks: configuredDisks(g), Values: effect.Values{}}
	slices.SortFunc(r.Disks, natural.Compare)
	for at, text := range Disks(g) {
		volume, _, _ := strings.Cut(strings.TrimPrefix(text, "file="), ",")
		r.Values["disk."+at+".path_in_datastore"] = volume // with its datastore
	}
	return r
}

// sharedSteps are the ways out where updates attach the volumes of other disks.
func (s *subject) sharedSteps(updates []effect.Update) []finding.Step {
	if !slices.Contains(harmsOf(updates), effect.Shares) {
		return nil
	}
	if len(s.states) == 0 {
		return addLast(s.match.VM, s.at.Spec, configuredDisks(s.guest), "stackgen import-blocks")
	}
	state := s.states[0].Values
	return append(addLast(s.match.VM, s.at.Spec, state.Devices("disk")), sameDisk(s.match.VM, s.guest, state, s.stateRemove(s.Resource))...)
}

// sameDisk is the step that gives a disk another interface, where the spec removes one disk
// and adds one. Its volume is that of the state, so it is that disk.
func sameDisk(v *schema.VM, g *cluster.Guest, state effect.Values, remove finding.Line) []finding.Step {
	had, is := state.Devices("disk"), diskInterfaces(v)
	removed := slices.DeleteFunc(slices.Clone(had), func(at string) bool { return slices.Contains(is, at) })
	added := slices.DeleteFunc(slices.Clone(is), func(at string) bool { return slices.Contains(had, at) })
	if len(removed) != 1 || len(added) != 1 || g == nil || g.Config == nil {
		return nil
	}
	from, to, volume := removed[0], added[0], state.Volume(removed[0])
	attached, _, _ := strings.Cut(strings.TrimPrefix(g.Config.Raw[from], "file="), ",")
	if volume == "" || attached != volume || g.Config.Raw[to] != "" || strings.Contains(g.Config.Raw["boot"], from) {
		return nil
	}
	lines := finding.Lines(set(g, "--delete "+shell.Word(from)), set(g, "--"+to+" "+shell.Word(volume)))
	lines = append(append(lines, remove), finding.Lines("stackgen import-blocks")...)
	return []finding.Step{{What: fmt.Sprintf("or, if %s is the disk that %s was, give it that interface yourself, and import the VM again", to, from), Lines: lines}}
}

// newDisks says of updates that add disks to a VM with unused volumes that the disks are
// empty: which disks these volumes were, nothing says.
func newDisks(f *finding.Finding, g *cluster.Guest, updates []effect.Update) {
	for _, u := range updates {
		if unused := unusedVolumes(g); u.Path == "disk" && u.Adds() && !u.Held && u.Harm == "" && len(unused) > 0 {
			f.Because("%s is a new, empty disk: the VM keeps its unused volumes %s", u.Device, strings.Join(unused, ", "))
		}
	}
}

// addLast are the steps that add disks after those that the state has, and not together with
// the removal of one. A render without the new disks makes the lock forget their positions.
// first are lines before an apply without them, if that imports the VM.
func addLast(v *schema.VM, spec string, had []string, first ...string) []finding.Step {
	f := &finding.Finding{}
	old := hardware.Disks(v, func(at string) bool { return slices.Contains(had, at) })
	if old == "" {
		return f.Next("keep one of the disks that the VM has, and apply that first: an apply either removes disks or adds some").Steps
	}
	lines := append([]string{specLine(v, old), "stackgen render"}, first...)
	what := "to put it after the other disks, write into " + spec + " what the VM has, and then what it gets"
	if len(first) > 0 {
		what = "to add it after the import, write into " + spec + " what the VM has, import the VM, and then what it gets"
		lines = append(lines, "stackgen apply "+shell.Path(spec))
	} else if removes := slices.ContainsFunc(had, func(at string) bool { return !slices.Contains(diskInterfaces(v), at) }); removes {
		what = "an apply either removes disks or adds some: write into " + spec + " first what remains, and then what is added"
		lines = append(lines, "stackgen apply "+shell.Path(spec))
	}
	return f.Next(what, append(lines, specLine(v, hardware.Disks(v, nil)), "stackgen render")...).Steps
}
