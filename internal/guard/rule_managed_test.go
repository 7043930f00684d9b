package guard

func managedCases() []ruleCase {
	return []ruleCase{
		{"managed", both, nil, ""},
		{"managed", both, func(s *scene) { s.Destroy = true }, ""},
		{"adopt", onlyGuest, nil, ""},
		{"adopt", onlyGuest, func(s *scene) { s.guest().Node = "pve2" }, ""},
		{"adopt", onlyGuest, func(s *scene) { s.begun(); s.fromTemplate("scsi0") }, ""},
		{"would-harm: a part of a clone", onlyGuest, func(s *scene) { s.begun(); s.fromTemplate("scsi0", "scsi1") }, "pvesh delete /nodes/pve1/qemu/100"},
	}
}
