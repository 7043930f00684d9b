package cluster

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// An Orphan is a guest with the pool or tag of a stack that is not a VM of the
// project.
type Orphan struct {
	Guest *Guest
	Stack string
	Mark  string // "pool NAME" or "tag NAME"
}

// Orphans returns, by VMID, the guests that belong to a stack by pool or tag and
// are in no spec and no lock. By pool: the stack creates the pool, or the pool has
// the name of the stack. By tag: the tag is the name of the stack, and every VM of
// the stack has it. Other pools and tags, such as production or linux, may be
// shared. Guests that appear in a match are omitted.
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
			if mark := markOf(s, g); mark != "" {
				out = append(out, Orphan{Guest: g, Stack: s.Name, Mark: mark})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Orphan) int { return a.Guest.VMID - b.Guest.VMID })
	return out
}

// markOf returns the pool or tag that makes a guest part of a stack, or "".
func markOf(s *schema.Stack, g *Guest) string {
	if s.Pool != nil && g.Pool == s.Pool.ID && (s.Pool.Create || s.Pool.ID == s.Name) {
		return "pool " + g.Pool
	}
	if !hasTag(g.Tags, s.Name) || len(s.VMs) == 0 {
		return ""
	}
	for _, v := range s.VMs {
		if v.Values == nil || !hasTag(v.Values.Get(guest.Tags).Strings(), s.Name) {
			return ""
		}
	}
	return "tag " + s.Name
}

func hasTag(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, tag) })
}
