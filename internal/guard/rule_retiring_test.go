package guard

func retiringCases() []ruleCase {
	return []ruleCase{
		{"retiring", both, func(s *scene) { s.retire() }, ""},
		{"retiring: not in the cluster", onlyState, func(s *scene) { s.retire() }, ""},
		{"retiring: not in the cluster", nowhere, func(s *scene) { s.retire() }, "stackgen resolve"},
		{"retiring: not in the cluster", nowhere, func(s *scene) { s.retire(); s.entry.Gone = true }, "stackgen render"},
		{"retiring: in no state", onlyGuest, func(s *scene) { s.retire() }, "pvesh delete /nodes/pve1/qemu/100"},
		{"retiring: in no state", onlyGuest, func(s *scene) { s.retire(); s.guest().Config.UUID = "another" }, "pvesh get /nodes/pve1/qemu/100/config"},
		{"retiring: destroyed already", onlyState, func(s *scene) { s.Destroy = true }, ""},
		{"none: nothing to destroy", nowhere, func(s *scene) { s.Destroy = true }, ""},
	}
}
