package guard

import "stackgen/internal/lock"

func createCases() []ruleCase {
	return []ruleCase{
		{"create", nowhere, nil, ""},
		{"ambiguous", nowhere, func(s *scene) { s.Inventory.Guests = append(s.Inventory.Guests, newGuest(300, "web1")) }, "adopt: {vmid: 300}"},
		{"ambiguous", onlyGuest, func(s *scene) {
			s.entry.Fingerprint = nil
			s.Inventory.Guests = append(s.Inventory.Guests, newGuest(300, "web1"))
		}, "adopt: {vmid: 100}"},
		{"cannot-create", nowhere, func(s *scene) { s.entry.Node = "pve9" }, "node: "},
		{"busy: its template", nowhere, func(s *scene) {
			template := newGuest(9000, "template")
			template.Template, template.Lock = true, "backup"
			s.entry.Template = &lock.Template{VMID: 9000, Node: "pve1"}
			s.Inventory.Guests = append(s.Inventory.Guests, template)
		}, "qm unlock 9000"},
	}
}
