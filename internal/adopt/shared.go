package adopt

import (
	"slices"

	"stackgen/internal/edit"
	"stackgen/internal/project"
	"stackgen/schema"
)

// A kept is what a target had before some of its lines were moved to the defaults.
type kept struct {
	lines      []edit.Setting
	attributes []string
}

// share moves the lines that all VMs of a stack get, and that none of them says for itself, to
// the defaults of its spec: one line there does what many equal ones do. It returns what the
// targets had before, or nil if there are no such lines.
func (p *planner) share() map[*target]kept {
	out := map[*target]kept{}
	if p.project.Stacks == nil {
		return nil
	}
	for _, s := range p.project.Stacks.Stacks {
		all := p.accepting(s.Name)
		if len(all) < 2 || len(all) != len(s.VMs) {
			continue
		}
		for _, line := range slices.Clone(all[0].lines) {
			f := schema.FieldOf(all[0].vm.Kind, line.Key)
			if f != nil && f.Own || slices.ContainsFunc(all, func(t *target) bool { return !t.inherits(line) }) {
				continue
			}
			for _, t := range all {
				if _, moved := out[t]; !moved {
					out[t] = kept{slices.Clone(t.lines), slices.Clone(t.attributes)}
				}
				t.lines = slices.DeleteFunc(t.lines, func(l edit.Setting) bool { return l.Key == line.Key })
				t.shared = append(t.shared, line)
			}
		}
	}
	return out
}

// accepting are the targets of a stack that get what drift found: of an adoption, each VM has
// what it was given.
func (p *planner) accepting(stack string) []*target {
	return slices.DeleteFunc(slices.Clone(p.targets), func(t *target) bool { return t.Stack != stack || t.attributes == nil })
}

// inherits reports whether a VM gets a line, and says nothing of the property for itself.
func (t *target) inherits(line edit.Setting) bool {
	same := slices.ContainsFunc(t.lines, func(l edit.Setting) bool { return l.Key == line.Key && l.Line == line.Line && l.Line != "" })
	return same && t.vm.Own.Get(line.Key) == nil
}

// unshare gives the targets back what they had.
func unshare(was map[*target]kept) {
	for t, k := range was {
		t.lines, t.attributes, t.shared = k.lines, k.attributes, nil
	}
}

// setShared writes the lines of the defaults of the targets' specs.
func (p *planner) setShared(targets []*target, next map[string][]byte) error {
	var done []string
	for _, t := range targets {
		if len(t.shared) == 0 || slices.Contains(done, t.Stack) {
			continue
		}
		done = append(done, t.Stack)
		body, err := edit.Set(source(p.project, next, t.vm.File), []string{"defaults"}, t.shared)
		if err != nil {
			return err
		}
		next[t.vm.File] = body
	}
	return nil
}

// source is a spec with the changes so far.
func source(p *project.Project, edited map[string][]byte, file string) []byte {
	if src, ok := edited[file]; ok {
		return src
	}
	return p.Sources[file]
}
