package discover

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// existingNames notes the names that other VMs of the project have.
func (p *proposer) existingNames(joined *schema.Project) {
	for _, of := range joined.Stacks {
		i := slices.IndexFunc(p.stacks, func(s *stack) bool { return s.name == of.Name })
		for _, v := range of.VMs {
			if i < 0 || p.stacks[i].member(v.Key) == nil {
				p.names[strings.ToLower(v.Name)] = nil
			}
		}
	}
}

// claim gives a managed VM its name, which no other VM of the project may have.
func (p *proposer) claim(m *member) {
	name := m.guest.Name
	_, taken := p.names[strings.ToLower(name)]
	switch {
	case !m.managed:
	case taken:
		free := m.key
		if _, has := p.names[free]; has {
			free = m.numbered()
		}
		r := Reason{
			Config: "name=" + name,
			Why:    "another guest of the specs has this name, and names are unique in a project, in upper or lower case: give it another one",
		}
		if m.guest.Kind == guest.VM { // that of a container is its host name, which changes in it at once
			r.Commands = []string{m.reading.Set("--name " + free)}
		}
		m.adopt(r)
	default:
		p.names[strings.ToLower(name)] = m
	}
}

// adoptedNames gives the VMs that are not managed names that no other VM has: their own
// where that is possible.
func (p *proposer) adoptedNames(joined *schema.Project) {
	names := map[string]bool{}
	for name, m := range p.names {
		names[name] = m == nil || m.managed
	}
	for _, s := range p.stacks {
		of := stackOf(joined, s.name)
		for _, m := range s.members {
			if m.managed {
				continue
			}
			name, pattern := m.guest.Name, vmOf(of, m.key).Name
			m.name = ""
			switch {
			case !names[strings.ToLower(name)] && len(schema.CheckProperty(m.guest.Kind, guest.Name, text(name))) == 0:
			case !names[strings.ToLower(pattern)]:
				name = pattern
			default:
				name = m.numbered()
			}
			if names[strings.ToLower(name)] = true; name != pattern {
				m.name = name
			}
		}
	}
}
