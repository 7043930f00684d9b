package guard

func goneCases() []ruleCase {
	return []ruleCase{
		{"gone", onlyState, nil, "qmrestore BACKUP 100"},
		{"gone: it has another VMID now", onlyState, func(s *scene) { s.entry.Fingerprint = fingerprint("u-web1"); s.addGuest("u-web1") }, "stackgen adopt lab/web1=300"},
		{"gone: it has another VMID now", nowhere, func(s *scene) { s.entry.Fingerprint = fingerprint("u-web1"); s.addGuest("u-web1") }, "stackgen adopt lab/web1=300"},
	}
}
