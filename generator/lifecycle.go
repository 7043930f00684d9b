package generator

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// ignoreList is a profile's ignore_changes, with the reason before each entry. What no
// property sets is last, and has one reason.
func ignoreList(p *schema.Profile) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrack, "["), token(hclsyntax.TokenNewline, "\n")}
	own := func(a string) bool { return a == "clone" || !schema.IsAlwaysIgnored(a) }
	ignored := slices.Clone(p.IgnoreChanges)
	slices.SortStableFunc(ignored, func(a, b string) int {
		switch {
		case own(a) == own(b):
			return 0
		case own(a):
			return -1
		}
		return 1
	})
	for i, a := range ignored {
		switch {
		case own(a):
			out = append(out, comment(cmp.Or(reasons[a], "profile "+p.Name+" ignores changes of "+a+" in Proxmox VE."))...)
		case own(ignored[i-1]):
			out = append(out, comment("No property sets these: a VM keeps what it has.")...)
		}
		out = append(out, ident(a)...)
		out = append(out, token(hclsyntax.TokenComma, ","), token(hclsyntax.TokenNewline, "\n"))
	}
	return append(out, token(hclsyntax.TokenCBrack, "]"))
}

// moves renders the moved blocks of a stack: for each guest whose address changed, one
// chain through its former addresses to the current one. No block moves a guest away
// from its current address, or OpenTofu fails with "Moved object still exists". A
// forgotten one has no block: that would move it out of a resource block with
// prevent_destroy.
func (r *renderer) moves(s *schema.Stack, l *lock.Stack) {
	for _, kind := range guest.Kinds() {
		unit := lock.UnitOf(kind)
		f := r.blockFile(MovedFile(s.Name, unit))
		moves := 0
		for _, e := range l.VMs {
			if e.Value.Status == lock.Forgotten || e.Value.In() != unit {
				continue
			}
			chain := append(slices.Clone(e.Value.Former), e.Value.Address(e.Key))
			for i := range len(chain) - 1 {
				f.add(block("moved", nil, group(pair{"from", resource(kind, chain[i])}, pair{"to", resource(kind, chain[i+1])})))
				moves++
			}
		}
		if moves > 0 {
			r.files = append(r.files, *f)
		}
	}
}

// MovedFile is the path of the file with the moved blocks of a unit.
func MovedFile(stack, unit string) string { return "stacks/" + stack + "/moved/" + unit + ".tf" }

// resource is a reference to a guest's address in its module.
func resource(kind guest.Kind, a lock.Address) hclwrite.Tokens {
	return index(ref(kind.Resource(), schema.ResourceLabel(a.Profile)), a.Key)
}
