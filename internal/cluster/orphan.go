package cluster

import (
	"slices"
	"strings"

	"stackgen/schema"
)

// An Orphan is a guest that bears a stack's mark and is no VM of the project.
type Orphan struct {
	Guest *Guest
	Stack string
	Mark  string // what says so: "pool NAME" or "tag NAME"
}

// Orphans lists the guests, by VMID, that are ours by tag or pool and in no spec
// and no lock. Ours by pool: it lies in a pool that the stack creates, or that
// has the stack's name. Ours by tag: it carries a tag that is the stack's name
// and that every VM of the stack carries too. Any other tag or pool, such as
// linux or production, may be shared with others and says nothing. What the
// matches know, as guest or holder of a VMID or as namesake, is told there.
func Orphans(stacks []*schema.Stack, matches []Match, inv *Inventory) []Orphan {
	known := map[int]bool{}
	for _, m := range matches {
		known[m.VMID] = true
		for _, g := range m.Others {
			known[g.VMID] = true
		}
	}
	var out []Orphan
	for i := range inv.Guests {
		g := &inv.Guests[i]
		if g.Template || known[g.VMID] {
			continue
		}
		for _, s := range stacks {
			if mark := marked(s, g); mark != "" {
				out = append(out, Orphan{Guest: g, Stack: s.Name, Mark: mark})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Orphan) int { return a.Guest.VMID - b.Guest.VMID })
	return out
}

// marked says what makes a guest a stack's, or nothing.
func marked(s *schema.Stack, g *Guest) string {
	if s.Pool != nil && g.Pool == s.Pool.ID && (s.Pool.Create || s.Pool.ID == s.Name) {
		return "pool " + g.Pool
	}
	if !carries(g.Tags, s.Name) || len(s.VMs) == 0 {
		return ""
	}
	for _, v := range s.VMs {
		if v.Values == nil || !carries(v.Values.Get("tags").Strings(), s.Name) {
			return ""
		}
	}
	return "tag " + s.Name
}

func carries(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, tag) })
}
