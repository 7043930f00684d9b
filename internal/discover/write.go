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
		var vms []edit.NewVM
		for _, m := range s.members {
			vms = append(vms, s.entry(m, at))
		}
		body, err := edit.AddVMs(p.Sources[s.file], vms)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.file, err)
		}
		out[s.file] = body
	}
	return out, nil
}

// text is a new spec.
func (s *stack) text(at stage) string {
	var out strings.Builder
	out.WriteString("# VMs that existed before this spec. `stackgen discover` wrote it; edit it as you like.\n")
	fmt.Fprintf(&out, "apiVersion: %s\nkind: %s\nname: %s\n", schema.APIVersion, schema.KindStack, hardware.Text(s.name))
	if s.pool != "" {
		fmt.Fprintf(&out, "pool: {id: %s}\n", hardware.Text(s.pool))
	}
	out.WriteString("naming: {pattern: \"{key}\"}\n\n")
	if len(s.common) > 0 {
		out.WriteString("defaults:\n")
		for _, l := range s.common {
			out.WriteString(edit.Fill("  ", l.text) + "\n")
		}
		out.WriteString("\n")
	}
	s.writeGroups(&out, at)
	head := "vms:\n"
	for _, m := range s.members {
		if !s.grouped(m) || at == bare {
			out.WriteString(head + s.entry(m, at).Entry("  ") + "\n")
			head = ""
		}
	}
	return out.String()
}

// entry is the entry of a VM.
func (s *stack) entry(m *member, at stage) edit.NewVM {
	out := edit.NewVM{Key: hardware.Text(m.key), Lines: []string{fmt.Sprintf("adopt: {vmid: %d}", m.guest.VMID)}}
	if m.managed {
		out.Lines = append(out.Lines, "profile: default")
	}
	if at == bare {
		return out
	}
	if m.name != "" && !m.managed {
		out.Lines = append(out.Lines, hardware.Assignment(guest.Name, text(m.name)))
	}
	for _, l := range m.own {
		out.Lines = append(out.Lines, l.text)
	}
	if s.noRecords && s.existing != nil && !slices.ContainsFunc(m.own, func(l line) bool { return l.key == guest.DNS }) {
		out.Lines = append(out.Lines, "dns: false")
	}
	return out
}
