package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// A container is judged as a VM is, by the rules of VMs that are not about agents, templates,
// disks and what an import of a VM cannot read. It has two of its own: the provider looks for it on
// the node of its state only, and it is known by its MAC addresses alone.

// retiredContainerRules are about containers to destroy, and those that were destroyed.
var retiredContainerRules = []vmRule{
	{name: "unknown: the token does not see it", applies: (*subject).absentAndHidden, judge: (*subject).unknownHidden},
	{name: "would-destroy: another VMID in state", applies: (*subject).vmidDiffers, judge: (*subject).destroyOtherVMID},
	{name: "retiring: not in the cluster", applies: (*subject).absent, judge: (*subject).retiringAbsent},
	{name: "retiring: in no state", applies: (*subject).notInState, judge: (*subject).retiringByHand},
	{name: "busy: not complete", applies: (*subject).incomplete, judge: (*subject).busyIncomplete},
	{name: "conflict: another guest has its VMID", applies: (*subject).vmidTaken, judge: (*subject).conflictVMID},
	{name: "busy: an apply would meet a task", applies: (*subject).meetsHold, judge: (*subject).busyHold},
	{name: "unknown: nothing proves that it is the container", applies: (*subject).notProven, judge: (*subject).unknownRetired},
	{name: "moved: the state has another node", applies: (*subject).otherNodeInState, judge: (*subject).movedContainer},
	{name: "busy: its protection is on", applies: (*subject).protectionOn, judge: (*subject).busyProtection},
	{name: "would-destroy: another guest has a volume of it", applies: (*subject).lends, judge: (*subject).destroyLent},
	{name: "retiring", applies: every, judge: (*subject).retiring},
}

// liveContainerRules are about all other containers.
var liveContainerRules = []vmRule{
	{name: "would-destroy: another VMID in state", applies: (*subject).vmidDiffers, judge: (*subject).destroyOtherVMID},
	{name: "unknown: its node does not answer", applies: (*subject).nodeDown, judge: (*subject).unknownNode},
	{name: "unknown: the token does not see it", applies: (*subject).hidden, judge: (*subject).unknownHidden},
	{name: "conflict: in the state of another VM", applies: (*subject).inOtherState, judge: (*subject).conflictState},

	{name: "none: nothing to destroy", applies: (*subject).nothingToDestroy},
	{name: "retiring: destroyed already", applies: (*subject).destroyedAlready, judge: (*subject).retiringDestroyed},

	{name: "gone: it has another VMID now", applies: (*subject).containerRestored, judge: (*subject).containerOtherVMID},
	{name: "gone", applies: (*subject).absentInState, judge: (*subject).gone},
	{name: "conflict: another guest has its MAC", applies: (*subject).macTaken, judge: (*subject).conflictMAC},
	{name: "not-found: the spec adopts it", applies: (*subject).adoptsNothing, judge: (*subject).notFoundByAdopt},
	{name: "not-found: the import file imports it", applies: (*subject).importsNothing, judge: (*subject).notFoundByImport},
	{name: "busy: not complete", applies: (*subject).incomplete, judge: (*subject).busyIncomplete},
	{name: "ambiguous", applies: (*subject).nameOfContainers, judge: (*subject).ambiguousContainer},
	{name: "unknown: another container may have its name", applies: (*subject).namesHidden, judge: (*subject).unknownNames},
	{name: "cannot-create", applies: (*subject).creationFails, judge: (*subject).cannotCreate},
	{name: "create", applies: (*subject).absent, judge: (*subject).create},

	{name: "conflict: another guest has its VMID", applies: (*subject).vmidTaken, judge: (*subject).conflictVMID},
	{name: "busy: an apply would meet a task", applies: (*subject).meetsHold, judge: (*subject).busyHold},
	{name: "unknown: not read yet", applies: (*subject).notProven, judge: (*subject).unknownUnread},
	{name: "conflict: another guest has its MAC, too", applies: (*subject).macShared, judge: (*subject).conflictSharedMAC},
	{name: "conflict: other MACs in the lock", applies: (*subject).macsDiffer, judge: (*subject).conflictLock},
	{name: "would-destroy: tainted", applies: (*subject).tainted, judge: (*subject).destroyTainted},
	{name: "unknown: no configuration", applies: (*subject).configurationUnread, judge: (*subject).unknownConfiguration},
	{name: "moved: the state has another node", applies: (*subject).otherNodeInState, judge: (*subject).movedContainer},
	{name: "would-destroy: another guest has a volume of it", applies: (*subject).destroysLent, judge: (*subject).destroyLent},
	{name: "would-destroy: its profile prevents that", applies: (*subject).destroyPrevented, judge: (*subject).destroyHalfway},
	{name: "busy: its protection is on", applies: (*subject).destroyRefused, judge: (*subject).busyProtection},

	{name: "adopt", applies: (*subject).notInState, judge: (*subject).adopt, ours: true},
	{name: "moved", applies: (*subject).elsewhere, judge: (*subject).moved, ours: true},
	{name: "managed", applies: every, judge: (*subject).managed, ours: true},
}

// otherNodeInState reports whether the container is on another node than the state says: somebody
// migrated it, or the cluster did. The provider would not find it, and create it again.
func (s *subject) otherNodeInState() bool {
	return len(s.states) == 1 && s.states[0].Node != "" && s.states[0].Node != s.guest.Node
}

func (s *subject) movedContainer() {
	s.Is(finding.Moved, finding.Why("container-moved")).Severity = finding.Blocked
	s.Because("it is on %s, and the state says %s", s.guest.Node, s.states[0].Node).Because("%s", Describe(s.guest))
	what := "migrate it back, which restarts it if it runs"
	if !s.retired() && !s.Destroy { // of one that leaves, nothing is imported
		s.Case = finding.StaleNode
		s.Add(finding.Step{
			What:  "remove it from the state, and import it from where it is, as `stackgen apply` does; nothing happens to the container",
			Lines: []finding.Line{s.stateRemove(s.states[0].Address), {Text: "stackgen import-blocks"}},
		})
		what = "or " + what
	}
	line := pve.Pvesh("create", s.guest.Path("migrate"), "--target "+shell.Word(s.states[0].Node))
	if s.guest.Status == "running" {
		line += " --restart 1"
	}
	s.Next(what, line)
}

// namesakes are other containers with the name of the container.
func (s *subject) namesakes() []*cluster.Guest {
	return slices.DeleteFunc(slices.Clone(s.match.Others), func(g *cluster.Guest) bool { return g.Kind != guest.Container })
}

// nameOfContainers reports whether a container to create has the name of others: it may be one of
// them, of which the lock was lost.
func (s *subject) nameOfContainers() bool { return s.absent() && len(s.namesakes()) > 0 }

func (s *subject) ambiguousContainer() {
	s.Is(finding.Ambiguous, finding.Why("container-name-of-others"))
	s.Because("its name is %s, and its VMID %d", s.Name, s.VMID)
	var looks []string
	for _, g := range s.namesakes() {
		s.listed[g.VMID] = true
		s.Candidates = append(s.Candidates, g.VMID)
		s.Because("%s", Describe(g))
		looks = append(looks, inspect(g))
	}
	s.Next("inspect each", looks...)
	s.Next("if one of them is this container, and the lock was lost, restore that; "+
		"or write this, and the MAC of its network, into "+s.at.Spec,
		s.line(fmt.Sprintf("adopt: {vmid: %d}", s.Candidates[0])))
	s.Next("or, if it is none of them, give the container another name in "+s.at.Spec, s.line("name: ANOTHER-NAME"))
}

// containerRestored reports whether the state has the container, and only under another VMID a container
// has its MAC addresses: it was restored or cloned by hand.
func (s *subject) containerRestored() bool { return s.absentInState() && len(s.containerCopies()) > 0 }

func (s *subject) containerCopies() []cluster.Copy {
	return slices.DeleteFunc(s.copies(), func(c cluster.Copy) bool { return c.Kind != guest.Container })
}

// containerOtherVMID is a container that keeps its VMID: no spec can give it another one.
func (s *subject) containerOtherVMID() {
	copies := s.containerCopies()
	s.Is(finding.Gone, finding.Why("other-vmid"))
	s.Because("no guest has VMID %d", s.VMID)
	for _, c := range copies {
		s.listed[c.VMID] = true
		s.Candidates = append(s.Candidates, c.VMID)
		s.Because("%s: %s", sharing(c), Describe(c.Guest))
		s.Next(fmt.Sprintf("if container %d is this one, restore it under VMID %d, and destroy container %[1]d", c.VMID, s.VMID), s.restore())
	}
	s.Next("or inspect it, and destroy it if it is only a copy; then run preflight again", inspect(copies[0].Guest))
}

// containerUpdates names what an update does to a container. It refuses one that Proxmox VE would
// not make now, and one that does what the spec does not ask for.
func (p *planJudge) containerUpdates(c *tf.ResourceChange) {
	g, spec := p.in.Inventory.Guest(tf.VMIDOf(c.Before)), p.spec(c)
	updates := p.containerEffects(c, g)
	p.does[c.Address] = updates
	settles := func(u effect.Update) bool { return u.Does == effect.Settles }
	if !slices.ContainsFunc(updates, func(u effect.Update) bool { return !settles(u) }) {
		return // no request that writes
	}
	if h := holdOn(p.in.Inventory, g); h.blocks > nothing {
		h.refuse(p.add(c), "held-change")
		return
	}
	updates = slices.DeleteFunc(slices.Clone(updates), settles)
	f := p.add(c)
	p.kind(f, c, updates)
	addUpdates(f, updates, true)
	harms := harmsOf(updates)
	if len(harms) == 0 || g == nil {
		return
	}
	if spec == nil {
		f.Next(renderAndPlan, "stackgen render")
		return
	}
	if slices.Contains(harms, effect.Stops) {
		f.Next("permit that: write into "+p.lock.Spec, specLine(spec, "restart: true"))
		f.Next("or shut it down before the apply", shutdown(g))
	}
	if slices.Contains(harms, effect.Restarts) {
		f.Next("permit the restart: write into "+p.lock.Spec, specLine(spec, "restart: true"))
		f.Next("or shut it down before the apply", shutdown(g))
	}
	if slices.Contains(harms, effect.Unplugs) {
		f.Next("write the network device into "+p.lock.Spec+", or remove it yourself", inspect(g))
	}
	f.Next("or undo the change, in the spec or in Proxmox VE: find out what differs", "stackgen drift")
}

// containerSettles reports whether an update sets in the state only what an import cannot read.
func containerSettles(c *tf.ResourceChange) bool {
	all := (&effect.Container{Running: true, Had: func(tf.Change) bool { return false }}).Updates(c.OfContainer())
	return !slices.ContainsFunc(all, func(u effect.Update) bool { return u.Does != effect.Settles })
}

// containerEffects are what an update does to a container. One that cannot be read
// may run.
func (p *planJudge) containerEffects(c *tf.ResourceChange, g *cluster.Guest) []effect.Update {
	state := p.inState(c)
	v := &effect.Container{
		Running: g == nil || g.Status != "stopped" || c.Before[guest.Started] == true, // the lists are some seconds old
		Permits: permitsRestart(p.spec(c)),
		Had: func(change tf.Change) bool {
			if state == nil {
				return !c.Imports // no apply has left anything of a container that is being imported
			}
			return slices.ContainsFunc(state.MACs, func(mac string) bool {
				return strings.Contains(strings.ToUpper(change.Was), "MAC_ADDRESS="+strings.ToUpper(mac))
			})
		},
	}
	return v.Updates(c.OfContainer())
}
