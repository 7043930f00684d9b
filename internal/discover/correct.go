package discover

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// correct takes the causes of errors out of the specs: VMs, all at once, or what is in the
// defaults.
func (p *proposer) correct(joined *schema.Project, wrong []schema.Problem) error {
	left := map[*member]bool{}
	for _, problem := range wrong {
		m, first := p.memberAt(joined, problem.Pos), p.memberAt(joined, problem.First)
		if m == nil || !m.managed || left[first] {
			continue // if the first one of two was left just now, the second one may be right
		}
		m.adopt(because(m, problem))
		left[m] = true
	}
	problem := wrong[0]
	if first := p.memberAt(joined, problem.First); len(left) == 0 && first != nil && first.managed {
		first.adopt(because(first, problem))
		left[first] = true
	}
	if len(left) > 0 {
		return nil
	}
	for _, s := range p.stacks {
		words := strings.Split(problem.Path, ".")
		if s.file != problem.File {
			continue
		}
		if len(words) > 2 && (words[0] == guest.Container.List() && s.lower(ofContainers+words[2]) || s.lower(words[2])) || s.lowerAll() {
			return nil
		}
	}
	return fmt.Errorf("the specs would not be valid, so nothing was written: %s", problem.Message)
}

// because is an error as the reason of a VM. Lines are those of a draft, so it names none.
func because(m *member, problem schema.Problem) Reason {
	why := problem.Message
	if problem.First != (schema.Pos{}) {
		why = strings.ReplaceAll(why, problem.First.String(), problem.First.File)
	}
	return Reason{Why: strings.TrimPrefix(why, m.guest.Kind.Name()+" "+m.key+": ")}
}

// memberAt is the VM whose entry is at a position, or nil.
func (p *proposer) memberAt(joined *schema.Project, pos schema.Pos) *member {
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
			return s.member(at.Key)
		}
	}
	return nil
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

// lowerOnce is lower, once for all VMs: the next attempt judges them again.
func (s *stack) lowerOnce(key string) bool {
	s.lowered[key] = s.lowered[key] || s.lower(key)
	return s.lowered[key]
}

// lowerFor is lowerOnce for a property of a member: that of the defaults which it inherits.
func (s *stack) lowerFor(m *member, key string) bool {
	if !m.isContainer() {
		return s.lowerOnce(key)
	}
	return s.lowerOnce(ofContainers+key) || schema.InheritedByContainers(key) && s.lowerOnce(key)
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
