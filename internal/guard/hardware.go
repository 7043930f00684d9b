package guard

import (
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
)

// compareHardware reports what the first plan after an import would change,
// because the spec has other hardware than the VM. It does not block, since the
// change may be intended: a clone has the hardware of its template, and after a
// lost state the plan removes what the spec does not name. It blocks only what
// would replace the VM.
func (s *subject) compareHardware() {
	if s.match.VM == nil || s.guest.Config == nil || len(s.guest.Config.Raw) == 0 || s.profile == nil || s.profile.IgnoreAll {
		return
	}
	differences := hardware.Read(s.guest).Differences(s.match.VM, s.profile.Ignores)
	var lines, commands []string
	unsupported := false
	switch {
	case slices.ContainsFunc(differences, func(d hardware.Difference) bool { return d.Replaces }):
		s.Severity, s.Import, s.Reason = finding.Blocked, "", s.Reason+"; the first plan after the import would replace it"
	case len(differences) > 0 && s.match.Why == cluster.HalfMade:
		s.Reason += "; the first plan after the import configures it"
	case len(differences) > 0:
		s.Reason += "; the first plan after the import would change it"
	}
	for i := range differences {
		d := &differences[i]
		s.Differs = append(s.Differs, d.Difference)
		if s.match.Why == cluster.HalfMade && !d.Replaces {
			continue // its hardware is that of the template, and the spec replaces that
		}
		s.Because("%s", d)
		commands = append(commands, d.Commands...)
		if d.Line != "" {
			lines = append(lines, s.line(d.Line))
		}
		unsupported = unsupported || d.Line == "" && len(d.Commands) == 0 && !d.Absent()
	}
	if len(lines) > 0 {
		s.Next("to keep the hardware of the VM, write into "+s.at.Spec, lines...)
		// Other VMs have no entry of their own; adopt --match writes all or nothing.
		if s.match.VM.Path == "vms."+s.Key && len(commands) == 0 && !unsupported {
			s.Add(finding.Step{What: "or let stackgen write it", Lines: []finding.Line{{Text: "stackgen adopt --match {}", Items: []string{s.String()}, Sep: " "}}})
		}
	}
	if len(commands) > 0 {
		s.Next("or change the VM instead, on any node, then run preflight again", commands...)
	}
	if unsupported {
		s.Next("to keep hardware that a spec has no property for, write into "+s.at.Spec, s.line("profile: adopted"))
	}
}
