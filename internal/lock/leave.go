package lock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// leave handles the VMs that the lock has and the spec does not.
func (d *stackDecider) leave() {
	var kept, back, removed, unseen, forgotten, dropped Ordered[VM]
	for _, e := range d.lock.VMs {
		v := e.Value
		switch {
		case d.inSpec[e.Key] != nil:
			back = append(back, e)
			v.Status = Live
		case d.retired[e.Key]:
			v.Status = Retired
		case d.forgotten[e.Key]:
			if v.Status == Live {
				forgotten = append(forgotten, e)
			}
			v.Status = Forgotten
		case v.Status == Forgotten && !v.Gone:
			// Its line is gone, and the VM may still exist: its VMID stays reserved, and
			// so does the block that protects it while the state may have it.
		case v.Status == Retired && !v.Gone:
			unseen = append(unseen, e)
		case v.Status != Live:
			dropped = append(dropped, e)
			d.release(&v, d.stack.Name+"/"+e.Key, "")
			continue
		default:
			removed = append(removed, e)
		}
		kept = append(kept, Entry[VM]{e.Key, v})
	}
	d.lock.VMs = kept
	d.old = kept.ByKey()
	d.refuseRemoval(removed)
	for _, e := range unseen {
		f := d.refuseUnseen(finding.VM, e.Key, "retired-vm-unseen")
		if f.VMID = e.Value.VMID; e.Value.Seat > 0 && e.Value.Member == "" { // another student has another number
			f.Add(d.adoptAgain("or, to keep it", "students", e))
		}
	}
	d.manageAgain(back)
	d.noteLeaving(forgotten, dropped)
	units := d.lock.Units.ByKey()
	for _, w := range append(slices.Clone(d.stack.Retired), d.stack.Forgotten...) {
		if d.old[w.Name] == nil && units[w.Name] == nil {
			d.warnUnknown(w, "VM, container or unit")
		}
	}
}

// noteLeaving says what to do about VMs that are forgotten now, and which VMIDs
// are free again.
func (d *stackDecider) noteLeaving(forgotten, dropped Ordered[VM]) {
	for _, kind := range guest.Kinds() {
		of := slices.DeleteFunc(slices.Clone(forgotten), func(e Entry[VM]) bool { return e.Value.In() != UnitOf(kind) })
		if len(of) > 0 {
			d.note("%s: forgotten: %s. While the state has them, the guard blocks every apply; to remove them from it: %s",
				d.stack.Name, strings.Join(of.keys(), ", "), d.stateRemove(of))
		}
	}
	if len(forgotten) > 0 && d.lock.Units.Get(UnitDNS) != nil { // no spec says any more which records they have
		d.note("%s: DNS records of forgotten guests are in the unit %s: an apply of it is blocked while they are in its state. For the "+
			"lines that keep or remove them, run: stackgen preflight %s", d.stack.Name, UnitDNS, shell.Path(d.lock.Spec))
	}
	if len(dropped) > 0 {
		var free []string
		for _, e := range dropped {
			free = append(free, fmt.Sprintf("%s (VMID %d, %s)", e.Key, e.Value.VMID, e.Value.Status))
		}
		d.note("%s: removed from the lock: %s. Their VMIDs are free for other guests",
			d.stack.Name, strings.Join(free, ", "))
	}
}

// Entries is a line of the spec such as `retired: [web01, web02]`, with the keys
// that the spec has there already.
func Entries(list string, ways []schema.ListItem, keys ...string) finding.Line {
	var all []string
	for _, w := range ways {
		all = append(all, w.Name)
	}
	for _, key := range keys {
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return finding.Entries(list, all...)
}

// into is where a line with such a list goes: a spec has one of it, which may be empty.
func (d *stackDecider) into(list string, there bool) string {
	if there {
		return "replace `" + list + "` in " + d.lock.Spec
	}
	return "add to " + d.lock.Spec
}

// newKey is the key that the only guest without one has probably got: the only one that is new in the spec. It is a
// placeholder if that is not clear.
func (d *stackDecider) newKey(removed Ordered[VM]) string {
	var added []*schema.VM
	for _, v := range d.stack.VMs {
		if d.old[v.Key] == nil {
			added = append(added, v)
		}
	}
	if len(removed) != 1 || len(added) != 1 || added[0].Kind != removed[0].Value.Kind ||
		added[0].VMID != 0 && added[0].VMID != removed[0].Value.VMID {
		return "NEW-KEY"
	}
	return added[0].Key
}

// refuseRemoval refuses to drop VMs that the spec no longer has. The lines of one
// refusal name one VM; a report makes one line of them with all VMs.
func (d *stackDecider) refuseRemoval(removed Ordered[VM]) {
	spec := d.lock.Spec
	corrected := d.corrected(removed)
	for i, e := range removed {
		order := ""
		if e.Value.Unit != "" {
			order = ", records first"
		}
		retire := finding.DoAll("to destroy"+order+": "+d.into("retired", d.stack.Retired != nil)+", then render and apply",
			Entries("retired", d.stack.Retired, e.Key), "stackgen render", d.applies())
		forget := finding.DoAll("or, to leave in the cluster without stackgen: "+d.into("forgotten", d.stack.Forgotten != nil)+", then render",
			Entries("forgotten", d.stack.Forgotten, e.Key), "stackgen render")
		forget.Lines[0].Once, forget.Lines[1].Once = true, true // VMs and containers are in states of their own, and the spec has one such line
		forget.Lines = append(forget.Lines, d.stateRemove(removed[i:i+1]))
		reason, steps := finding.Why("removed-from-spec", spec), []finding.Step{retire, forget}
		member := e.Value.member()
		rekeyed, same := d.rekeyed()[e.Key]
		switch {
		case e.Value.Image != nil: // it has the name of its release and node
		case same:
			steps[0].What = "or " + steps[0].What
			reason, steps = finding.Why("member-with-other-key"), append(d.keepRekeyed(rekeyed), steps...)
		case member.Name == "":
			renamed := d.renaming(schema.Rename{From: e.Key, To: d.newKey(removed)})
			steps = append(steps, finding.DoAll("or, to keep under another key: "+d.into("renamed", d.stack.Renamed != nil)+", then render",
				renamed, "stackgen render"))
			if to := d.movedTo(e); to != "" {
				steps = append(steps, d.adoptThere(to, removed[i:i+1]))
			}
		default:
			reason, steps = d.memberLeft(member, corrected, reason, steps)
		}
		f := d.refuse(finding.Removed, finding.VM, e.Key, reason, steps...)
		f.VMID = e.Value.VMID
		if member.Name != "" && !same && len(d.candidates(member)) == 0 {
			f.Because("of %s, who is not in the roster any more", d.nameOf(member))
		}
	}
}

// movedTo is the other stack in which the key of a VM is new: its spec may have the VM now, as after a split. It is empty if
// there is none, or several.
func (d *stackDecider) movedTo(e Entry[VM]) string {
	found, n := "", 0
	for _, s := range d.project.Stacks {
		fits := func(v *schema.VM) bool {
			return v.Key == e.Key && v.IsContainer() == e.Value.IsContainer() && v.VMID == 0
		}
		if slices.ContainsFunc(s.VMs, fits) && s.Name != d.stack.Name && !d.decider.old.Has(s.Name, e.Key) {
			found, n = s.Name, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return found
}

// adoptThere is the way out for a VM that has moved to the spec of another stack. Without it, that one gets a new VM.
func (d *stackDecider) adoptThere(stack string, vms Ordered[VM]) finding.Step {
	step := finding.DoAll("or, to keep in stack "+stack+", whose spec has this key: "+d.into("forgotten", d.stack.Forgotten != nil)+
		", then let the other stack adopt it", Entries("forgotten", d.stack.Forgotten, vms[0].Key))
	step.Lines = append(step.Lines, finding.Line{
		Text: "stackgen adopt {}", Items: []string{fmt.Sprintf("%s/%s=%d", stack, vms[0].Key, vms[0].Value.VMID)}, Sep: " ",
	}, finding.Line{Text: "stackgen render"}, d.stateRemove(vms), finding.Line{Text: "stackgen import-blocks"})
	return step
}

// refuseUnseen refuses to drop a retired VM or unit that may exist.
func (d *stackDecider) refuseUnseen(of finding.Type, key string, why finding.Code) *finding.Finding {
	spec := d.lock.Spec
	return d.refuse(finding.Removed, of, key, finding.Why(why, spec),
		finding.Do("if an apply has destroyed it, record that, then render", "stackgen resolve", "stackgen render"),
		finding.DoAll("otherwise "+d.into("retired", d.stack.Retired != nil)+", then render and apply", Entries("retired", d.stack.Retired, key),
			"stackgen render", d.applies()))
}

// stateRemove is the line that removes VMs from the state. An address that the state does
// not have does no harm.
func (d *stackDecider) stateRemove(vms Ordered[VM]) finding.Line {
	var out finding.Line
	add := func(unit, address string) {
		line := StateRemove(d.stack.Name, unit, address)
		line.Items = append(out.Items, line.Items...)
		out = line
	}
	for _, e := range vms {
		// With a move that was not applied, the state has it at a former address.
		for _, a := range append(slices.Clone(e.Value.Former), Address{cmp.Or(e.Value.Profile, "default"), e.Key}) {
			add(e.Value.In(), e.Value.Resource(a))
		}
		if e.Value.Image != nil {
			add(UnitVM, ImageAddress(e.Key))
		}
	}
	return out
}

// steady refuses what would make an existing VM another one.
func (d *stackDecider) steady(v *schema.VM, was *VM) {
	spec := d.lock.Spec
	if v.IsContainer() != was.IsContainer() {
		d.refuse(finding.OtherVM, finding.VM, v.Key, finding.Why("kind-differs"),
			finding.Do("restore it in "+spec),
			finding.Do("or give the new one a key of its own in "+spec+", and retire or forget this one there")).
			Because("VMID %d is a %s in the lock", was.VMID, was.Kind.Name())
		return
	}
	if v.VMID != 0 && !v.Adopt && v.VMID != was.VMID && !was.seen() && d.stack.Guard != "off" { // the guard looks whether a state has the VM
		d.note("%s/%s: its VMID is now %d; VMID %d was decided, and no such guest was seen", d.stack.Name, v.Key, v.VMID, was.VMID)
	} else if v.VMID != 0 && !v.Adopt && v.VMID != was.VMID {
		steps := []finding.Step{finding.Do("restore in "+spec, fmt.Sprintf("vmid: %d  # %s", was.VMID, v.Path))}
		if v.IsContainer() { // it is known by its MAC addresses, which the command writes, too
			steps = append(steps, finding.Do("or, if the container with the new VMID exists and is the right one, remove vmid there, and run",
				fmt.Sprintf("stackgen adopt %s/%s=%d", d.stack.Name, v.Key, v.VMID), "stackgen render"))
		} else {
			steps = append(steps, finding.Do("or, if the VM with the new VMID exists and is the right one, write into "+spec+", instead of vmid",
				fmt.Sprintf("adopt: {vmid: %d}  # %s", v.VMID, v.Path)))
		}
		steps = append(steps, finding.DoAll(fmt.Sprintf("or, for a new %s, give it a new key in %s and retire this one", v.Kind.Name(), spec),
			Entries("retired", d.stack.Retired, v.Key), "stackgen render"))
		d.refuse(finding.OtherVM, finding.VM, v.Key, finding.Why("vmid-differs"), steps...).
			Because("VMID %d in the lock, %d in the spec", was.VMID, v.VMID)
	}
	if v.Adopt && was.VMID != 0 && v.VMID != was.VMID && !d.harmless(v) {
		d.refuse(finding.OtherVM, finding.VM, v.Key,
			finding.Why("adopts-other-vmid", v.Profile),
			finding.Do("adopt it first under a profile that destroys nothing: in "+spec+" remove", "profile: "+v.Profile+"  # "+v.Path),
			finding.Do("or restore in "+spec+", instead of adopt", fmt.Sprintf("vmid: %d  # %s", was.VMID, v.Path))).
			Because("VMID %d in the lock, %d in the spec", was.VMID, v.VMID)
	}
	if own := strings.Join(v.OwnEntry(), "."); v.IsContainer() && was.Profile == schema.AdoptedProfile && !v.Adopt && !v.SaysProfile() {
		d.refuse(finding.WouldHarm, finding.VM, v.Key, finding.Why("adopt-removed"),
			finding.Do("restore in "+spec, fmt.Sprintf("adopt: {vmid: %d}  # %s", was.VMID, own)),
			finding.Do("or, if an apply may make it as its spec says, write into "+spec, "profile: default  # "+own))
	}
	switch {
	case was.Member == "" || v.Member == "" || !d.had[v.Key]: // not had: the spec renames it
	case v.Formerly == was.member() && v.Formerly.Name != "":
		d.respelt = append(d.respelt, respelling(v, was))
	case was.Member == v.Member && (was.Email == "" || v.Email == "" || was.Email == v.Email):
	default:
		d.refuse(finding.OtherVM, finding.VM, v.Key, finding.Why("other-member"),
			finding.Do("restore the former members at their places in the roster, and add new ones at its end"),
			finding.Do("or let keys follow names, not positions: in "+spec, `key: "{name}"`)).
			Because("%s in the lock, %s in the roster", was.member(), schema.Member{Name: v.Member, Email: v.Email})
	}
}
