package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A container has rules of its own for two reasons: the provider looks for it on the node of its state only, and
// it is known by its MAC addresses alone. It has no agent, no template, and nothing that an import cannot read.

// otherNodeInState reports whether the container is on another node than the state says: somebody
// migrated it, or the cluster did. The provider would not find it, and create it again.
func (s *subject) otherNodeInState() bool {
	return len(s.states) == 1 && s.states[0].Node != "" && s.states[0].Node != s.guest.Node
}

func (s *subject) movedContainer() {
	s.Is(finding.Moved, finding.Why("container-moved")).Severity = finding.Blocked
	s.Because("it is on %s, and the state says %s", s.guest.Node, s.states[0].Node).Because("%s", Describe(s.guest))
	switch {
	case s.retired(): // nothing is imported of one that leaves
	case s.Destroy:
		s.Next("let an apply import it from where it is, then destroy it", "stackgen apply "+shell.Path(s.at.Spec))
	default:
		s.Case = finding.StaleNode
		s.Add(finding.Step{
			What:  "remove it from the state, and import it from where it is, as `stackgen apply` does; nothing happens to the container",
			Lines: []finding.Line{s.stateRemove(s.states[0].Address), {Text: "stackgen import-blocks"}},
		})
	}
	restart := "--restart 1" // one that is off stays off, and soon after a migration the lists do not know whether it runs
	s.Next("or migrate it back, which restarts it if it runs",
		pve.Pvesh("create", s.guest.Path("migrate"), "--target "+shell.Word(s.states[0].Node), restart))
}

// clonedOnly reports whether the container is a clone that an apply made and did not give its MAC addresses.
func (s *subject) clonedOnly() bool {
	return s.guest != nil && s.guest.Lock == "" && s.notInState() && s.cloneRecord().Is(s.guest)
}

func (s *subject) busyCloned() {
	s.Is(finding.Busy, finding.Why("cloned-only")).Because("%s", Describe(s.guest))
	if s.Destroy {
		s.Severity, s.Case = finding.OK, finding.LeftClone // it is in no state, so nothing that the destroy does meets it
		s.hold().destroy(s.Finding, "a destroy leaves it; to destroy it, %s")
		return
	}
	c := s.cloneRecord()
	switch lacks := c.Lacks(s.guest.Config.Raw); {
	case len(lacks) > 0:
		s.Because("it lacks %s of its template %d", strings.Join(lacks, ", "), c.Template)
	case s.match.VM == nil || s.match.VM.ClonedFrom != c.Template:
		s.Because("it is a clone of template %d, and the spec says another one", c.Template)
	case s.guest.Status != "stopped":
		s.Next("shut it down, then run preflight again: nothing has configured it", shutdown(s.guest))
	default:
		s.Case = finding.OpenClone
		s.Next("let an apply complete it", "stackgen apply "+shell.Path(s.at.Spec))
	}
	s.hold().destroy(s.Finding, "or destroy it, %s, then run preflight again")
}

// cloneRecord is what tells the clone that a run has begun to make, or nil.
func (s *subject) cloneRecord() *cluster.CloneRecord { return s.Begun[s.Stack+"/"+s.Key].Clone }

// heldByHA reports whether Proxmox VE refuses the provider's request that destroys the container: unlike that for a
// VM, it does not remove the HA resource.
func (s *subject) heldByHA() bool { return s.guest.HA != "" }

func (s *subject) destroyHeldByHA() bool { return s.Destroy && !s.notInState() && s.heldByHA() }

func (s *subject) busyHA() {
	s.Is(finding.Busy, finding.Why("container-ha", s.guest.HA))
	s.Because("%s", Describe(s.guest))
	s.Next("to destroy it, remove it from the HA manager, as root on a node; that does not stop it",
		fmt.Sprintf("ha-manager remove %s:%d", haType(s.guest.Kind), s.VMID))
}

// namesakes are other containers with the name of the container.
func (s *subject) namesakes() []*cluster.Guest {
	return slices.DeleteFunc(slices.Clone(s.match.Others), func(g *cluster.Guest) bool { return g.Kind != guest.Container })
}

// nameOfContainers reports whether a container to create has the name of others: it may be one of
// them, of which the lock was lost.
func (s *subject) nameOfContainers() bool { return s.absent() && len(s.namesakes()) > 0 }

func (s *subject) ambiguousContainer() {
	s.Is(finding.Ambiguous, finding.Why("name-of-others"))
	s.Because("its name is %s, and its VMID %d", s.Name, s.VMID)
	var looks []string
	var lines []finding.Line
	for _, g := range s.namesakes() {
		s.listed[g.VMID] = true
		s.Candidates = append(s.Candidates, g.VMID)
		s.Because("%s", Describe(g))
		looks, lines = append(looks, inspect(g)), append(lines, s.adoptLine(g.VMID))
	}
	what := "if it is this container, and the lock was lost, restore that; or " + s.removeKeys() + "run"
	if len(lines) > 1 {
		what = "if one of them is this container, and the lock was lost, restore that; or " + s.removeKeys() + "run the line of the right one"
	}
	s.Next("inspect each", looks...)
	s.Add(finding.Step{What: what, Lines: lines})
	s.Next("or, if it is none of them, give the container another name in "+s.at.Spec, s.line("name: ANOTHER_NAME"))
}

// containerRestored reports whether the state has the container, and only under another VMID a container
// has its MAC addresses: it was restored or cloned by hand.
func (s *subject) containerRestored() bool { return s.absentInState() && len(s.containerCopies()) > 0 }

func (s *subject) containerCopies() []cluster.Copy {
	return slices.DeleteFunc(s.copies(), func(c cluster.Copy) bool { return c.Kind != guest.Container })
}

// goneContainer is a container that has another VMID now. Its key takes it as it is: nothing is restored or destroyed
// for that.
func (s *subject) goneContainer() {
	copies := s.containerCopies()
	s.Is(finding.Gone, finding.Why("other-vmid"))
	s.Because("no guest has VMID %d", s.VMID)
	for _, c := range copies {
		s.listed[c.VMID] = true
		s.Candidates = append(s.Candidates, c.VMID)
		s.Because("%s: %s", sharing(c), Describe(c.Guest))
		what := "if container %d is this one, use it: %sadopt it, and import it; nothing happens to the container"
		s.Next(fmt.Sprintf(what, c.VMID, s.removeFirst()), s.adoptCopy(c)...)
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
	if p.nicsAdded(c, g) || len(harmsOf(updates)) == 0 && p.fails(c, updates, "restart-fails", p.restartFails(c, g, updates)) {
		return
	}
	updates = p.withDropped(c, g, slices.DeleteFunc(slices.Clone(updates), settles))
	f := p.add(c)
	p.kind(f, c, updates)
	addUpdates(f, updates, true)
	harms := harmsOf(updates)
	if len(harms) == 0 || g == nil || g.Config == nil {
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
	if lines := keepLinesOfContainer(g, spec, updates); len(lines) > 0 {
		f.Next("to keep what the container has, write into "+p.lock.Spec, lines...)
	} else {
		f.Next("undo the change, in the spec or in Proxmox VE; what the container has", inspect(g))
	}
}

// keepLinesOfContainer are the lines of a spec that keep what updates would harm, as far as a spec can say it.
func keepLinesOfContainer(g *cluster.Guest, spec *schema.VM, updates []effect.Update) (lines []string) {
	var harmed []string
	for _, u := range updates {
		if u.Harm != "" {
			harmed = append(harmed, hardware.Named(guest.Container, u.Attribute()))
		}
	}
	keeps, _ := hardware.Read(g).Accept(spec, harmed)
	for _, a := range keeps {
		if a.Line != "" {
			lines = append(lines, specLine(spec, a.Line))
		}
	}
	return lines
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
		Running: g == nil || g.Status != "stopped",
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
