package guard

import (
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/shell"
)

// A VM is `create` if neither state nor cluster has it, and nothing keeps it from being created.

// create is a VM that neither state nor cluster has, and that nothing keeps from its creation.
func (s *subject) create() {
	why := finding.Why("free")
	if s.entry.Recreates() {
		why = finding.Why("rebuild-begun")
	}
	s.Is(finding.Create, why).Because("VMID %d and name %s", s.VMID, s.Name)
	_, unknown := s.creation(s.match.VM, s.entry)
	for _, u := range unknown {
		s.Because("%s", u.Reason)
	}
	s.unreadMACs()
	s.brings()
}

// unreadMACs says how many guests may have a MAC address of a VM to create.
func (s *subject) unreadMACs() {
	if len(s.entry.DecidedMACs()) > 0 && s.unidentified > 0 {
		s.Because("not read: the MACs of other guests (%d); one of them may have a MAC of this %s", s.unidentified, s.Word())
	}
}

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
	brought := hardware.Read(template).FromTemplate(s.match.VM, s.profile.Ignores)
	if len(brought) == 0 {
		return
	}
	s.Reason = s.Reason.And(finding.Why("template-brings", t.VMID))
	var lines []string
	for i := range brought {
		d := &brought[i]
		s.FromTemplate = append(s.FromTemplate, d.Difference)
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
