package schema

// listClashes checks retired, forgotten and renamed against the VMs of the spec.
func (e *expander) listClashes() {
	s := e.stack
	inSpec := func(key string) bool { _, ok := e.keys[key]; return ok }
	retired, renamed := map[string]bool{}, map[string]bool{}
	for _, item := range s.Retired {
		retired[item.Name] = true
	}
	for _, r := range s.Renamed {
		renamed[r.From] = true
	}
	for _, list := range []struct {
		name  string
		items []ListItem
	}{{"retired", s.Retired}, {"forgotten", s.Forgotten}} {
		for _, item := range list.items {
			if inSpec(item.Name) {
				e.errorPos(item.Pos, list.name, CodeListClash, "remove its entry from the spec, or from "+list.name,
					"%s is in %s and also in the spec", item.Name, list.name)
			}
		}
	}
	for _, item := range s.Forgotten {
		if retired[item.Name] {
			e.errorPos(item.Pos, "forgotten", CodeListClash, "keep one of them", "%s is in retired and also in forgotten", item.Name)
		}
	}
	to := map[string]string{}
	for _, r := range s.Renamed {
		if inSpec(r.From) {
			e.errorPos(r.Pos, "renamed", CodeListClash,
				"use the new key for the entry too; the old key is free again after the rename was applied and `stackgen resolve` recorded that",
				"%s is in renamed and also in the spec", r.From)
		}
		if !inSpec(r.To) && !renamed[r.To] {
			e.errorPos(r.Pos, "renamed", CodeListClash, "add the entry "+r.To+", or remove "+r.From+" from renamed",
				"%s is renamed to %s, but the spec has no VM or container %s", r.From, r.To, r.To)
		}
		if other := to[r.To]; other != "" {
			e.errorPos(r.Pos, "renamed", CodeListClash, "keep one of them", "%s and %s are both renamed to %s", other, r.From, r.To)
		}
		to[r.To] = r.From
	}
}
