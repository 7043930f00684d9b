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

// moves are the moved blocks of a stack's VMs. They need no memory of earlier
// profiles: whatever block a VM is in, one chain leads through all the others
// to the one it belongs to now, and nothing leads out of that one.
func (r *renderer) moves(s *schema.Stack, l *lock.Stack, labels []string) {
	var blocks []gated
	former := map[string]string{}
	for _, n := range s.Renamed {
		former[n.To] = n.From
	}
	for _, e := range l.VMs {
		target := ""
		switch v := e.Value; {
		case v.Status == lock.Live:
			target = schema.ResourceLabel(v.Profile)
		case v.Status == lock.Retired:
			// Out of a block that prevents its destruction, because somebody
			// said that it is to go. Nothing else may do this.
			target = schema.ResourceLabel("default")
		default:
			continue
		}
		keys := append([]string{e.Key}, e.Value.Former...)
		slices.Reverse(keys[1:])
		for from := former[e.Key]; from != "" && !slices.Contains(keys, from); from = former[from] {
			keys = append(keys, from) // renamed more than once
		}
		chain := []step{}
		for _, key := range slices.Backward(keys) {
			chain = steps(chain, key, labels, target)
		}
		for i := 0; i+1 < len(chain); i++ {
			blocks = append(blocks, gated{part: block("moved", nil, group(pair{"from", chain[i].address()}, pair{"to", chain[i+1].address()}))})
		}
	}
	r.blocks("stacks/"+s.Name+"/moved/"+lock.UnitVM+".tf", blocks)
}

// A step is one address in a chain of moves.
type step struct{ label, key string }

func (s step) address() hclwrite.Tokens { return index(ref(vmType, s.label), s.key) }

// steps leads a key through all blocks, in their fixed order, into the target.
func steps(chain []step, key string, labels []string, target string) []step {
	for _, label := range labels {
		if label != target {
			chain = append(chain, step{label, key})
		}
	}
	return append(chain, step{target, key})
}
