package guard

func movedCases() []ruleCase {
	manages := func(s *scene) {
		s.Project.Profiles[0].IgnoreChanges, s.guest().Node = []string{"started", "clone"}, "pve2"
	}
	return []ruleCase{
		{"moved", both, func(s *scene) { s.guest().Node = "pve2" }, ""},
		{"moved", both, func(s *scene) { manages(s); s.Destroy = true }, ""},
		{"moved: an apply would move it back", both, manages, "node: pve2"},
		{"moved: an import would replace it", onlyGuest, manages, "node: pve2"},
	}
}
