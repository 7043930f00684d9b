package guard

import (
	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// A VM is `not-found` if the spec adopts, or the import file imports, a VMID that no guest has.

// adoptsNothing reports whether the spec adopts a VMID that no guest has.
func (s *subject) adoptsNothing() bool { return s.absent() && s.match.VM != nil && s.match.VM.Adopt }

func (s *subject) notFoundByAdopt() {
	s.Is(finding.NotFound, finding.Why("adopts-nothing")).Because("no guest has VMID %d", s.VMID)
	s.Next("correct the VMID in "+s.at.Spec, s.line("adopt: {vmid: N}"))
	switch {
	case s.entry.IsContainer():
		s.Next("or, for a new and empty one, write an archive into "+s.at.Spec+", instead of adopt", s.line("template: STORAGE:vztmpl/ARCHIVE"))
	default:
		s.Next("or, to create it, write its template into "+s.at.Spec+", instead of adopt", s.line("template: VMID"))
	}
	s.Add(s.retire("or, if you do not need it any more, ", s.Key))
}

// importsNothing reports whether the import file imports a VM that no guest is.
func (s *subject) importsNothing() bool {
	_, ok := s.imported()
	return s.absent() && ok
}

func (s *subject) notFoundByImport() {
	id, _ := s.imported()
	s.Is(finding.NotFound, finding.Why("imports-nothing"))
	s.Because("%s imports %s into %s", importPath(tf.Unit{Stack: s.Stack, Unit: s.Unit}), id, s.Resource)
	s.Add(writeImports())
}
