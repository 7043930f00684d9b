package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A VM is `moved` if it is on another node than its spec says, and the spec did not change its
// node. That blocks where its profile manages node_name: an apply would move or replace it.

// moved is a VM on another node than the spec says, which an apply leaves there.
func (s *subject) moved() {
	s.Is(finding.Moved, finding.Why("on-other-node"))
	if s.Destroy {
		s.Reason = finding.Why("destroyed-on-other-node")
	}
	s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
}

// toOtherNode reports whether an apply would bring the VM to another node: the profile does not
// ignore the node of the spec, and the VM is elsewhere.
func (s *subject) toOtherNode() bool {
	return s.elsewhere() && !s.Destroy && s.profile != nil && !s.profile.Ignores("node_name")
}

// migratedByHand reports whether an apply would undo a migration that somebody made, or HA.
func (s *subject) migratedByHand() bool {
	return s.toOtherNode() && !s.notInState() && !s.nodeChanged()
}

// importedElsewhere reports whether an import of the VM sets the node of the cluster, so that the
// provider replaces the VM.
func (s *subject) importedElsewhere() bool { return s.toOtherNode() && s.notInState() }

// nodeChanged reports whether the spec has another node for the VM than when it was last
// seen: it is where the last apply left it, and the spec said that node before.
func (s *subject) nodeChanged() bool {
	return s.states[0].Node == s.guest.Node && slices.Contains(s.entry.FormerNodes, s.guest.Node)
}

func (s *subject) movedBack() {
	s.Is(finding.Moved, finding.Why("moved-back", s.profile.Name))
	s.Severity = finding.Blocked
	s.Because("it is on %s, and the spec says %s", s.guest.Node, s.entry.Node)
	if state := s.states[0].Node; slices.Contains(s.entry.FormerNodes, s.guest.Node) && state == s.entry.Node {
		s.Because("the state has it on %s: somebody migrated it back to %s, or an apply could not migrate it", state, s.guest.Node)
	}
	s.leaveThere()
	s.Next("or migrate it to "+s.entry.Node, migrateLine(s.guest, s.entry.Node))
	s.ignoreNode()
}

func (s *subject) movedBeforeImport() {
	s.Is(finding.Moved, finding.Why("import-would-replace", s.profile.Name))
	s.Severity = finding.Blocked
	s.Because("%s", Describe(s.guest)).Because("the spec says %s", s.entry.Node)
	s.leaveThere()
	s.Next("or migrate it to "+s.entry.Node+" first", migrateLine(s.guest, s.entry.Node))
	s.ignoreNode()
}

// leaveThere is the step after which the VM stays where it is.
func (s *subject) leaveThere() {
	s.Next("to leave it there, write into "+s.at.Spec, s.line("node: "+finding.Key(s.guest.Node)))
}

// ignoreNode is the step after which it does not matter where the VM is.
func (s *subject) ignoreNode() {
	ignored := slices.DeleteFunc(slices.Clone(s.profile.IgnoreChanges), schema.IsAlwaysIgnored)
	file := cmp.Or(s.profile.File, s.at.Spec) // a profile is of the whole project, and may be in another file
	// Its other keys stay: without prevent_destroy, an apply may destroy what the profile protects.
	s.Next("or let the profile ignore node_name, as the built-in ones do: write into "+file,
		fmt.Sprintf("ignore_changes: [%s]  # profiles.%s", strings.Join(append([]string{"node_name"}, ignored...), ", "), s.profile.Name))
}

// migrateLine is the command that migrates a VM as an apply does.
func migrateLine(g *cluster.Guest, target string) string {
	line := pve.Pvesh("create", g.Path("migrate"), "--target "+shell.Word(target), "--with-local-disks 1")
	if g.Status == "running" {
		line += " --online 1"
	}
	return line
}
