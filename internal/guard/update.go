package guard

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// moves refuses a plan that moves a VM whose node the spec did not change.
func (p *planJudge) moves(c *tf.ResourceChange) bool {
	before, after := nodeOf(c.Before), nodeOf(c.After)
	known := p.known(c)
	if before == "" || after == "" || before == after || known != nil && (known.Kind == finding.Migrate || known.Stops()) {
		return false
	}
	f := p.add(c).Is(finding.Moved, finding.Why("plan-moves"))
	f.Severity = finding.Blocked
	f.Because("the plan moves %s from %s to %s", c.Address, before, after).Next(renderAndPlan, "stackgen render")
	return true
}

// PowerChanged reports whether an update does not say that it starts or stops a VM, and somebody has started or stopped it
// since the plan was made. The provider ends every update with the power that the plan has.
func PowerChanged(c *tf.ResourceChange, g *cluster.Guest) bool {
	if c.Type != guest.VMResource || c.Action != tf.Update || g == nil || c.Before[guest.Started] != c.After[guest.Started] {
		return false
	}
	return c.Before[guest.Started] == true && g.Status == "stopped" || c.Before[guest.Started] == false && g.Status == "running"
}

// otherPower refuses what an update does to the power of a VM that was started or stopped since the plan was made: it
// starts one that is off, and one that it has to stop stays off.
func (p *planJudge) otherPower(c *tf.ResourceChange, g *cluster.Guest, updates []effect.Update) bool {
	code := finding.Code("stopped-since-plan")
	if g.Status == "running" {
		code = "started-since-plan"
		if !slices.ContainsFunc(updates, effect.Update.Interrupts) {
			return false
		}
	}
	p.add(c).Is(finding.WouldHarm, finding.Why(code)).Because("%s", Describe(g)).
		Next("run the same command again, for a saved plan after another plan: that knows that it is " + g.Status)
	return true
}

// nodeOf is the node in a plan's values, or "".
func nodeOf(values map[string]any) string {
	node, _ := values["node_name"].(string)
	return node
}

// updates names what an update does to a VM. It refuses one that Proxmox VE would not
// make now, and one that does what the spec does not ask for.
func (p *planJudge) updates(c *tf.ResourceChange) {
	if c.Type == guest.ContainerResource && p.unit.Manages(c.Type) {
		p.containerUpdates(c)
		return
	}
	if c.Type != guest.VMResource {
		return
	}
	g := p.in.Inventory.Guest(tf.VMIDOf(c.Before))
	updates, along := p.effects(c, g)
	p.does[c.Address] = updates
	if p.moves(c) {
		return
	}
	if h := holdOn(p.in.Inventory, g); h.blocks > nothing {
		h.begun = p.in.begun(p.unit.Stack, c.Key, g)
		if p.adopts(c) {
			h.refuse(p.add(c), "held-first-plan")
		} else {
			h.refuse(p.add(c), "held-change")
		}
		return
	}
	if p.in.Running && PowerChanged(c, g) && p.otherPower(c, g, updates) || p.nicsAdded(c, g) {
		return
	}
	known, harms := p.known(c), harmsOf(updates)
	if len(harms) == 0 && p.cannotUpdate(c, g, updates) {
		return
	}
	if known != nil && known.Kind == finding.Settling { // its finding says what the apply only sets in the state
		updates = slices.DeleteFunc(slices.Clone(updates), func(u effect.Update) bool { return u.Does == effect.Settles })
	}
	halfMade := p.adopts(c) && known.Case == finding.HalfMade // a run that was interrupted cloned it, and the plan configures it
	if len(updates) > 0 && (!halfMade || len(harms) > 0) {
		p.update(c, g, p.withDropped(c, g, updates), along)
	}
}

// cannotUpdate refuses updates that fail, or after which the VM would not start again.
func (p *planJudge) cannotUpdate(c *tf.ResourceChange, g *cluster.Guest, updates []effect.Update) bool {
	return p.fails(c, updates, "update-fails", feasible.UpdateRights(p.in.Inventory, p.spec(c), g, updates)) ||
		p.fails(c, updates, "restart-fails", p.restartFails(c, g, updates))
}

// fails refuses updates that something makes fail.
func (p *planJudge) fails(c *tf.ResourceChange, updates []effect.Update, code finding.Code, obstacles []feasible.Obstacle) bool {
	if len(obstacles) == 0 {
		return false
	}
	f, spec := p.add(c), p.spec(c)
	addObstacles(f, obstacles, p.lock.Spec, func(text string) string { return specLine(spec, text) })
	f.Reason = finding.Why(code).Of(f.Reason)
	addUpdates(f, updates, false)
	return true
}

// restartFails is what makes the start of a guest fail after updates that stop it.
func (p *planJudge) restartFails(c *tf.ResourceChange, g *cluster.Guest, updates []effect.Update) []feasible.Obstacle {
	e := p.entries[c.Key]
	staysOff := c.After[guest.Started] == false ||
		slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Key() == guest.Started && u.Is != "true" })
	if e == nil || staysOff || !slices.ContainsFunc(updates, effect.Update.Interrupts) {
		return nil
	}
	return feasible.Restart(p.in.Inventory, p.spec(c), e, g, p.index.profile(e))
}

// withDropped are the updates of a change with what it drops. Of an import, the finding has what differs.
func (p *planJudge) withDropped(c *tf.ResourceChange, g *cluster.Guest, updates []effect.Update) []effect.Update {
	if p.adopts(c) {
		return updates
	}
	return withDropped(g, updates)
}

// withDropped are updates with the options that they remove, because the provider does not know them, and those that they
// write beside.
func withDropped(g *cluster.Guest, updates []effect.Update) []effect.Update {
	if g == nil || g.Config == nil {
		return updates
	}
	changes := make([]tf.Change, 0, len(updates))
	for _, u := range updates {
		changes = append(changes, u.Change)
	}
	out := slices.Clone(updates)
	for _, c := range hardware.Read(g).Dropped(changes) {
		does := effect.Dropped
		if c.Is != "" {
			does = effect.Beside
		}
		out = append(out, effect.Update{Change: c, Effect: schema.Live, Does: does})
	}
	return out
}

// CloudInitChanged reports whether a guest has other settings of cloud-init than in an inventory of before.
func CloudInitChanged(before, now *cluster.Inventory, vmid int) bool {
	was, is := before.Guest(vmid), now.Guest(vmid)
	return was != nil && is != nil && !hardware.SameCloudInit(was.Config, is.Config)
}

// space warns where the disks that the plan moves are larger than what is free.
func (p *planJudge) space(plan *tf.Plan) {
	var moved []feasible.MovedDisk
	for _, c := range plan.Changes {
		g := p.in.Inventory.Guest(tf.VMIDOf(c.Before))
		for _, u := range p.does[c.Address] {
			if u.Effect == schema.Move && u.Harm == "" && g != nil && g.Config != nil {
				moved = append(moved, feasible.MovedDisk{Storage: u.Is, Node: g.Node, Size: pve.ParseDrive(u.Device, g.Config.Raw[u.Device]).Size()})
			}
		}
	}
	for _, d := range feasible.LikelyMoves(p.in.Inventory, moved) {
		p.out = append(p.out, mayFail(p.unit.Stack, p.unit.Unit, d))
	}
}

// adopts reports whether a VM is one that an apply imports.
func (p *planJudge) adopts(c *tf.ResourceChange) bool {
	known := p.known(c)
	return known != nil && known.Kind == finding.Adopt
}

// update adds the finding of updates that the plan makes of a VM, and what goes along with them.
func (p *planJudge) update(c *tf.ResourceChange, g *cluster.Guest, updates []effect.Update, along []hardware.SideEffect) {
	f, spec, harms := p.add(c), p.spec(c), harmsOf(updates)
	p.kind(f, c, updates)
	if p.adopts(c) && spec != nil {
		p.firstPlan(f, c, g, updates, along)
	} else {
		addUpdates(f, updates, true)
		f.Steps = append(f.Steps, leaveAlong(spec, p.lock.Spec, along)...)
	}
	SayHidden(f, updates)
	newDisks(f, g, updates)
	otherAddresses(f, g, updates)
	if len(harms) > 0 {
		p.waysOut(f, g, spec, updates, c)
		sayLent(f, g, updates, p.borrowed[tf.VMIDOf(c.Before)])
	}
}

// kind makes updates what the finding is about.
func (p *planJudge) kind(f *finding.Finding, c *tf.ResourceChange, updates []effect.Update) {
	known, harms := p.known(c), harmsOf(updates)
	f.Is(finding.Managed, finding.Why("apply-changes", effect.Summary(updates)))
	switch {
	case len(harms) > 0 && p.adopts(c):
		f.Is(finding.WouldHarm, finding.Why("after-import").Of(harmReason(harms)))
	case len(harms) > 0:
		f.Is(finding.WouldHarm, harmReason(harms))
	case p.adopts(c):
		f.Kind, f.Reason = known.Kind, known.Reason.And(finding.Why("first-plan-changes"))
	case known == nil || !known.Kind.Exists():
	case !slices.Contains([]finding.Kind{finding.Managed, finding.OldTemplate, finding.CreationOnly}, known.Kind):
		f.Kind, f.Reason = known.Kind, known.Reason.And(f.Reason)
	}
}

// effects are what an update does to a VM, and which changes the provider makes along with
// those of the plan. There are none of a VM that cannot be read.
func (p *planJudge) effects(c *tf.ResourceChange, g *cluster.Guest) ([]effect.Update, []hardware.SideEffect) {
	if g == nil || g.Kind != guest.VM || g.Config == nil {
		return nil, nil
	}
	before, after := tf.Flatten(c.Before), tf.Flatten(c.After)
	spec := p.spec(c)
	vm := vmEffects(g, permitsRestart(spec))
	vm.Lent = lentEntries(g, p.borrowed[g.VMID])
	vm.State, vm.Keeps, vm.Restarts = p.stateOf(c), after.Devices("disk"), after["reboot_after_update"] != "false"
	vm.Plugs = after[schema.VMField(guest.Hotplug).HCL]
	vm.IgnoresDisks, vm.Begun = after.NamelessDisks(), p.in.begun(p.unit.Stack, c.Key, g)
	from, to := nodeOf(c.Before), nodeOf(c.After)
	vm.Migrates = from != "" && to != "" && from != to
	for _, list := range []string{effect.NICs, effect.USBs} {
		vm.MoveDevices(list, effect.Numbered(before, list), effect.Numbered(after, list))
	}
	vm.NewAgent = waitsForAgent(g, after["agent.enabled"] == "true", after["agent.timeout"])
	if spec != nil {
		vm.BootDevices = bootDevices(g, spec)
	}
	changes := slices.DeleteFunc(tf.OfPlan(before, after), func(c tf.Change) bool { return hardware.ByPosition(spec, c) })
	changes = append(changes, p.in.hiddenNodes(p.unit, c)...)
	if r, entry := p.inState(c), p.entries[c.Key]; r != nil && spec != nil && entry != nil {
		changes = append(changes, laterChanges(spec, p.in.later(r, spec))...)
		changes = formerVolumes(r.Values, spec, entry, g, changes)
	}
	reading := hardware.Read(g)
	if r := p.inState(c); r != nil && r.Cloned && spec != nil {
		present(reading, spec, changes)
	}
	along := reading.SideEffects(spec, changes)
	for _, a := range along {
		changes = append(changes, a.Change)
	}
	updates := withoutGaps(g, vm.Updates(changes))
	if known := p.known(c); known != nil && known.Kind == finding.Settling && !(vm.Restarts && vm.Running) {
		updates = settling(updates)
	}
	return effect.RefuseNeedless(updates, p.unread(c)), along
}

// present marks the changes that a plan makes of a clone only because the provider has not read
// what the clone has: it has that as the spec says.
func present(reading *hardware.Reading, spec *schema.VM, changes []tf.Change) {
	for i := range changes {
		if c := &changes[i]; c.Was == "" && c.Is != "" && !c.Later && c.Volume == "" && c.Former == "" {
			was, known := reading.Has(spec, c.Attribute())
			c.Present = known && was == ""
		}
	}
}

// settling are updates of which those that set what an import cannot read do nothing
// but that: the VM has it.
func settling(updates []effect.Update) []effect.Update {
	blocks := schema.DefaultBlocks()
	for i := range updates {
		u := &updates[i]
		top, _, _ := strings.Cut(u.Path, ".")
		block := u.Was == "" && slices.ContainsFunc(blocks, func(b schema.DefaultBlock) bool { return b.Name == top })
		if block || slices.ContainsFunc(schema.SettledRows(), func(r schema.Row) bool { return r.Attribute() == u.Path }) {
			*u = effect.Update{Change: u.Change, Effect: schema.ProviderOnly, Does: effect.Settles}
		}
	}
	return updates
}

// spec is the VM of a change in its spec, or nil.
func (p *planJudge) spec(c *tf.ResourceChange) *schema.VM {
	return p.in.spec(p.unit.Stack, c.Key)
}

// stateOf are the values of a VM that the last apply left, or nil for an import.
func (p *planJudge) stateOf(c *tf.ResourceChange) tf.Values {
	if r := p.inState(c); r != nil {
		return r.Values
	}
	return nil
}

// inState is a VM as the last apply left it, or nil for an import.
func (p *planJudge) inState(c *tf.ResourceChange) *tf.Resource {
	all := p.in.State[p.unit].Resources
	i := slices.IndexFunc(all, func(r tf.Resource) bool { return r.Address == c.Address || r.Address == c.Previous })
	if i < 0 || c.Imports {
		return nil
	}
	return &all[i]
}

// unread is what a plan sets because an import could not read it.
func (p *planJudge) unread(c *tf.ResourceChange) []string {
	known, r := p.known(c), p.inState(c)
	if known == nil || r == nil || r.Cloned {
		return nil
	}
	return known.Settles
}

// waysOut are the steps of a harmful update.
func (p *planJudge) waysOut(f *finding.Finding, g *cluster.Guest, v *schema.VM, updates []effect.Update, c *tf.ResourceChange) {
	if v == nil {
		f.Next(renderAndPlan, "stackgen render")
		return
	}
	k := p.keeper(c, g, v)
	f.Steps = append(f.Steps, k.boot(updates)...)
	f.Steps = append(f.Steps, k.add(updates)...)
	f.Steps = append(f.Steps, k.detached(updates)...)
	f.Steps = append(f.Steps, k.unplugged(updates)...)
	f.Steps = append(f.Steps, k.harmed(updates)...)
	if slices.Contains(harmsOf(updates), effect.Needless) {
		f.Add(k.withoutRestart(updates))
	}
	f.Steps = append(f.Steps, k.growFirst(updates)...)
	f.Steps = append(f.Steps, harmSteps(g, updates, p.unread(c), p.lock.Spec, func(text string) string { return specLine(v, text) })...)
	f.Steps = oneStepEach(f.Steps)
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

// firstPlan says what the plan of an import changes of a VM, with the lines for the spec that
// leave the VM as it is.
func (p *planJudge) firstPlan(
	f *finding.Finding, c *tf.ResourceChange, g *cluster.Guest, updates []effect.Update, along []hardware.SideEffect,
) {
	for _, a := range along {
		f.Because("%s is %s in Proxmox VE: the first plan after the import makes it %s, with the other changes", a.Name(), a.Was, a.Is)
	}
	k := p.keeper(c, g, p.spec(c))
	var differences []hardware.Difference
	for _, d := range k.differences() {
		own := slices.DeleteFunc(slices.Clone(updates), func(u effect.Update) bool { return !d.Differs(u.Attribute()) })
		if len(own) == 0 {
			continue
		}
		differences, f.Differs = append(differences, d), append(f.Differs, d.Difference)
		f.Because("%s%s", &d, disturbs(own))
		addUpdates(f, own, false)
		updates = slices.DeleteFunc(slices.Clone(updates), func(u effect.Update) bool { return d.Differs(u.Attribute()) })
	}
	for _, u := range updates {
		addUpdates(f, []effect.Update{u}, !u.SideEffect)
	}
	f.Steps = append(f.Steps, k.steps(differences, f.String())...)
}

// disturbs says what updates do to a VM that runs, if it notices.
func disturbs(updates []effect.Update) string {
	for _, u := range updates {
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
			Moves: u.From, Interrupts: u.Interrupts(), Waits: u.Waits(), SideEffect: u.SideEffect, Attribute: u.Attribute(),
		}
		if evidence {
			own.Says = u.String()
			f.Because("%s", own.Says)
		}
		f.Updates = append(f.Updates, own)
	}
}
