package guard

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/schema"
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
func Adoptions(vs []finding.Finding) map[UnitID][]Import {
	out := map[UnitID][]Import{}
	for _, v := range vs {
		if v.Import == "" || v.Kind != finding.Adopt {
			continue
		}
		i := Import{Type: TypeVM, Label: labelOf(v.Resource), Key: v.Key, ID: v.Import}
		switch v.Type {
		case finding.Pool:
			i.Type = TypePool
		case finding.Record:
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
			case id == v.Import || j.Running && (v.Stops() || j.inert(at, v)):
				continue
			case !there:
				differs(v, "%s does not import it yet", u)
			case v.Import == "":
				differs(v, "%s still imports %s into %s", u, id, v.Resource)
			default:
				differs(v, "%s imports %s, not %s", u, id, v.Import)
			}
		}
		j.leftover(at, u, left)
	}
}

// inert reports whether an import block for what a verdict is about does
// nothing: its address is in the state, and the configuration has it.
func (j *judge) inert(at *place, v *finding.Finding) bool {
	if v.Import != "" {
		return false
	}
	for _, r := range j.State[UnitID{v.Stack, v.Unit}].Resources {
		if r.Address != v.Resource {
			continue
		}
		e := at.lock.VMs.Get(v.Key)
		return v.Type != finding.VM || e != nil && e.Status == lock.Live && v.Resource == schema.VMAddress(e.Profile, v.Key)
	}
	return false
}

// leftover are import blocks for addresses that no verdict is about.
func (j *judge) leftover(at *place, u UnitID, left map[string]string) {
	for _, address := range sortedKeys(left) {
		v := j.add(at, u.Unit, finding.Unit, "")
		v.Resource = address
		differs(v.Is(finding.NotFound), "%s imports %s into %s, which no spec asks for", u, left[address], address)
		v.Severity = finding.Outdated
	}
}

// differs says that an import file is not right.
func differs(v *finding.Finding, format string, u UnitID, args ...any) {
	v.Because(format, append([]any{importPath(u)}, args...)...)
	if v.Severity == finding.OK {
		v.Severity = finding.Outdated
	}
	v.Next("write the import files anew", "stackgen import-blocks")
}
