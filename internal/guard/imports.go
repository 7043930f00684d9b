package guard

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"stackgen/internal/lock"
)

// Imports is what an import file says: ids by resource address.
type Imports map[string]string

// ParseImports reads an import file. Anything but import blocks with a literal
// id is an error.
func ParseImports(file string, body []byte) (Imports, error) {
	f, diags := hclsyntax.ParseConfig(body, file, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s does not parse: %w", file, diags)
	}
	out := Imports{}
	for _, b := range f.Body.(*hclsyntax.Body).Blocks {
		to, id := b.Body.Attributes["to"], b.Body.Attributes["id"]
		if b.Type != "import" || to == nil || id == nil {
			return nil, fmt.Errorf("%s:%d: this is no import block with `to` and `id`", file, b.Range().Start.Line)
		}
		v, diags := id.Expr.Value(nil)
		if diags.HasErrors() || v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
			return nil, fmt.Errorf("%s:%d: the id is no literal", file, b.Range().Start.Line)
		}
		out[string(to.Expr.Range().SliceBytes(body))] = v.AsString()
	}
	return out, nil
}

// An Import is one resource to import.
type Import struct {
	Type, Label, Key string // of the resource
	ID               string
}

// Adoptions are the imports of all verdicts that ask for one, by unit and in the
// order of the verdicts.
func Adoptions(vs []Verdict) map[UnitID][]Import {
	out := map[UnitID][]Import{}
	for _, v := range vs {
		if v.Import == "" || v.Word != Adopt {
			continue
		}
		i := Import{Type: TypeVM, Label: labelOf(v.Resource), Key: v.Key, ID: v.Import}
		switch v.Kind {
		case KindPool:
			i.Type = TypePool
		case KindRecord:
			i.Type, i.Key = TypeRecord, v.Name
		}
		u := UnitID{v.Stack, v.Unit}
		out[u] = append(out[u], i)
	}
	return out
}

// labelOf is the label in a resource's address.
func labelOf(address string) string {
	label := ""
	for i, at := 0, 0; i < len(address) && address[i] != '['; i++ {
		if address[i] == '.' {
			at = i + 1
		}
		label = address[at : i+1]
	}
	return label
}

// importPath is where a unit's import file lies in the project.
func importPath(u UnitID) string { return "stacks/" + u.Stack + "/imports/" + u.Unit + ".tf" }

// stale compares the import files on disk with what is to be imported. A missing
// block leaves the plan to create what exists; one too many comes alive the day
// its resource leaves the state.
func (j *judge) stale(at *place) {
	if j.Imports == nil {
		return
	}
	for _, e := range at.lock.Units {
		u := UnitID{at.Name, e.Key}
		left := map[string]string{}
		for address, id := range j.Imports[u] {
			left[address] = id
		}
		for i := range j.out {
			v := &j.out[i]
			if v.Stack != u.Stack || v.Unit != u.Unit || v.Resource == "" {
				continue
			}
			id, there := left[v.Resource]
			delete(left, v.Resource)
			switch {
			case id == v.Import:
				continue
			case !there:
				v.differs("%s does not import it yet", u)
			case v.Import == "":
				v.differs("%s still imports %s into %s", u, id, v.Resource)
			default:
				v.differs("%s imports %s, not %s", u, id, v.Import)
			}
		}
		j.leftover(at, u, left)
	}
}

// leftover are import blocks for addresses that no verdict is about.
func (j *judge) leftover(at *place, u UnitID, left map[string]string) {
	for _, address := range sortedKeys(left) {
		v := j.add(at, u.Unit, KindUnit, "")
		v.Resource = address
		v.is(Missing).differs("%s imports %s into %s, which no spec asks for", u, left[address], address)
		v.Exit = ExitDiffers
	}
}

// differs says that an import file is not right.
func (v *Verdict) differs(format string, u UnitID, args ...any) {
	v.because(format, append([]any{importPath(u)}, args...)...)
	if v.Exit == ExitDone {
		v.Exit = ExitDiffers
	}
	v.next("write the import files anew", "stackgen import-blocks")
}

// pools judges the pool that a stack creates, and the pools that its VMs join.
func (j *judge) pools(at *place) {
	made := map[string]bool{}
	for _, s := range j.Project.Stacks {
		if s.Pool != nil && s.Pool.Create {
			made[s.Pool.ID] = true
		}
	}
	if at.Pool != nil && at.Pool.Create {
		j.pool(at)
	}
	if u := at.lock.Units.Get(lock.UnitPool); u != nil && u.Status == lock.Retired {
		held := j.State[UnitID{at.Name, lock.UnitPool}]
		for _, r := range held.Resources {
			v := j.add(at, lock.UnitPool, KindPool, r.Key)
			v.Resource = r.Address
			v.is(Retiring).because("the next apply deletes it, after its VMs")
		}
	}
	var others []string
	for _, v := range at.VMs {
		if v.PoolID != "" && !made[v.PoolID] && j.Inventory.Pool(v.PoolID) == nil {
			others = append(others, v.PoolID)
		}
	}
	for _, id := range unique(others) {
		v := j.add(at, lock.UnitVM, KindPool, id)
		if v.gaps(j.Inventory.BlindPool(id)) {
			continue
		}
		v.is(Missing).because("VMs are to join pool %s, which does not exist, and no spec creates it", id)
		v.next("let the stack create it: in "+at.Spec, "pool: {id: "+id+", create: true}")
		v.next("or create it by hand", "pvesh create /pools --poolid "+id)
	}
}

func (j *judge) pool(at *place) {
	id := at.Pool.ID
	held, unread := j.held(at, lock.UnitPool, TypePool, id)
	there := j.Inventory.Pool(id)
	v := j.add(at, lock.UnitPool, KindPool, id)
	v.Resource = fmt.Sprintf("%s.this[%q]", TypePool, id)
	switch {
	case unread != "":
		v.unread(unread)
	case there == nil && v.gaps(j.Inventory.BlindPool(id)):
	case there == nil && len(held) > 0:
		v.is(Lost).because("pool %s is in state, and the cluster has none of that name", id)
		v.next("create it anew: take it out of the state", inUnit(at.Name, lock.UnitPool, "terragrunt state rm "+quote(held[0].Address))...)
	case there == nil:
		v.is(Create).because("the cluster has no pool %s", id)
	case len(held) > 0:
		v.is(Managed).because("the cluster has it; its VMs: %d", len(there.Members))
	default:
		v.is(Adopt).because("the cluster has it, and no state knows it; its VMs: %d", len(there.Members))
		v.Import = id
	}
}
