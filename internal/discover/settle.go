package discover

import (
	"errors"
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/hardware"
	"stackgen/schema"
)

// attempts is how often specs are written again at most: each time at least one VM or one
// property has changed its place.
const attempts = 2000

// settle writes the specs again and again, until each VM that they manage has exactly what
// its spec says.
func (p *proposer) settle() (map[string][]byte, error) {
	if len(p.stacks) == 0 {
		return nil, nil
	}
	if err := p.learn(); err != nil {
		return nil, err
	}
	for range attempts {
		for _, s := range p.stacks {
			s.chooseCommon()
		}
		done, files, err := p.try()
		switch {
		case err != nil:
			return nil, err
		case done:
			return p.makeGroups(files)
		}
	}
	return nil, errors.New("no spec was found that says what the VMs have; nothing was written")
}

// learn finds out what each VM needs beside what stackgen, the settings and the spec give
// it, and which VMs a spec cannot manage.
func (p *proposer) learn() error {
	joined, err := p.join(bare)
	if err != nil {
		return err
	}
	p.existingNames(joined)
	for _, s := range p.stacks {
		of := stackOf(joined, s.name)
		if of == nil {
			return fmt.Errorf("the spec of stack %s cannot be read with what was added", s.name)
		}
		s.noRecords = of.DNS != nil
		for _, m := range s.members {
			v := vmOf(of, m.key)
			if v == nil || v.Values == nil {
				m.adopt(Reason{Why: "its entry cannot be read"})
				continue
			}
			s.base[m] = m.reading.Own(v)
			m.judge(s.base[m])
			p.claim(m)
		}
	}
	return nil
}

// judge notes why a spec cannot have all of a VM.
func (m *member) judge(own []hardware.Own) {
	for _, o := range own {
		r := Reason{Config: o.Config, Why: o.Reason, Commands: o.Commands, Neutral: o.Neutral, Settings: o.Settings}
		switch {
		case o.Later:
			m.later = append(m.later, r)
		case o.Reason != "":
			m.adopt(r)
		}
	}
}

// A stage is how much of the specs is written.
type stage int

const (
	bare stage = iota // of VMs, only what identifies them
	full
)

// join writes the specs and joins the project with them, whatever problems they have.
func (p *proposer) join(at stage) (*schema.Project, error) {
	files, err := p.files(at)
	if err != nil {
		return nil, err
	}
	joined, _, err := p.Join(files)
	return joined, err
}

// try writes the specs with the defaults as they were chosen. It reports whether they say
// what the VMs have; otherwise it has changed what is in the defaults, or who is managed.
func (p *proposer) try() (bool, map[string][]byte, error) {
	for _, s := range p.stacks {
		for _, m := range s.members {
			m.own = nil
		}
		s.lowered = map[string]bool{}
	}
	joined, err := p.join(bare)
	if err != nil {
		return false, nil, err
	}
	if again := p.inherit(joined); again {
		return false, nil, nil
	}
	p.adoptedNames(joined)
	for {
		files, err := p.files(full)
		if err != nil {
			return false, nil, err
		}
		joined, problems, err := p.Join(files)
		if err != nil {
			return false, nil, err
		}
		if wrong := slices.DeleteFunc(problems, func(p schema.Problem) bool { return p.Severity != schema.SeverityError }); len(wrong) > 0 {
			return false, nil, p.correct(joined, wrong)
		}
		if !p.complete(joined) {
			return p.verify(joined), files, nil
		}
	}
}

// complete adds the lines that VMs need because of others: a property may change the default
// of another one. It reports whether there were any.
func (p *proposer) complete(joined *schema.Project) bool {
	added := false
	for _, w := range p.wrong(joined) {
		if has := slices.ContainsFunc(w.member.own, func(l line) bool { return l.key == w.field }); !has && w.line != "" {
			w.member.own, added = append(w.member.own, line{w.field, w.line}), true
		}
	}
	return added
}

// inherit determines the lines of each VM beside its defaults. A default that a VM cannot
// undo is none any more.
func (p *proposer) inherit(joined *schema.Project) (again bool) {
	for _, s := range p.stacks {
		of := stackOf(joined, s.name)
		for _, m := range s.members {
			v := vmOf(of, m.key)
			if v.Node != m.guest.Node {
				m.own = append(m.own, line{guest.Node, hardware.Assignment(guest.VM, guest.Node, text(m.guest.Node))})
			}
			if m.managed && !s.addOwn(m, m.reading.Own(v)) {
				again = true
			}
		}
	}
	return again
}

// addOwn adds what a VM has beside the defaults to its own lines. It reports whether they can
// say all of it; otherwise a default is none any more, or the VM stays as it is.
func (s *stack) addOwn(m *member, own []hardware.Own) bool {
	all := true
	for _, o := range own {
		switch {
		case o.Later:
		case o.Line == "" || o.Reason != "":
			if !s.lowerFor(m, o.Field) {
				m.adopt(Reason{Config: o.Config, Why: o.Reason, Commands: o.Commands})
			}
			all = false
		default:
			if text := s.without(m, o.Field, o.Line); text != "" {
				m.own = append(m.own, line{o.Field, text})
			}
		}
	}
	return all
}

// verify compares the specs with the VMs. What a VM cannot undo is no default any more; if
// that does not help, the VM stays as it is.
func (p *proposer) verify(joined *schema.Project) bool {
	wrong := p.wrong(joined)
	for _, w := range wrong {
		if !w.stack.lowerFor(w.member, w.field) {
			w.member.adopt(w.reason)
		}
	}
	return len(wrong) == 0
}

// A mistake is a managed VM whose spec does not say what it has.
type mistake struct {
	stack  *stack
	member *member
	field  string // empty if it is not one property
	line   string // that says it, or empty
	reason Reason
}

// wrong are the mistakes in the specs.
func (p *proposer) wrong(joined *schema.Project) []mistake {
	var out []mistake
	for _, s := range p.stacks {
		of := stackOf(joined, s.name)
		for _, m := range s.members {
			if !m.managed {
				continue
			}
			v := vmOf(of, m.key)
			if v == nil || !v.Adopt || v.VMID != m.guest.VMID || v.Node != m.guest.Node || v.Profile != "default" || v.PoolID != m.guest.Pool {
				why := "its own entry cannot undo the pool, node or profile that it inherits: change that first"
				out = append(out, mistake{s, m, "", "", Reason{Why: why}})
				continue
			}
			missing := slices.DeleteFunc(m.reading.Missing(v), func(d hardware.Difference) bool { return d.Later })
			if len(missing) > 0 {
				d := missing[0]
				why := "a spec cannot say this together with what else the VM has"
				if s.existing != nil {
					why = "its own entry cannot undo the `" + d.Field + "` that it inherits: change that first"
				}
				out = append(out, mistake{s, m, d.Field, d.Line, Reason{Config: d.Config, Why: why}})
			}
		}
	}
	return out
}

func (s *stack) member(key string) *member {
	if i := slices.IndexFunc(s.members, func(m *member) bool { return m.key == key }); i >= 0 {
		return s.members[i]
	}
	return nil
}

func stackOf(p *schema.Project, name string) *schema.Stack {
	if i := slices.IndexFunc(p.Stacks, func(s *schema.Stack) bool { return s.Name == name }); i >= 0 {
		return p.Stacks[i]
	}
	return nil
}

func vmOf(s *schema.Stack, key string) *schema.VM {
	if i := slices.IndexFunc(s.VMs, func(v *schema.VM) bool { return v.Key == key }); i >= 0 {
		return s.VMs[i]
	}
	return nil
}

func text(s string) *schema.Node { return &schema.Node{Shape: schema.ShapeString, Text: s} }
