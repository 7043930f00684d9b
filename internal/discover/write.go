package discover

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/edit"
	"stackgen/internal/hardware"
	"stackgen/schema"
)

// files are the specs with their VMs.
func (p *proposer) files(at stage) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, s := range p.stacks {
		if s.existing == nil {
			out[s.file] = []byte(s.text(at))
			continue
		}
		body := p.Sources[s.file]
		for _, kind := range guest.Kinds() {
			var entries []edit.NewVM
			for _, m := range s.of(kind) {
				entries = append(entries, s.entry(m, at))
			}
			var err error
			if body, err = edit.AddVMs(body, kind.List(), entries); err != nil {
				return nil, fmt.Errorf("%s: %w", s.file, err)
			}
		}
		out[s.file] = body
	}
	return out, nil
}

// text is a new spec.
func (s *stack) text(at stage) string {
	var out strings.Builder
	var kinds []string
	for _, kind := range guest.Kinds() {
		if len(s.of(kind)) > 0 {
			kinds = append(kinds, kind.Name()+"s")
		}
	}
	what := strings.Join(kinds, " and ")
	what = strings.ToUpper(what[:1]) + what[1:]
	fmt.Fprintf(&out, "# %s that existed before this spec. `stackgen discover` wrote it; edit it as you like.\n", what)
	fmt.Fprintf(&out, "apiVersion: %s\nkind: %s\nname: %s\n", schema.APIVersion, schema.KindStack, hardware.Text(s.name))
	if s.pool != "" {
		fmt.Fprintf(&out, "pool: {id: %s}\n", hardware.Text(s.pool))
	}
	out.WriteString("naming: {pattern: \"{key}\"}\n\n")
	if len(s.common) > 0 {
		out.WriteString("defaults:\n")
		var containers []string
		for _, l := range s.common {
			if strings.HasPrefix(l.key, ofContainers) {
				containers = append(containers, l.text)
				continue
			}
			out.WriteString(edit.Fill("  ", l.text) + "\n")
		}
		if len(containers) > 0 {
			out.WriteString(edit.Fill("  ", guest.Container.List()+": {"+strings.Join(containers, ", ")+"}") + "\n")
		}
		out.WriteString("\n")
	}
	s.writeGroups(&out, at)
	end := ""
	for _, kind := range guest.Kinds() {
		head := end + kind.List() + ":\n"
		for _, m := range s.of(kind) {
			if !s.grouped(m) || at == bare {
				out.WriteString(head + s.entry(m, at).Entry("  ") + "\n")
				head, end = "", "\n"
			}
		}
	}
	return out.String()
}

// of are the members of a kind.
func (s *stack) of(kind guest.Kind) []*member {
	return slices.DeleteFunc(slices.Clone(s.members), func(m *member) bool { return m.isContainer() != (kind == guest.Container) })
}

// entry is the entry of a VM or container.
func (s *stack) entry(m *member, at stage) edit.NewVM {
	out := edit.NewVM{Key: hardware.Text(m.key), Lines: []string{fmt.Sprintf("adopt: {vmid: %d}", m.guest.VMID)}}
	if m.managed {
		out.Lines = append(out.Lines, "profile: default")
	}
	if m.isContainer() && !slices.ContainsFunc(m.own, func(l line) bool { return l.key == guest.Networks }) {
		out.Lines = append(out.Lines, hardware.NetworksOf(m.guest.Config.MACs))
	}
	if at == bare {
		return out
	}
	if m.name != "" && !m.managed {
		out.Lines = append(out.Lines, hardware.Assignment(guest.VM, guest.Name, text(m.name)))
	}
	for _, l := range m.own {
		out.Lines = append(out.Lines, l.text)
	}
	if s.noRecords && (s.existing != nil || m.isContainer()) && !slices.ContainsFunc(m.own, func(l line) bool { return l.key == guest.DNS }) {
		out.Lines = append(out.Lines, "dns: false")
	}
	return out
}
