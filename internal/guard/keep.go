package guard

import (
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A keeper prints the ways out that leave what a VM has as it is. All lines of a spec with
// disks come from it: they have every disk with all of its options, leave the cloud-init
// drive where it is, and come with the commands after which a render has the order of the
// state.
type keeper struct {
	vm      *schema.VM
	spec    string // the file
	guest   *cluster.Guest
	reading *hardware.Reading
	entry   *lock.VM
	state   tf.Values    // nil if no state has the VM
	had     []string     // the disks of the state, in their order
	remove  finding.Line // removes the VM from its state
}

// keeper prints ways out of what an apply would do.
func (s *subject) keeper() *keeper {
	k := &keeper{vm: s.match.VM, spec: s.at.Spec, guest: s.guest, entry: s.entry, remove: s.stateRemove(s.Resource)}
	if s.guest.Config != nil {
		k.reading = hardware.Read(s.guest)
	}
	if len(s.states) > 0 {
		k.state, k.had = s.states[0].Values, s.states[0].Disks
	}
	return k
}

// keeper prints ways out of what a plan would do.
func (p *planJudge) keeper(c *tf.ResourceChange, g *cluster.Guest, v *schema.VM) *keeper {
	k := &keeper{
		vm: v, spec: p.lock.Spec, guest: g, reading: hardware.Read(g), entry: p.entries[c.Key],
		remove: lock.StateRemove(p.unit.Stack, p.unit.Unit, c.Address),
	}
	if r := p.inState(c); r != nil {
		k.state, k.had = r.Values, r.Disks
	}
	return k
}

// differences are all differences between the VM and its spec.
func (k *keeper) differences() []hardware.Difference {
	return k.reading.Differences(k.vm, func(string) bool { return false })
}

// places are lines of the spec, each with the place of the VM's entry.
func (k *keeper) places(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		out = append(out, specLine(k.vm, text))
	}
	return out
}

// lines are lines of the spec, with the commands that give its disks the order of the state
// if a render would not.
func (k *keeper) lines(texts []string) []string {
	return append(k.places(texts), k.order(texts)...)
}

// rendered are lines of the spec, and a render with the disks in the order of the state.
func (k *keeper) rendered(texts []string) []string {
	if order := k.order(texts); order != nil {
		return append(k.places(texts), order...)
	}
	return append(k.places(texts), "stackgen render")
}

// order are the commands that give the disks of lines of the spec the order of the state.
func (k *keeper) order(texts []string) []string {
	for _, text := range texts {
		line, _ := schema.ParseYAML("", []byte(text))
		if k.entry != nil && k.entry.OrderAs(k.had, schema.Interfaces(line.Get(guest.Disks).List())) != nil {
			return []string{"stackgen resolve", "stackgen render"}
		}
	}
	return nil
}

// steps are the steps that leave the VM as it is. adopts is its name for the command adopt, if
// an import comes first.
func (k *keeper) steps(differences []hardware.Difference, adopts string) []finding.Step {
	var lines, commands []string
	unsupported := false
	drive := slices.ContainsFunc(differences, func(d hardware.Difference) bool { return d.Field == guest.CloudInit && d.Line != "" })
	for i := range differences {
		d := &differences[i]
		if drive {
			d.Also = "" // the line of cloud_init says where its drive is
		}
		commands = append(commands, d.Commands...)
		if d.Line != "" {
			lines = append(lines, keepLines(d)...)
		}
		unsupported = unsupported || d.Line == "" && len(d.Commands) == 0 && !d.Absent
	}
	f := &finding.Finding{}
	if len(lines) > 0 {
		f.Next("to keep the hardware of the "+k.vm.Kind.Name()+", write into "+k.spec, k.lines(lines)...)
		// Other VMs have no entry of their own; adopt --match writes all or nothing.
		if adopts != "" && k.vm.Path == "vms."+k.vm.Key && len(commands) == 0 && !unsupported {
			f.Add(finding.DoAll("or let stackgen write it", finding.Line{Text: "stackgen adopt --match {}", Items: []string{adopts}, Sep: " "}))
		}
	}
	if len(commands) > 0 {
		f.Next("or change the "+k.vm.Kind.Name()+" instead, on any node, then run preflight again", commands...)
	}
	if unsupported && adopts != "" {
		f.Next("to keep hardware that a spec has no property for, write into "+k.spec, specLine(k.vm, "profile: adopted"))
	}
	return f.Steps
}

// keepLines are the lines of a spec that keep what differs.
func keepLines(d *hardware.Difference) []string {
	if d.Also != "" {
		return []string{d.Line, d.Also}
	}
	return []string{d.Line}
}

// harmed are the steps that keep what updates would harm.
func (k *keeper) harmed(updates []effect.Update) []finding.Step {
	lost := map[string][]string{} // devices that only the VM has, by property
	for _, u := range updates {
		if u.Harm == effect.Detaches || u.Harm == effect.BootsFrom || u.Harm == effect.Unplugs {
			lost[u.Key()] = append(lost[u.Key()], u.Device)
		}
	}
	differences := slices.DeleteFunc(k.differences(), func(d hardware.Difference) bool {
		return !slices.ContainsFunc(updates, func(u effect.Update) bool {
			return !slices.Contains([]effect.Harm{"", effect.Together, effect.Needless}, u.Harm) && u.Key() == d.Field
		}) || d.Field == guest.Disks && len(detached(updates)) > 0 || // the line is in another step
			d.Field == guest.Networks && missingDevice(k.guest.Config.Raw, nics) != "" // it would give them other numbers
	})
	for i := range differences {
		d := &differences[i]
		devices := lost[d.Field]
		if d.Field == guest.Disks {
			devices = k.harmedDisks(updates)
		}
		if lines := k.reading.Keep(k.vm, d.Field, devices); len(devices) > 0 && lines != nil {
			d.Line, d.Also = lines[0], ""
			if len(lines) > 1 {
				d.Also = lines[1]
			}
		}
	}
	steps := k.steps(differences, "")
	if resize := k.resizeUnread(updates, lost[guest.Disks]); len(resize) > 0 && len(steps) > 0 {
		steps[0].What += ", and resize the disk yourself: the provider does not, together with a disk that it does not know"
		steps[0].Lines = append(steps[0].Lines, finding.Lines(resize...)...)
	}
	return steps
}

// harmedDisks are the disks that updates would harm, or nil if the VM does not have one of
// them: then the spec must have all disks as the VM has them.
func (k *keeper) harmedDisks(updates []effect.Update) []string {
	var out []string
	has := configuredDisks(k.guest)
	for _, u := range updates {
		switch {
		case u.Key() != guest.Disks || slices.Contains([]effect.Harm{"", effect.Together, effect.Needless}, u.Harm):
		case !slices.Contains(has, u.Device):
			return nil
		case !slices.Contains(out, u.Device):
			out = append(out, u.Device)
		}
	}
	return out
}
