package generator

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// ignoreList is a profile's ignore_changes, with the reason before each entry.
func ignoreList(p *schema.Profile) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrack, "["), token(hclsyntax.TokenNewline, "\n")}
	for _, a := range p.IgnoreChanges {
		out = append(out, comment(cmp.Or(reasons[a], "profile "+p.Name+" leaves "+a+" to whoever changes it in Proxmox VE."))...)
		out = append(out, ident(a)...)
		out = append(out, token(hclsyntax.TokenComma, ","), token(hclsyntax.TokenNewline, "\n"))
	}
	return append(out, token(hclsyntax.TokenCBrack, "]"))
}

// moves are the moved blocks of a stack's VMs: one chain for each VM whose address
// changed, through every former one to the one it has now. Nothing leads out of
// that one, and a VM that nobody retired and no spec has gets no block, since
// that would lead it out of the block that prevents its destruction.
func (r *renderer) moves(s *schema.Stack, l *lock.Stack) {
	f := r.blockFile("stacks/" + s.Name + "/moved/" + lock.UnitVM + ".tf")
	moves := 0
	for _, e := range l.VMs {
		if e.Value.Status == lock.Forgotten {
			continue
		}
		chain := append(slices.Clone(e.Value.Former), e.Value.Address(e.Key))
		for i := range len(chain) - 1 {
			f.add(block("moved", nil, group(pair{"from", resource(chain[i])}, pair{"to", resource(chain[i+1])})))
			moves++
		}
	}
	if moves > 0 {
		r.files = append(r.files, *f)
	}
}

// resource is a reference to a VM's address in its module.
func resource(a lock.Address) hclwrite.Tokens {
	return index(ref(vmType, schema.ResourceLabel(a.Profile)), a.Key)
}
