package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// onOtherNode is a VM on another node than the spec says, where the profile does
// not ignore that: an apply migrates it. It reports whether that blocks an apply.
func (s *subject) onOtherNode() bool {
	if s.guest.Node == s.entry.Node || s.entry.Node == "" || s.Destroy || s.profile == nil || s.profile.Ignores("node_name") {
		return false
	}
	switch {
	case len(s.states) == 0:
		s.importedElsewhere()
	case !s.nodeChanged():
		s.movedBack()
	case s.Imports[tf.Unit{Stack: s.Stack, Unit: s.Unit}][s.Resource] != "":
		s.stillImported()
	default:
		s.migrates()
	}
	return s.Stops()
}

// nodeChanged reports whether the spec has another node for the VM than when it was last
// seen: it is where the last apply left it, and the spec said that node before.
func (s *subject) nodeChanged() bool {
	return s.states[0].Node == s.guest.Node && slices.Contains(s.entry.FormerNodes, s.guest.Node)
}

// movedBack is a VM that somebody migrated, or HA did. An apply would undo that.
func (s *subject) movedBack() {
	s.Is(finding.Moved, "migrated by hand or by HA, and profile "+s.profile.Name+" manages node_name: it would be moved back")
	s.Severity = finding.Blocked
	s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	if state := s.states[0].Node; slices.Contains(s.entry.FormerNodes, s.guest.Node) && state == s.entry.Node {
		s.Because("the state has it on %s: somebody migrated it back to %s, or an apply could not migrate it", state, s.guest.Node)
	}
	s.leaveThere()
	s.Next("or migrate it to "+s.entry.Node, migrateLine(s.guest, s.entry.Node))
	s.ignoreNode()
}

// importedElsewhere is a VM that is not in state. Its import sets the node of the
// cluster, and the provider replaces a VM whose node differs then.
func (s *subject) importedElsewhere() {
	s.Is(finding.Moved, "in no state, and on another node than the spec says: an import with profile "+s.profile.Name+" would replace it")
	s.Severity = finding.Blocked
	s.Because("%s", Describe(s.guest)).Because("the spec says %s", s.entry.Node)
	s.leaveThere()
	s.Next("or migrate it to "+s.entry.Node+" first", migrateLine(s.guest, s.entry.Node))
	s.ignoreNode()
}

// stillImported is a VM that an import file still imports, so that the module leaves out
// what makes the provider migrate it. import-blocks, which does not judge these files,
// removes it.
func (s *subject) stillImported() {
	s.cannotMigrate("the spec has another node, and the import file still has the VM: an apply would replace it")
	s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	s.Because("%s imports %s", importPath(tf.Unit{Stack: s.Stack, Unit: s.Unit}), s.Resource)
	s.Add(writeImports())
}

// leaveThere is the step after which the VM stays where it is.
func (s *subject) leaveThere() {
	s.Next("to leave it there, write into "+s.at.Spec, s.line("node: "+s.guest.Node))
}

// ignoreNode is the step after which it does not matter where the VM is.
func (s *subject) ignoreNode() {
	ignored := slices.DeleteFunc(slices.Clone(s.profile.IgnoreChanges), schema.IsAlwaysIgnored)
	s.Next("or let the profile ignore node_name, as the built-in ones do: in "+s.at.Spec,
		fmt.Sprintf("profiles: {%s: {ignore_changes: [%s]}}", s.profile.Name, strings.Join(append([]string{"node_name"}, ignored...), ", ")))
}

// migrateLine is the command that migrates a VM as an apply does.
func migrateLine(g *cluster.Guest, target string) string {
	line := pve.Pvesh("create", g.Path("migrate"), "--target "+shell.Word(target), "--with-local-disks 1")
	if g.Status == "running" {
		line += " --online 1"
	}
	return line
}

// migrates is a VM that the next apply migrates, if that can succeed.
func (s *subject) migrates() {
	s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	if s.targetMissing() {
		return
	}
	drives := drivesOf(s.guest)
	if s.storageMissing(drives) || s.usesNode(drives) || s.cloneOfLocal(drives) || s.onlyOffline(drives) || s.doesNotFit() || s.oldModule() {
		return
	}
	how := "while it is off"
	if s.guest.Status == "running" {
		how = "live"
	}
	s.Is(finding.Migrate, fmt.Sprintf("the spec says %s now: an apply migrates it there, %s", s.entry.Node, how))
	var copied []string
	for _, d := range drives {
		if s.local(d) {
			copied = append(copied, d.Key+" on "+d.Storage)
		}
	}
	if len(copied) > 0 {
		s.Because("its local disks are copied: %s", strings.Join(copied, ", "))
	}
}

// moves refuses a plan that moves a VM whose node the spec did not change.
func (p *planJudge) moves(c *tf.ResourceChange) bool {
	before, after := nodeOf(c.Before), nodeOf(c.After)
	known := p.known(c)
	if before == "" || after == "" || before == after || known != nil && (known.Kind == finding.Migrate || known.Stops()) {
		return false
	}
	f := p.add(c).Is(finding.Moved, "the plan moves it, and the spec did not change its node")
	f.Severity = finding.Blocked
	f.Because("the plan moves %s from %s to %s", c.Address, before, after).Next(renderAndPlan, "stackgen render")
	return true
}

// nodeOf is the node in a plan's values, or "".
func nodeOf(values map[string]any) string {
	node, _ := values["node_name"].(string)
	return node
}
