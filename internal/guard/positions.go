package guard

import (
	"cmp"
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
	g, v := p.in.Inventory.Guest(vmidOf(c.Change.Before)), p.spec(c)
	if c.Change.Actions.Update() {
		p.does[c.Address], _ = p.effects(c, g)
	}
	f := p.add(c).Is(finding.WouldHarm, strings.Replace(string(effect.Shares), "an apply would", "the plan would", 1))
	for _, t := range taken {
		from := slices.IndexFunc(before.Devices("disk"), func(at string) bool { return before.Volume(at) == t.Volume })
		if from >= 0 {
			f.Because("the plan has %s for %s, which is the volume of %s", t.Volume, t.Device, before.Devices("disk")[from])
		} else {
			f.Because("the plan has %s for %s, and no disk of the state has that volume", t.Volume, t.Device)
		}
	}
	if entry := p.entries[KeyOf(c)]; v != nil && entry != nil && g != nil {
		taken = formerVolumes(before, v, entry, g, taken)
	}
	updates := (&effect.VM{}).Updates(taken)
	addUpdates(f, updates, false)
	if v == nil {
		f.Next(renderAndPlan, "stackgen render")
	} else {
		f.Steps = append(f.Steps, addSteps(v, p.lock.Spec, g, before, updates, lock.StateRemove(p.unit.Stack, p.unit.Unit, c.Address))...)
	}
	return true
}

// sharedVolumes are changes of a VM with the volumes that a plan would have for the disks
// which they add. had are the disks of the state before the plan, in their order.
func sharedVolumes(had []string, state effect.Values, v *schema.VM, entry *lock.VM, changes []effect.Change) []effect.Change {
	out, order := slices.Clone(changes), entry.OrderedDisks(v)
	for i := range out {
		c := &out[i]
		at := slices.IndexFunc(order, func(d *schema.Node) bool { return d.Get("interface").Str() == c.Device })
		if c.Path == "disk" && c.Adds() && at >= 0 && at < len(had) && !slices.Contains(had, c.Device) {
			c.Volume = state.Volume(had[at])
		}
	}
	return out
}

// importedDisks is what an import reads of the disks of a VM: in the order of their
// interfaces, in which the module has those of the spec meanwhile, new ones among them.
func importedDisks(g *cluster.Guest) ([]string, effect.Values) {
	disks, values := configuredDisks(g), effect.Values{}
	slices.SortFunc(disks, natural.Compare)
	for _, at := range disks {
		values["disk."+at+".path_in_datastore"] = volumeAt(g, at) // with its datastore
	}
	return disks, values
}

// addedDisks judges the disks that an update of a VM in its state adds: which of them get the
// volume of another disk, which had a volume before, and which a second apply adds.
func (s *subject) addedDisks(changes []effect.Change) []effect.Change {
	state, v := &s.states[0], s.match.VM
	had, later := state.Disks, s.later(state, v)
	for i := range changes {
		if c := &changes[i]; c.Path == "disk" && c.Adds() && slices.Contains(later, c.Device) {
			c.Later = true
		}
	}
	if len(later) > 0 {
		had = without(had, without(had, diskInterfaces(v)))
	}
	return formerVolumes(state.Values, v, s.entry, s.guest, sharedVolumes(had, state.Values, v, s.entry, changes))
}

// addSteps are the ways out where updates add disks with the volumes of others, or empty ones
// instead of volumes that the VM has. remove is the line that removes the VM from its state.
func addSteps(v *schema.VM, spec string, g *cluster.Guest, state effect.Values, updates []effect.Update, remove finding.Line) []finding.Step {
	steps := formerSteps(v, spec, g, updates, remove)
	removes := len(without(state.Devices("disk"), diskInterfaces(v))) > 0
	former := slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Harm == effect.Abandons })
	shares := slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Volume != "" })
	switch {
	case !shares && !(former && removes):
		return steps
	case removes && !former:
		steps = append(steps, finding.Do("let stackgen make two applies of it, one that removes disks and one that adds some", "stackgen apply "+shell.Path(spec)))
	}
	return append(steps, addLast(v, spec, state.Devices("disk"))...)
}

// newDisks says of updates that add disks to a VM with unused volumes that the disks are
// empty: which disks these volumes were, nothing says.
func newDisks(f *finding.Finding, g *cluster.Guest, updates []effect.Update) {
	for _, u := range updates {
		if unused := unusedVolumes(g); u.Path == "disk" && u.Adds() && u.Does != effect.Settles && u.Harm == "" && len(unused) > 0 {
			f.Because("%s is a new, empty disk: the VM keeps its unused volumes %s", u.Device, strings.Join(unused, ", "))
		}
	}
}

// otherAddresses says which network devices that are moved get the addresses of another one:
// addresses belong to numbers, and the spec leaves these where they are.
func otherAddresses(f *finding.Finding, g *cluster.Guest, updates []effect.Update) {
	for _, u := range updates {
		n, moves := strings.CutPrefix(u.Device, "net")
		if moves = moves && u.Path == effect.NICs+".mac_address" && u.From != ""; !moves {
			continue
		}
		is, was := g.Config.Raw["ipconfig"+n], g.Config.Raw["ipconfig"+strings.TrimPrefix(u.From, "net")]
		changed := slices.ContainsFunc(updates, func(other effect.Update) bool {
			return strings.HasPrefix(other.Path, "initialization.ip_config") && (other.Device == u.Device || other.Device == "" && n == "0")
		})
		if is != was && !changed {
			f.Because("%s gets the addresses of %s: %s instead of %s", u.Is, u.Device, cmp.Or(is, "none"), cmp.Or(was, "none"))
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
		what = "or make two applies yourself: write into " + spec + " first what remains, and then what is added"
		lines = append(lines, "stackgen apply "+shell.Path(spec))
	}
	return f.Next(what, append(lines, specLine(v, hardware.Disks(v, nil)), "stackgen render")...).Steps
}
