package guard

import (
	"fmt"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
)

// nodeDown is a VM on a node that is offline or does not answer, or a new one whose template
// is on such a node. A destroy of a VM that was never made needs no node.
func (s *subject) nodeDown() bool {
	create := s.guest == nil && len(s.states) == 0
	if s.Destroy && create {
		return false
	}
	n, reason := s.Inventory.Node(s.Node), ""
	switch t := s.entry.Template; {
	case n != nil && n.Silent != "":
		reason = "node " + n.Name + " is " + n.Down()
	case n != nil && !n.Online:
		reason = "node " + n.Name + " is offline, so what is known of its guests may be old"
	case create && t != nil:
		if n = s.Inventory.Node(s.templateNode(t)); n != nil && (!n.Online || n.Silent != "") {
			reason = fmt.Sprintf("its template %d is on node %s, which is %s", t.VMID, n.Name, n.Down())
		}
	}
	if reason == "" {
		return false
	}
	s.Is(finding.Unknown, reason)
	what, line := n.Wake()
	s.Next(what+", then run preflight again", line)
	return true
}

// templateNode is where a template is, or the node that the lock says.
func (s *subject) templateNode(t *lock.Template) string {
	if g := s.Inventory.Guest(t.VMID); g != nil {
		return g.Node
	}
	return t.Node
}
