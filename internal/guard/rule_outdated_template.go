package guard

import (
	"cmp"
	"fmt"
	"strconv"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/tf"
)

// A VM is `outdated-template` if it is managed, and was made from another template than its spec
// says.

// oldTemplate says that the VM was made from another template than the spec says. A template
// acts at creation, so no plan shows it.
func (s *subject) oldTemplate() {
	from := s.entry.MadeFrom
	if len(s.states) == 1 && !s.entry.DisksExchanged() {
		from = cmp.Or(madeFrom(&s.states[0]), from)
	}
	from = cmp.Or(from, s.base())
	to := s.entry.Template
	if s.Destroy || s.Stops() || s.match.VM == nil || from == nil || to == nil || from.VMID == to.VMID || s.sameRelease(from, to) {
		return
	}
	if s.Kind == finding.Managed {
		s.Is(finding.OldTemplate,
			finding.Why("old-template"))
	}
	s.MadeFrom = from.VMID
	is := fmt.Sprintf("template: {vmid: %d, node: %s}", from.VMID, from.Node)
	template, release := s.releaseOf(from.VMID)
	if template != "" {
		s.Because("made from %s, and the spec says %s", s.templateWords(from.VMID), s.templateWords(to.VMID))
		is = fmt.Sprintf("template: {name: %s, release: %s}", template, finding.Key(release))
	} else {
		s.Because("made from template %d, and the spec says %d", from.VMID, to.VMID)
	}
	or := ""
	if template == "" || s.makes(template, release) { // a spec cannot say a release that is retired
		s.Next("to say what it is, write into "+s.at.Spec, s.line(is))
		or = "or, "
	}
	s.rebuild(fmt.Sprintf("%sfor new disks from template %d, which lose what is on the old ones, rebuild it", or, to.VMID))
	what := fmt.Sprintf("or, for a VM from template %d, write it under a new key into %s, and retire this one", to.VMID, s.at.Spec)
	s.Add(finding.DoAll(what, lock.Entries("retired", s.at.Retired, s.Key), "stackgen render"))
}

// base is the template that the VM is a linked clone of, by the volume that one of its disks is
// based on, or nil.
func (s *subject) base() *lock.Template {
	if s.guest.Config == nil {
		return nil
	}
	for _, d := range pve.Drives(s.guest.Config.Raw) {
		if vmid := d.Base(); vmid != 0 {
			from := &lock.Template{VMID: vmid, Node: s.guest.Node}
			if g := s.Inventory.Guest(vmid); g != nil { // on shared storage, it may be elsewhere
				from.Node = g.Node
			}
			return from
		}
	}
	return nil
}

// CloneOf is the VMID of the template that a VM was cloned from, in the state. An imported
// VM has none.
const CloneOf = "clone.vm_id"

// madeFrom is what a VM was made from, or nil if the state does not say it.
func madeFrom(r *tf.Resource) *lock.Template {
	vmid, err := strconv.Atoi(r.Values[CloneOf])
	if err != nil {
		return nil
	}
	return &lock.Template{VMID: vmid, Node: cmp.Or(r.Values["clone.node_name"], r.Node)}
}
