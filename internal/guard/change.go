package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// otherID refuses the change of a VM whose id is another VMID than its vm_id.
func (p *planJudge) otherID(c *tf.ResourceChange) bool {
	r := c.Resource()
	return r.OtherID() && p.in.otherID(p.add(c), &r)
}

// creates refuses the create of anything that is not free for certain.
func (p *planJudge) creates(c *tf.ResourceChange) {
	if !judged(c.Type) {
		return
	}
	known := p.known(c)
	vmid := tf.VMIDOf(c.After)
	switch {
	case c.Type == guest.RecordResource && known != nil && known.Kind == finding.Create:
		return // a record that is gone is published again
	case p.gone[c.Address] && known != nil && known.Case == finding.StaleNode: // the refresh looked for it on the node of before
		f := p.add(c).Is(known.Kind, known.Reason)
		f.Severity, f.Evidence, f.Steps = finding.Blocked, slices.Clone(known.Evidence), slices.Clone(known.Steps)
	case p.gone[c.Address] && !p.rebuilds(c, known):
		p.add(c).Is(finding.Gone, finding.Why("plan-creates-gone")).
			Because("%s", c.Address).Next("find out which, and what to do", "stackgen preflight")
	case known == nil:
		p.add(c).Is(finding.Conflict, finding.Why("plan-creates-unasked")).
			Because("%s", c.Address).Next(renderAndPlan, "stackgen render")
	case p.unit.Manages(c.Type) && vmid != known.VMID:
		p.add(c).Is(finding.Conflict, finding.Why("plan-creates-other-vmid")).
			Because("%s has %s in the plan, and VMID %d in the lock", c.Address, vmidText(vmid), known.VMID).Next(renderAndPlan, "stackgen render")
	case known.Kind != finding.Create:
		p.createsKnown(c, known)
	case p.in.Running && p.clonedFrom(c) != 0:
		p.add(c).Is(finding.CannotCreate, finding.Why("cloned-by-apply", p.clonedFrom(c))).
			Because("%s", c.Address).Next("clone and configure it", "stackgen apply "+shell.Path(p.lock.Spec))
	case p.in.Running && c.Type == guest.VMResource && p.downloads[c.Key]:
		p.add(c).Is(finding.CannotCreate, finding.Why("downloaded-by-apply")).
			Because("%s", c.Address).Next("download the image, and make the template after that", "stackgen apply "+shell.Path(p.lock.Spec))
	}
}

// clonedFrom is the template of a container that `stackgen apply` clones before OpenTofu imports it, or 0.
func (p *planJudge) clonedFrom(c *tf.ResourceChange) int {
	v := p.spec(c)
	if c.Type != guest.ContainerResource || v == nil {
		return 0
	}
	return v.ClonedFrom
}

// renderAndPlan is the step for a plan that was not made from the specs.
const renderAndPlan = "render, then plan again"

// createsKnown refuses the create of what exists, or cannot be created.
func (p *planJudge) createsKnown(c *tf.ResourceChange, known *finding.Finding) {
	f := p.add(c).Is(known.Kind, known.Reason).Because("the plan creates %s", c.Address)
	f.Severity = finding.Blocked
	f.Evidence = append(f.Evidence, known.Evidence...)
	f.Steps = append(f.Steps, known.Steps...)
	switch {
	case known.Kind == finding.Adopt:
		f.Reason = finding.Why("plan-creates-existing")
		f.Add(writeImports()).Next("then plan again")
	case known.Kind.Exists(), known.Kind == finding.Busy:
		f.Is(finding.Conflict, finding.Why("plan-of-another-state")).Next("plan again")
	case known.Kind == finding.Retiring:
		f.Is(finding.WouldDestroy, finding.Why("plan-creates-retired")).Next(renderAndPlan, "stackgen render")
	}
}

func vmidText(vmid int) string {
	if vmid == 0 {
		return "a VMID that Proxmox VE chooses"
	}
	return fmt.Sprintf("VMID %d", vmid)
}

// destroyed names what a change destroys, as far as plan or lock know.
func destroyed(c *tf.ResourceChange, f *finding.Finding) string {
	if !tf.IsGuest(c.Type) {
		return string(f.Type)
	}
	if vmid := tf.VMIDOf(c.Before); vmid != 0 {
		return vmidText(vmid)
	}
	return vmidText(f.VMID)
}

// status is the status in the lock of the VM or unit of a change.
func (p *planJudge) status(c *tf.ResourceChange) string {
	if u := p.lock.Units.Get(p.unit.Unit); u != nil && u.Status != lock.Live && !p.unit.Manages(c.Type) && c.Type != guest.FileResource {
		return u.Status
	}
	for _, key := range c.Keys() {
		if e := p.entries[key]; e != nil && (p.unit.Manages(c.Type) || c.Type == guest.FileResource) {
			return e.Status
		}
	}
	return lock.Live
}

// lends refuses to destroy by a grant what another guest has got a volume of since it was asked for.
func (p *planJudge) lends(c *tf.ResourceChange) bool {
	if p.in.Grant == nil || !p.unit.Manages(c.Type) || !slices.Contains([]tf.Action{tf.Delete, tf.Replace, tf.ReplaceKept}, c.Action) {
		return false
	}
	g := p.in.Inventory.Guest(tf.VMIDOf(c.Before))
	borrowed := lostWith(g, p.borrowed[tf.VMIDOf(c.Before)])
	if len(borrowed) > 0 {
		refuseLent(p.add(c), g, borrowed)
	}
	return len(borrowed) > 0 || p.mayLend(c, tf.VMIDOf(c.Before))
}

// deletes refuses every destroy that `retired` does not ask for.
func (p *planJudge) deletes(c *tf.ResourceChange) {
	known := p.known(c)
	wrong := known != nil && known.Stops()
	switch {
	case !judged(c.Type):
		return
	case c.Type == guest.RecordResource && !wrong && (p.unwanted(c, known) || p.in.Destroy):
		return // a spec without the record asks for it
	case c.Deposed == "" && !wrong && (p.status(c) == lock.Retired || p.in.Destroy) && p.same(c):
		return
	case p.gone[c.Address]:
		return
	}
	f := p.add(c)
	if wrong {
		f.Is(known.Kind, known.Reason).Because("the plan destroys %s", c.Address)
		f.Severity = finding.Blocked
		f.Evidence = append(f.Evidence, known.Evidence...)
		f.Steps = append(f.Steps, known.Steps...)
		return
	}
	if c.Type == guest.RecordResource {
		f.Is(finding.WouldDestroy, finding.Why("plan-destroys-wanted")).Because("%s", c.Address).Next("plan again, not for a destroy")
		return
	}
	f.Is(finding.WouldDestroy, finding.Why("plan-destroys"))
	f.Because("the plan destroys %s (%s)%s", c.Address, destroyed(c, f), cause(c))
	if c.Deposed != "" {
		p.deposed(c, f)
		return
	}
	f.Add(p.retire("to destroy it, remove it from its spec and retire it", c))
	f.Add(finding.DoAll(stopManaging, lock.StateRemove(p.unit.Stack, p.unit.Unit, c.Address)))
}

// unwanted reports whether no VM asks for the record that a change destroys. known is what Judge said of it, or nil.
func (p *planJudge) unwanted(c *tf.ResourceChange, known *finding.Finding) bool {
	return known == nil && p.status(c) != lock.Moving || known != nil && known.Kind == finding.Retiring
}

// retire is the step that retires what a change destroys.
func (p *planJudge) retire(what string, c *tf.ResourceChange) finding.Step {
	key := c.Key
	if c.Type == guest.PoolResource {
		key = p.unit.Unit
	}
	return finding.DoAll(what+": write into "+p.lock.Spec, lock.Entries("retired", p.in.stack(p.unit.Stack).Retired, key), "stackgen render")
}

// deposed is an object that an interrupted replacement left in the state, beside
// the current one at the same address: retiring the key would destroy that.
func (p *planJudge) deposed(c *tf.ResourceChange, f *finding.Finding) {
	f.Reason = finding.Why("plan-destroys-deposed")
	f.Because("deposed object %s", c.Deposed)
	f.Add(finding.Step{What: "remove the address from the state, and import the current object again",
		Lines: append([]finding.Line{lock.StateRemove(p.unit.Stack, p.unit.Unit, c.Address)}, finding.Lines("stackgen import-blocks")...)})
	left := c.Resource()
	g := p.in.Inventory.Guest(left.VMID)
	switch {
	case g == nil || g.VMID == f.VMID:
	case g.Config != nil && slices.ContainsFunc(g.Config.MACs, func(mac string) bool { return contains(left.MACs, mac) }):
		f.Next("the left object is then in no state: inspect it", inspect(g))
		holdOn(p.in.Inventory, g).destroy(f, "if you do not need it, destroy it by hand, %s")
	default:
		f.Next("the left object is then in no state. Nothing proves that the guest with its VMID is that object: inspect it", inspect(g))
	}
}

// same reports whether a destroy hits the VMID that was decided for the key.
func (p *planJudge) same(c *tf.ResourceChange) bool {
	if !p.unit.Manages(c.Type) {
		return true
	}
	return slices.ContainsFunc(c.Keys(), func(key string) bool {
		e := p.entries[key]
		return e != nil && e.VMID == tf.VMIDOf(c.Before)
	})
}

// cause is why OpenTofu replaces something, as far as the plan says.
func cause(c *tf.ResourceChange) string {
	if len(c.Forces) > 0 {
		return ", because of " + strings.Join(c.Forces, " and ")
	}
	return ""
}

// replaces refuses every replacement: no spec can ask for one.
func (p *planJudge) replaces(c *tf.ResourceChange) {
	if !judged(c.Type) {
		return
	}
	known := p.known(c)
	if c.Type == guest.RecordResource && (known == nil || !known.Stops()) {
		return // another TTL; a record holds nothing else
	}
	if p.in.Grant.Permits(c) && (known == nil || !known.Stops()) {
		// The rebuild has looked before it asked and shut the guest down. Since then, minutes may have passed: what the
		// creation needs may be gone or locked by now, and after the destroy, so would be the VM.
		v := p.spec(c)
		if doubt := p.in.doubtOf(v, p.entries[c.Key]); doubt != nil {
			doubt.refuse(p.add(c), v, p.lock.Spec)
		}
		return
	}
	f := p.add(c)
	f.Is(finding.WouldDestroy, finding.Why("plan-replaces"))
	f.Because("the plan replaces %s (%s)%s: %s", c.Address, destroyed(c, f), cause(c), strings.ReplaceAll(c.Words, "+", " and "))
	if c.Imports {
		f.Because("it would import it first, as %s", c.ImportID)
	}
	p.keepReplaced(f, c)
	f.Next("find out what changed, and undo it", "stackgen render --diff")
	f.Add(p.retire("or, for a new "+f.Word()+", give it a new key and retire this one", c))
}

// keepReplaced adds what of the spec replaces a guest, with the lines that leave it as it is.
func (p *planJudge) keepReplaced(f *finding.Finding, c *tf.ResourceChange) {
	g, v := p.in.Inventory.Guest(tf.VMIDOf(c.Before)), p.spec(c)
	if c.Type != guest.VMResource && c.Type != guest.ContainerResource || c.Tainted || v == nil || g == nil || g.Config == nil {
		return
	}
	updates, _ := p.effects(c, g)
	if c.Type == guest.ContainerResource {
		updates = p.containerEffects(c, g)
	}
	updates = slices.DeleteFunc(updates, func(u effect.Update) bool { return u.Harm != effect.Replaces })
	if len(updates) == 0 {
		return
	}
	addUpdates(f, updates, true)
	if c.Type == guest.ContainerResource {
		if lines := keepLinesOfContainer(g, v, updates); len(lines) > 0 {
			f.Next("to keep what the container has, write into "+p.lock.Spec, lines...)
		}
		return
	}
	k := p.keeper(c, g, v)
	differences := slices.DeleteFunc(k.differences(), func(d hardware.Difference) bool {
		return !slices.ContainsFunc(updates, func(u effect.Update) bool { return d.Differs(u.Attribute()) })
	})
	f.Steps = append(f.Steps, k.steps(differences, f.String())...)
}

// forgets refuses to remove anything from the state that is not forgotten.
func (p *planJudge) forgets(c *tf.ResourceChange) {
	known := p.known(c)
	handedOver := c.Type == guest.RecordResource && p.status(c) == lock.Moving && (known == nil || !known.Stops())
	if !judged(c.Type) || p.status(c) == lock.Forgotten || handedOver {
		return
	}
	f := p.add(c).Is(finding.WouldDestroy, finding.Why("plan-forgets")).Because("%s", c.Address)
	f.Add(finding.DoAll("to stop managing it, write into "+p.lock.Spec, lock.Entries("forgotten", p.in.stack(p.unit.Stack).Forgotten, c.Key)))
	f.Next("or delete the removed block that asks for it")
}

// imports refuses to import what is not ours for certain.
func (p *planJudge) imports(c *tf.ResourceChange) {
	if !judged(c.Type) {
		return
	}
	id := c.ImportID
	known := p.known(c)
	if known != nil && known.Kind == finding.Adopt && known.Import == id {
		return
	}
	f := p.add(c).Is(finding.Conflict, finding.Why("plan-imports-unproven"))
	f.Because("the plan imports %s into %s", id, c.Address)
	if known != nil {
		f.Because("preflight finds: %s", known.Kind)
		f.Evidence = append(f.Evidence, known.Evidence...)
	}
	f.Add(writeImports()).Next("then plan again")
}

// errored is a plan that failed and was written: it may leave out anything.
func (p *planJudge) errored() {
	f := finding.Finding{Address: unitAddress(p.unit)}
	f.Is(finding.Unknown, finding.Why("plan-failed"))
	if len(p.out) > 0 {
		f.Because("the other findings of this plan are the likely reason")
	} else {
		f.Severity = finding.Failed
	}
	f.Next("read its errors", lock.InUnit(p.unit.Stack, p.unit.Unit, "terragrunt plan"))
	p.out = append(p.out, f)
}
