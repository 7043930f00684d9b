package guard

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// updates reports what an apply would change of a VM, and blocks what would harm it.
// Without a plan, it compares spec and configuration: after an import, the provider
// has read all of it; otherwise what the state makes it read.
func (s *subject) updates() {
	imported := len(s.states) == 0
	if s.Destroy || s.Stops() || !imported && s.Planned[tf.Unit{Stack: s.Stack, Unit: s.Unit}] || !s.comparable() {
		return
	}
	reading, vm := hardware.Read(s.guest), s.effects()
	var changes []tf.Change
	var differences []hardware.Difference
	for _, d := range reading.Differences(s.match.VM, s.profile.Ignores) {
		seen := s.seen(d.Changes)
		if imported || len(seen) > 0 {
			changes, differences = append(changes, seen...), append(differences, d)
		}
	}
	if !imported {
		changes = append(changes, s.onlyInSpec(vm, changes)...)
		changes = append(changes, unreadDisks(vm, changes)...)
		changes = effect.HideNodes(s.states[0].Values, len(s.match.VM.Values.Get(guest.NUMANodes).List()), s.addedDisks(changes))
		changes = append(changes, vm.MACs(changes)...)
	}
	var along []hardware.SideEffect
	if !s.halfMade() {
		along = reading.SideEffects(s.match.VM, changes)
	}
	for _, a := range along {
		changes = append(changes, a.Change)
		if imported {
			s.Because("%s is %s in Proxmox VE: the first plan after the import makes it %s, with the other changes", a.Name(), a.Was, a.Is)
		}
	}
	if s.next = effect.RefuseNeedless(vm.Updates(changes), s.unread()); len(differences)+len(s.next) > 0 {
		s.changes(vm, s.next, differences)
	}
	if !imported { // the ways to avoid a difference avoid what goes along with it
		s.Steps = append(s.Steps, leaveAlong(s.match.VM, s.at.Spec, along)...)
	}
}

// comparable reports whether the spec of the VM and its configuration can be compared: both are
// known, and its profile does not ignore all of it.
func (s *subject) comparable() bool {
	return s.match.VM != nil && s.guest.Config != nil && len(s.guest.Config.Raw) > 0 && s.profile != nil && !s.profile.IgnoreAll
}

// seen are the changes of a difference that a plan sees: those that the state makes it read or,
// after an import, all.
func (s *subject) seen(changes []tf.Change) []tf.Change {
	if len(s.states) > 0 {
		return s.states[0].Values.Read(changes, s.states[0].Cloned)
	}
	had, volumes := importedDisks(s.guest)
	changes = sharedVolumes(had, volumes, s.match.VM, &lock.VM{}, changes)
	if s.halfMade() {
		return replacing(changes) // its hardware is that of the template, and the spec replaces that
	}
	return changes
}

// leaveAlong are the steps that leave what an update would change along with others.
func leaveAlong(v *schema.VM, spec string, along []hardware.SideEffect) []finding.Step {
	f := &finding.Finding{}
	for _, a := range along {
		if v != nil && a.Line != "" {
			f.Next(a.What+", write into "+spec, specLine(v, a.Line))
		}
	}
	return f.Steps
}

// onlyInSpec are what the VM has as the spec says, and the state does not: a plan sets it,
// and the provider restarts the VM for that if it may.
func (s *subject) onlyInSpec(vm *effect.VM, changes []tf.Change) []tf.Change {
	if s.importing() || s.Kind == finding.Settling && !(vm.Restarts && vm.Running) {
		return nil // the import leaves it out, or the finding says so
	}
	state, defaults := s.states[0].Values, schema.DefaultBlocks()
	var out []tf.Change
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		top, v := f.Attribute(), s.match.VM.Values.Get(f.Key)
		same := func(c tf.Change) bool { return c.Path == top || strings.HasPrefix(c.Path, top+".") }
		switch {
		case slices.ContainsFunc(defaults, func(b schema.DefaultBlock) bool { return b.Name == top }): // see below
		case v == nil || v.Off() || top == "" || s.profile.Ignores(top) || !state.Knows(top) || state.Has(top):
		case slices.ContainsFunc(changes, same), slices.ContainsFunc(out, same):
		case len(v.List()) > 0 && f.Type == schema.List && f.Elem.Type == schema.Object, f.Type == schema.Object:
			out = append(out, tf.Change{Path: top, Is: "as it is", Whole: true, Present: true})
		}
	}
	_, left := s.unreadable(&s.states[0])
	return append(out, changesOf(left)...)
}

// replacing are the changes that destroy the VM, or that attach a volume as two disks.
func replacing(changes []tf.Change) []tf.Change {
	var out []tf.Change
	for _, c := range changes {
		if _, harm := (&effect.VM{}).Does(c); harm == effect.Replaces || harm == effect.Shares {
			out = append(out, c)
		}
	}
	return out
}

// effects is what decides what an update does to the VM.
func (s *subject) effects() *effect.VM {
	vm := vmEffects(s.guest, permitsRestart(s.match.VM))
	vm.Restarts = vm.Permits || len(s.states) == 0 || s.importing() // an import leaves reboot_after_update out
	if len(s.states) > 0 {
		vm.State = s.states[0].Values
	}
	vm.BootDevices = bootDevices(s.guest, s.match.VM)
	vm.Begun = s.begun(s.Stack, s.Key, s.guest)
	vm.Keeps, vm.IgnoresDisks = s.match.VM.Interfaces(), s.profile.Ignores("disk")
	for _, list := range []string{effect.NICs, effect.USBs} {
		if !s.profile.Ignores(list) {
			vm.MoveDevices(list, hardware.Read(s.guest).Devices(list), hardware.Devices(s.match.VM, list, s.entry.MACs))
		}
	}
	agent := s.match.VM.Values.Get(guest.Agent)
	vm.NewAgent = waitsForAgent(s.guest, agent.Get(guest.Enabled).Bool(), agent.Get(guest.Timeout).Str())
	if len(s.states) > 0 && !s.importing() {
		for _, block := range s.Settles {
			vm.Settling = append(vm.Settling, tf.Change{Path: block, Is: "as it is", Whole: true, Present: true})
		}
	}
	return vm
}

// changes adds what an update does to the finding.
func (s *subject) changes(vm *effect.VM, updates []effect.Update, differences []hardware.Difference) {
	imported, halfMade := len(s.states) == 0, s.halfMade()
	summary := effect.Summary(updates)
	switch {
	case imported && halfMade:
		s.Reason = s.Reason.And(finding.Why("first-plan-configures"))
	case imported:
		s.Reason = s.Reason.And(finding.Why("first-plan-changes"))
	case s.Kind == finding.Managed:
		s.Reason = finding.Why("apply-changes", summary)
	default:
		s.Reason = s.Reason.And(finding.Why("apply-changes", summary))
	}
	for i := range differences {
		if d := &differences[i]; imported {
			s.Differs = append(s.Differs, d.Difference)
			if !halfMade {
				s.Because("%s%s", d, disturbs(vm, d.Changes))
			}
		}
	}
	harms := harmsOf(updates)
	addUpdates(s.Finding, updates, !imported || halfMade)
	SayHidden(s.Finding, updates)
	newDisks(s.Finding, s.guest, updates)
	otherAddresses(s.Finding, s.guest, updates)
	if len(harms) > 0 {
		if !slices.Contains(harms, effect.Restarts) { // without its import file, an apply does not restart the VM
			s.Steps = nil
		}
		s.Is(finding.WouldHarm, harmReason(harms, "an apply would"))
		s.Import = ""
		if imported {
			s.Reason = finding.Why("after-import").Of(s.Reason)
		}
	}
	s.waysOut(vm, updates, differences)
}

// waysOut adds the steps that leave the VM as it is, and the other ways out of what harms it.
func (s *subject) waysOut(vm *effect.VM, updates []effect.Update, differences []hardware.Difference) {
	imported, harms, k := len(s.states) == 0, harmsOf(updates), s.keeper()
	switch {
	case imported && slices.Contains(harms, effect.Shares):
		s.Steps = append(s.Steps, k.addAfterImport()...)
	case imported && !s.halfMade():
		s.Steps = append(s.Steps, k.steps(differences, s.String())...)
	case len(harms) > 0:
		s.Steps = append(s.Steps, k.boot(updates)...)
		if slices.Contains(harms, effect.Shares) && s.importing() {
			s.Next("remove the import file: while it has the VM, its disks are in the order of their interfaces", "stackgen import-blocks")
		} else {
			s.Steps = append(s.Steps, k.add(updates)...)
		}
		s.Steps = append(s.Steps, k.detached(updates, vm.Begun)...)
		s.Steps = append(s.Steps, k.harmed(updates)...)
	}
	if slices.Contains(harms, effect.Needless) {
		s.Add(k.withoutRestart(updates))
	}
	s.Steps = append(s.Steps, k.growFirst(updates, len(vm.Settling) > 0)...)
	s.Steps = append(s.Steps, harmSteps(s.guest, updates, s.unread(), s.at.Spec, s.line)...)
	s.Steps = oneStepEach(s.Steps)
}

// disturbs says what changes do to a VM that runs, if it notices.
func disturbs(vm *effect.VM, changes []tf.Change) string {
	for _, u := range vm.Updates(changes) {
		if u.Harm == effect.Repeats {
			return ", and so does every later apply"
		}
		if u.Harm != "" && u.Harm != effect.Replaces && u.Harm != effect.Shrinks {
			return ", and " + u.Does
		}
	}
	return ""
}

// addUpdates adds updates to a finding, also as evidence if that does not name them.
func addUpdates(f *finding.Finding, updates []effect.Update, evidence bool) {
	for _, u := range updates {
		own := finding.Update{
			Name: u.Name(), Was: u.Was, Is: u.Is, Effect: string(u.Effect), Does: u.Does, Harm: string(u.Harm),
			Moves: u.From, Interrupts: u.Interrupts(), SideEffect: u.SideEffect, Attribute: u.Attribute(),
		}
		if evidence {
			own.Says = u.String()
			f.Because("%s", own.Says)
		}
		f.Updates = append(f.Updates, own)
	}
}
