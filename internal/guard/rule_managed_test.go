package guard

func managedCases() []ruleCase {
	return []ruleCase{
		{"managed", both, nil, ""},
		{"managed", both, func(s *scene) { s.Destroy = true }, ""},
		{"adopt", onlyGuest, nil, ""},
		{"adopt", onlyGuest, func(s *scene) { s.guest().Node = "pve2" }, ""},
	}
}
