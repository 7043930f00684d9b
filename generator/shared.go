package generator

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"stackgen/guest"
)

// sharedOf is the local of a stack file with what most of its guests of a kind have in common.
func sharedOf(kind guest.Kind) string {
	if kind == guest.Container {
		return kind.Name()
	}
	return "vm"
}

// ownValues are the attributes of which each VM says its own, also where they are equal: its
// name, and what the lock decides for it.
var ownValues = []string{"name", "vm_id", "node_name", "clone"}

// A machine is a VM of a stack file.
type machine struct {
	key     string
	values  []pair
	adopted bool // it existed already: what it has follows from nothing else in the stack
}

// shareValues takes out of VMs what more than half of them have in common, and returns that.
// A change of it is then one line, and not one for each VM. Every attribute of it is in all VMs
// that are not adopted; adopted ones are left as they are.
func shareValues(machines []machine) []pair {
	created := slices.Collect(func(yield func(*machine) bool) {
		for i := range machines {
			if !machines[i].adopted && !yield(&machines[i]) {
				return
			}
		}
	})
	if len(created) < 2 {
		return nil
	}
	type use struct{ total, most int }
	values, uses := map[string]int{}, map[string]use{}
	written := func(p pair) string { return p.key + "=" + string(p.value.Bytes()) }
	common := map[string]pair{}
	for _, m := range created {
		for _, p := range m.values {
			text, u := written(p), uses[p.key]
			values[text]++
			if u.total++; values[text] > u.most {
				u.most, common[p.key] = values[text], p
			}
			uses[p.key] = u
		}
	}
	var shared []pair
	texts := map[string]bool{}
	for _, p := range created[0].values { // what is shared is in each
		if u := uses[p.key]; u.total == len(created) && u.most > len(created)/2 && !slices.Contains(ownValues, p.key) {
			texts[written(common[p.key])] = true
			shared = append(shared, common[p.key])
		}
	}
	for _, m := range created {
		m.values = slices.DeleteFunc(m.values, func(p pair) bool { return texts[written(p)] })
	}
	return shared
}

// literal is the value of the VM in a stack file. shared is the local with what the VMs of the
// stack share, or "".
func (m *machine) literal(shared string) hclwrite.Tokens {
	if shared == "" || m.adopted {
		return object(m.values...)
	}
	return call("merge", ref("local", shared), object(m.values...))
}

// stackContext is what the values in a rendered stack file refer to.
func stackContext(file *hclsyntax.Body) (*hcl.EvalContext, hcl.Diagnostics) {
	locals := map[string]cty.Value{}
	for _, b := range file.Blocks {
		if b.Type != "locals" {
			continue
		}
		for name, a := range b.Body.Attributes {
			v, diags := a.Expr.Value(nil)
			if diags.HasErrors() {
				return nil, diags
			}
			locals[name] = v
		}
	}
	return &hcl.EvalContext{
		Variables: map[string]cty.Value{"local": cty.ObjectVal(locals)},
		Functions: map[string]function.Function{"merge": stdlib.MergeFunc},
	}, nil
}
