package guard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A VM is `creation-only` if it is managed, and its spec has another value than the VM was made
// with, of a property that acts at creation only.

// madeOtherwise says what the VM was made with, where the spec has another value. No plan shows
// it.
func (s *subject) madeOtherwise() {
	if s.Destroy || s.Stops() || s.match.VM == nil || s.match.VM.Adopt {
		return
	}
	if s.isReplica() {
		s.madeAsTemplate()
		return
	}
	for _, f := range schema.CreationRows() {
		made, spec := s.madeWith(f.Key), s.entry.CreationValue(s.match.VM, f.Key)
		if made == "" || spec == "" || made == spec || !f.ActsAtCreation(s.profile) || s.agrees(f.Key, spec) {
			continue
		}
		s.MadeWith = append(s.MadeWith, finding.Made{Property: f.Key, Was: made, Spec: spec})
		s.Because("made with %s: %s, and the spec says %s", f.Key, made, spec)
		s.Next("to say what it is, write into "+s.at.Spec, s.line(f.Key+": "+made))
		s.change(f.Key, spec)
	}
	s.placed()
	s.asMade()
}

// asMade gives a VM that was made otherwise its verdict.
func (s *subject) asMade() {
	if len(s.MadeWith) > 0 && s.Kind == finding.Managed {
		s.Is(finding.CreationOnly, finding.Why("creation-only"))
	}
}

// madeWith is what the VM was made with, by its state, the lock or its disks, or nothing.
func (s *subject) madeWith(property string) string {
	if property == guest.Clone && len(s.states) == 1 && !s.entry.DisksExchanged() {
		if mode := cloneMode(&s.states[0]); mode != "" {
			return mode
		}
	}
	if made := s.entry.MadeWith[property]; made != "" {
		return made
	}
	if property == guest.Clone && s.base() != nil {
		return feasible.Linked
	}
	return ""
}

// agrees reports whether the VM is as the spec says, however it was made: somebody started or
// stopped it.
func (s *subject) agrees(property, spec string) bool {
	return property == guest.Started && strconv.FormatBool(s.guest.Status == "running") == spec
}

// change adds how the VM becomes what the spec says.
func (s *subject) change(property, spec string) {
	switch {
	case s.MadeFrom != 0 && property != guest.Started: // oldTemplate has said it
	case property != guest.Started:
		s.rebuild(fmt.Sprintf("or, for new disks with %s: %s, which lose what is on the old ones, rebuild it", property, spec))
		what := fmt.Sprintf("or, for a %s with %s: %s, write it under a new key into %s, and retire this one",
			s.Word(), property, spec, s.at.Spec)
		s.Add(finding.DoAll(what, lock.Entries("retired", s.at.Retired, s.Key), "stackgen render"))
	case spec == "true":
		s.Next("or start it", "stackgen power start "+s.Stack+"/"+s.Key)
	default:
		s.Next("or shut it down", "stackgen power shutdown "+s.Stack+"/"+s.Key)
	}
}

// placed says that the VM is on no node that its placement would choose now.
func (s *subject) placed() {
	v := s.match.VM
	if v.Node != "" || v.Placement == nil || s.Kind == finding.Moved || s.Kind == finding.Migrate {
		return
	}
	nodes := v.Placement.Choices()
	if len(nodes) == 0 || slices.Contains(nodes, s.guest.Node) {
		return
	}
	spec := strings.Join(nodes, ", ")
	s.MadeWith = append(s.MadeWith, finding.Made{Property: guest.Placement, Was: s.guest.Node, Spec: spec})
	s.Because("placed on %s, and the placement of the spec says %s", s.guest.Node, spec)
	s.Next("to say where it is, write into "+s.at.Spec, s.line("node: "+finding.Key(s.guest.Node)))
	s.Next("or migrate it, and write its node into "+s.at.Spec, migrateLine(s.guest, nodes[0]))
}

// cloneMode is how a VM was cloned, or nothing if the state does not say it. An imported VM
// has no clone.
func cloneMode(r *tf.Resource) string {
	switch r.Values["clone.full"] {
	case "true":
		return feasible.Full
	case "false":
		return feasible.Linked
	}
	return ""
}

// creationOf is what the state says of the creation of a VM.
func creationOf(r *tf.Resource) lock.Values {
	mode := cloneMode(r)
	if mode == "" {
		return nil
	}
	return lock.Values{guest.Clone: mode}
}
