package guard

import (
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
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
		f.Steps = append(f.Steps, addLast(v, p.lock.Spec, before.Devices("disk"))...)
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

// sharedSteps are the ways out where updates attach the volumes of other disks.
func sharedSteps(v *schema.VM, spec string, had []string, updates []effect.Update) []finding.Step {
	if !slices.Contains(harmsOf(updates), effect.Shares) {
		return nil
	}
	return addLast(v, spec, had)
}

// addLast are the steps that add disks after those that the state has, and not together with
// the removal of one. A render without the new disks makes the lock forget their positions.
func addLast(v *schema.VM, spec string, had []string) []finding.Step {
	f := &finding.Finding{}
	old := hardware.Disks(v, func(at string) bool { return slices.Contains(had, at) })
	if old == "" {
		return f.Next("keep one of the disks that the VM has, and apply that first: an apply either removes disks or adds some").Steps
	}
	lines := []string{specLine(v, old), "stackgen render"}
	what := "to put it after the other disks, write into " + spec + " what the VM has, and then what it gets"
	if removes := slices.ContainsFunc(had, func(at string) bool { return !slices.Contains(diskInterfaces(v), at) }); removes {
		what = "an apply either removes disks or adds some: write into " + spec + " first what remains, and then what is added"
		lines = append(lines, "stackgen apply "+shell.Path(spec))
	}
	return f.Next(what, append(lines, specLine(v, hardware.Disks(v, nil)), "stackgen render")...).Steps
}
