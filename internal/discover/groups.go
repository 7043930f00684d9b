package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/edit"
	"stackgen/internal/hardware"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// A group is equal VMs with numbered names.
type group struct {
	name    string
	pattern string // of keys: web{n}
	members []*member
}

// makeGroups writes equal VMs of new specs as groups, one after the other, as long as the
// specs say the same.
func (p *proposer) makeGroups(files map[string][]byte) (map[string][]byte, error) {
	if !p.Groups {
		return files, nil
	}
	for _, s := range p.stacks {
		if s.existing != nil {
			continue
		}
		for _, g := range s.candidates() {
			s.groups = append(s.groups, g)
			next, err := p.files(full)
			if err != nil {
				return nil, err
			}
			joined, problems, err := p.Join(next)
			if err != nil {
				return nil, err
			}
			if schema.HasErrors(problems) || len(p.wrong(joined)) > 0 {
				s.groups = s.groups[:len(s.groups)-1] // such as a text in which braces mean something
				continue
			}
			files = next
		}
	}
	return files, nil
}

// candidates are the runs of VMs with consecutive numbers and equal lines.
func (s *stack) candidates() []group {
	sorted := slices.Clone(s.members)
	slices.SortFunc(sorted, func(a, b *member) int { return natural.Compare(a.key, b.key) })
	var out []group
	for i := 0; i < len(sorted); {
		n := i + 1
		for n < len(sorted) && follows(sorted[n-1], sorted[n]) {
			n++
		}
		if prefix, first := numberOf(sorted[i].key); n-i > 1 {
			number := "{n}"
			if first != 1 {
				number = fmt.Sprintf("{%d+n}", first-1)
			}
			name := strings.TrimRight(prefix, "-0")
			if name == "" || slices.ContainsFunc(out, func(g group) bool { return g.name == name }) {
				name = sorted[i].key
			}
			out = append(out, group{name, prefix + number, sorted[i:n]})
		}
		i = n
	}
	return out
}

// follows reports whether a VM has the next number, and equals the one before in all else.
func follows(a, b *member) bool {
	before, m := numberOf(a.key)
	prefix, n := numberOf(b.key)
	return a.managed && b.managed && !a.isContainer() && !b.isContainer() && a.guest.Name == a.key && b.guest.Name == b.key &&
		m > 0 && prefix == before && n == m+1 && slices.Equal(a.own, b.own)
}

// numberOf splits a key before its last number, which begins with no zero. It is 0 if there
// is none.
func numberOf(key string) (prefix string, n int) {
	prefix = strings.TrimRight(key, "0123456789")
	digits := strings.TrimLeft(key[len(prefix):], "0")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return key, 0
	}
	return strings.TrimSuffix(key, digits), n
}

func (s *stack) grouped(m *member) bool {
	return slices.ContainsFunc(s.groups, func(g group) bool { return slices.Contains(g.members, m) })
}

// writeGroups writes the groups of a new spec.
func (s *stack) writeGroups(out *strings.Builder, at stage) {
	if len(s.groups) == 0 || at == bare {
		return
	}
	out.WriteString("groups:\n")
	for _, g := range s.groups {
		lines := []string{fmt.Sprintf("count: %d", len(g.members)), "key: " + hardware.Text(g.pattern), "profile: default"}
		var overrides []string
		for _, l := range g.members[0].own {
			lines = append(lines, l.text)
		}
		for _, m := range g.members {
			overrides = append(overrides, fmt.Sprintf("%s: {adopt: {vmid: %d}}", hardware.Text(m.key), m.guest.VMID))
		}
		lines = append(lines, "overrides: {"+strings.Join(overrides, ", ")+"}")
		out.WriteString(edit.NewVM{Key: hardware.Text(g.name), Lines: lines}.Entry("  ") + "\n")
	}
	out.WriteString("\n")
}
