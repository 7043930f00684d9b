package guard

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// brings reports what a VM gets from its template without its spec saying so. It
// blocks nothing: the VM is made, and its plan is empty. After a lost state, the plan
// would change it.
func (s *subject) brings() {
	t := s.entry.Template
	if t == nil || s.profile == nil || s.match.VM == nil {
		return
	}
	template := s.Inventory.Guest(t.VMID)
	if template == nil || template.Config == nil || len(template.Config.Raw) == 0 {
		return
	}
	brought := hardware.Read(template).Brings(s.match.VM, s.profile.Ignores)
	if len(brought) == 0 {
		return
	}
	s.Reason += fmt.Sprintf("; template %d brings what the spec does not say", t.VMID)
	var lines []string
	for i := range brought {
		d := &brought[i]
		s.Brings = append(s.Brings, d.Difference)
		s.Because("%s", d)
		if d.Line != "" {
			lines = append(lines, s.line(d.Line))
		}
	}
	if len(lines) > 0 {
		s.Next("to keep it after a loss of the state, write into "+s.at.Spec, lines...)
	}
	if remove := removals(template, brought); len(remove) > 0 {
		or := "or "
		if len(lines) == 0 {
			or = ""
		}
		s.Next(or+"remove from the template what new VMs should not have: each line removes one entry", remove...)
	}
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

// oldTemplate says that the VM was made from another template than the spec says. A template
// acts at creation, so no plan shows it.
func (s *subject) oldTemplate() {
	from := s.entry.MadeFrom
	if len(s.states) == 1 {
		from = cmp.Or(madeFrom(&s.states[0]), from)
	}
	to := s.entry.Template
	if s.Destroy || s.Stops() || s.match.VM == nil || from == nil || to == nil || from.VMID == to.VMID {
		return
	}
	if s.Kind == finding.Managed && len(s.next)+len(s.Updates) == 0 {
		s.Is(finding.OldTemplate,
			"made from another template than the spec says: a template acts at creation, and an apply leaves the VM as it is")
	}
	s.MadeFrom = from.VMID
	s.Because("made from template %d, and the spec says %d", from.VMID, to.VMID)
	s.Next("to say what it is, write into "+s.at.Spec, s.line(fmt.Sprintf("template: {vmid: %d, node: %s}", from.VMID, from.Node)))
	what := fmt.Sprintf("or, for a VM from template %d, write it under a new key into %s, and retire this one", to.VMID, s.at.Spec)
	s.Add(finding.DoAll(what, finding.Entries("retired", s.Key), "stackgen render"))
}

// removals are the lines that remove from a template what it brings, without volumes:
// clones may need them.
func removals(template *cluster.Guest, brought []hardware.Difference) []string {
	var out []string
	for i := range brought {
		for entry := range strings.FieldsSeq(brought[i].Config) {
			key, value, _ := strings.Cut(entry, "=")
			if _, has := template.Config.Raw[key]; has && !strings.Contains(value, ":base-") && !strings.Contains(value, ":vm-") {
				out = append(out, set(template, "--delete "+shell.Word(key)))
			}
		}
	}
	return out
}
