package guard

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// The provider knows the disks of a VM by their positions in a list. Where a plan has
// another disk at a position than the state, it has the volume of that disk there. An
// update leaves the volumes of disks that the VM has, and attaches that volume as a disk
// that the VM does not have: two disks on one image, or the image of a removed disk as a
// new one. No plan may do that, and without a plan the positions tell it.

// sharesVolumes refuses a plan that has a volume for a disk which the state does not have.
func (p *planJudge) sharesVolumes(c *tf.ResourceChange) bool {
	if c.Type != guest.VMResource || c.After == nil {
		return false
	}
	before, after := tf.Flatten(c.Before), tf.Flatten(c.After)
	var taken []tf.Change
	for _, at := range after.Devices("disk") {
		if volume := after.Volume(at); volume != "" && !before.Has("disk."+at) {
			taken = append(taken, tf.Change{Path: "disk", Device: at, Is: volume, Whole: true, Volume: volume})
		}
	}
	if len(taken) == 0 {
		return false
	}
	g, v := p.in.Inventory.Guest(tf.VMIDOf(c.Before)), p.spec(c)
	if c.Action == tf.Update {
		p.does[c.Address], _ = p.effects(c, g)
	}
	disks := before.Devices("disk")
	f := p.add(c)
	for _, t := range taken {
		if from := slices.IndexFunc(disks, func(at string) bool { return before.Volume(at) == t.Volume }); from >= 0 {
			f.Because("the plan has %s for %s, which is the volume of %s", t.Volume, t.Device, disks[from])
		} else {
			f.Because("the plan has %s for %s, and no disk of the state has that volume", t.Volume, t.Device)
		}
	}
	if entry := p.entries[c.Key]; v != nil && entry != nil && g != nil {
		taken = formerVolumes(before, v, entry, g, taken)
	}
	updates := (&effect.VM{}).Updates(taken)
	f.Is(finding.WouldHarm, harmReason(harmsOf(updates)))
	if all := p.does[c.Address]; len(all) > 0 {
		updates = all
	}
	addUpdates(f, updates, false)
	if v == nil || g == nil || g.Config == nil {
		f.Next(renderAndPlan, "stackgen render")
	} else {
		k := p.keeper(c, g, v)
		k.state = before // of an import, what it reads
		f.Steps = append(f.Steps, k.add(updates)...)
	}
	return true
}

// sharedVolumes are changes of a VM with the volumes that a plan would have for the disks
// which they add. had are the disks of the state before the plan, in their order.
func sharedVolumes(had []string, state tf.Values, v *schema.VM, entry *lock.VM, changes []tf.Change) []tf.Change {
	out, order := slices.Clone(changes), schema.Interfaces(entry.OrderedDisks(v))
	for i := range out {
		c := &out[i]
		at := slices.Index(order, c.Device)
		if c.Path == "disk" && c.Adds() && at >= 0 && at < len(had) && !slices.Contains(had, c.Device) {
			c.Volume = state.Volume(had[at])
		}
	}
	return out
}

// importedDisks is what an import reads of the disks of a VM: in the order of their
// interfaces, in which the module has those of the spec meanwhile, new ones among them.
func importedDisks(g *cluster.Guest) ([]string, tf.Values) {
	disks, values := configuredDisks(g), tf.Values{}
	slices.SortFunc(disks, natural.Compare)
	for _, at := range disks {
		values["disk."+at+".path_in_datastore"] = volumeAt(g, at) // with its datastore
	}
	return disks, values
}

// sharesPositions blocks an apply in which a disk that the spec adds would get the volume of
// another one, or an empty one although the VM has its volume, as the positions of the disks
// tell it. It needs no plan, and no level of the guard that judges one.
func (s *subject) sharesPositions() {
	planned := !s.notInState() && s.Planned[tf.Unit{Stack: s.Stack, Unit: s.Unit}] // import-blocks judges no plan
	if s.Destroy || s.Stops() || planned || !s.comparable() || s.profile.Ignores("disk") {
		return
	}
	updates := (&effect.VM{}).Updates(s.addedDisks())
	updates = slices.DeleteFunc(updates, func(u effect.Update) bool { return u.Harm != effect.Shares && u.Harm != effect.Abandons })
	if len(updates) == 0 {
		return
	}
	imported, importing := s.notInState(), !s.notInState() && s.importing()
	s.Import, s.Steps = "", nil
	s.Is(finding.WouldHarm, harmReason(harmsOf(updates)))
	addUpdates(s.Finding, updates, true)
	switch k := s.keeper(); {
	case imported:
		s.Reason, s.Steps = finding.Why("after-import").Of(s.Reason), k.addAfterImport()
	case importing && slices.Contains(harmsOf(updates), effect.Shares):
		s.Next("remove the import file: while it has the VM, its disks are in the order of their interfaces", "stackgen import-blocks")
	default:
		s.Steps = k.add(updates)
	}
}

// comparable reports whether the spec of the VM and its configuration can be compared: both are
// known, and its profile does not ignore all of it.
func (s *subject) comparable() bool {
	return s.match.VM != nil && s.guest.Config != nil && len(s.guest.Config.Raw) > 0 && s.profile != nil && !s.profile.IgnoreAll
}

// addedDisks are the disks that an apply would add: which of them get the volume of another
// disk, and which had a volume before. Those that a second apply adds are not among them.
func (s *subject) addedDisks() []tf.Change {
	v, entry := s.match.VM, s.entry
	if s.notInState() {
		had, volumes := importedDisks(s.guest)
		return sharedVolumes(had, volumes, v, &lock.VM{}, additions(v, func(at string) bool { return !slices.Contains(had, at) }))
	}
	state, disks := &s.states[0], Disks(s.guest)
	had, later := state.Disks, s.later(state, v)
	if s.importing() {
		entry = &lock.VM{} // the module has them in the order of their interfaces, new ones among them
	}
	changes := additions(v, func(at string) bool {
		return !slices.Contains(state.Disks, at) && disks[at] == "" && !slices.Contains(later, at)
	})
	if len(later) > 0 {
		had = without(had, without(had, v.Interfaces()))
	}
	return formerVolumes(state.Values, v, s.entry, s.guest, sharedVolumes(had, state.Values, v, entry, changes))
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
