package discover

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/schema"
)

// correct takes the cause of a problem out of the specs: a VM, or what is in the defaults.
func (p *proposer) correct(joined *schema.Project, problem schema.Problem) error {
	if p.leaveAt(joined, problem.Pos, problem.Message) || p.leaveAt(joined, problem.First, problem.String()) {
		return nil
	}
	for _, s := range p.stacks {
		words := strings.Split(problem.Path, ".")
		if s.file == problem.File && (len(words) > 2 && s.lower(words[2]) || s.lowerAll()) {
			return nil
		}
	}
	return fmt.Errorf("the specs would not be valid, so nothing was written: %s", problem.Message)
}

// leaveAt leaves the VM as it is whose entry is at a position. It reports whether there is
// one that was managed.
func (p *proposer) leaveAt(joined *schema.Project, pos schema.Pos, why string) bool {
	for _, s := range p.stacks {
		of := stackOf(joined, s.name)
		if s.file != pos.File || of == nil {
			continue
		}
		var at *schema.VM
		for _, v := range of.VMs {
			if v.Line <= pos.Line && (at == nil || v.Line >= at.Line) {
				at = v
			}
		}
		if at != nil {
			if m := s.member(at.Key); m != nil && m.managed {
				m.adopt(Reason{Why: why})
				return true
			}
		}
	}
	return false
}

// lowerAll leaves all properties to the VMs. It reports whether there were any.
func (s *stack) lowerAll() bool {
	lowered := false
	for _, l := range s.common {
		for s.lower(l.key) {
			lowered = true
		}
	}
	return lowered
}

// lower leaves more of a property to the VMs. It reports whether that was possible.
func (s *stack) lower(key string) bool {
	i := slices.IndexFunc(s.common, func(l line) bool { return l.key == key })
	if i < 0 || s.level[key] >= none {
		return false
	}
	s.level[key]++
	return true
}
