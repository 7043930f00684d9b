package guard

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
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
			return nil, fmt.Errorf("%s:%d: this is not an import block with `to` and `id`", file, b.Range().Start.Line)
		}
		v, diags := id.Expr.Value(nil)
		if diags.HasErrors() || v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
			return nil, fmt.Errorf("%s:%d: the id is not a literal", file, b.Range().Start.Line)
		}
		out[string(to.Expr.Range().SliceBytes(body))] = v.AsString()
	}
	for _, named := range importing.FindAllString(string(body), -1) {
		if _, imported := out[named]; !imported {
			return nil, fmt.Errorf("%s names %s and does not import it, as in a comment: remove that, or the file", file, named)
		}
	}
	return out, nil
}

// importing finds the VMs that the unit treats as those which a file imports, as its
// terragrunt.hcl does, in comments, too.
var importing = regexp.MustCompile(guest.VMResource + `\.[^\[]+\["[^"]+"\]`)

// An Import is one resource to import.
type Import struct {
	Type, Label, Key string // of the resource
	ID               string
}

// Adoptions are the imports of all findings that ask for one, by unit and in the
// order of the findings.
func Adoptions(vs []finding.Finding) map[tf.Unit][]Import {
	out := map[tf.Unit][]Import{}
	for _, v := range vs {
		if v.Import == "" || v.Kind != finding.Adopt {
			continue
		}
		i := Import{Type: typeOf(&v), Label: labelOf(v.Resource), Key: v.Key, ID: v.Import}
		switch v.Type {
		case finding.Pool:
			i.Type = guest.PoolResource
		case finding.Image:
			i.Type = guest.FileResource
		case finding.Record:
			i.Type, i.Key = guest.RecordResource, v.Name
		}
		u := tf.Unit{Stack: v.Stack, Unit: v.Unit}
		out[u] = append(out[u], i)
	}
	return out
}

// typeOf is the type of resource of the guest that a finding is about.
func typeOf(v *finding.Finding) string {
	if v.Unit == lock.UnitContainer {
		return guest.ContainerResource
	}
	return guest.VMResource
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

// importPath is the path of a unit's import file in the project.
func importPath(u tf.Unit) string { return "stacks/" + u.Stack + "/imports/" + u.Unit + ".tf" }

// writeImports is the step that writes the import files.
func writeImports() finding.Step {
	return finding.Do("write the import files", "stackgen import-blocks")
}

// stale compares the import files on disk with what is to import. A missing block
// lets the plan create what exists; a leftover one takes effect when its resource
// leaves the state.
func (j *judge) stale(at *place) {
	if j.Imports == nil {
		return
	}
	byUnit := map[string][]int{} // positions in j.out
	for i, f := range j.out {
		if f.Stack == at.Name && f.Resource != "" {
			byUnit[f.Unit] = append(byUnit[f.Unit], i)
		}
	}
	for _, e := range at.lock.Units {
		u := tf.Unit{Stack: at.Name, Unit: e.Key}
		left := maps.Clone(j.Imports[u])
		for _, i := range byUnit[u.Unit] {
			f := &j.out[i]
			id, found := left[f.Resource]
			delete(left, f.Resource)
			switch {
			case id == f.Import || j.Running && f.Stops():
				continue
			case found && len(j.settled[f.Address]) > 0:
				outdated(f, "import-left-over", "%s still imports it: an apply would unset %s",
					importPath(u), strings.Join(j.settled[f.Address], ", "))
			case f.Import == "" && j.withoutEffect(at, f, id):
				f.Because("%s still imports it, without effect: it is in state", importPath(u))
			case !found:
				outdated(f, "import-missing", "%s does not import it", importPath(u))
			case f.Import == "":
				outdated(f, "import-left-over", "%s still imports %s into %s", importPath(u), id, f.Resource)
			default:
				outdated(f, "import-wrong", "%s imports %s, not %s", importPath(u), id, f.Import)
			}
		}
		for _, address := range slices.Sorted(maps.Keys(left)) {
			f := j.add(at, u.Unit, finding.Unit, "")
			f.Resource = address
			f.Is(finding.NotFound, finding.Reason{}).Severity = finding.OK
			outdated(f, "import-unwanted", "%s imports %s into %s", importPath(u), left[address], address)
		}
	}
}

// withoutEffect reports whether an import block for a finding does nothing: its
// address is in the state, and the configuration has it. Before a run, the state
// must have it under the id of the block too: if that resource leaves the state,
// the block is the right one.
func (j *judge) withoutEffect(at *place, f *finding.Finding, id string) bool {
	for _, r := range j.State[tf.Unit{Stack: f.Stack, Unit: f.Unit}].Resources {
		if r.Address != f.Resource || !j.Running && id != r.ID && !strings.HasSuffix(id, "/"+r.ID) {
			continue
		}
		e := at.entries[f.Key]
		return f.Type != finding.VM || e != nil && e.Status == lock.Live && f.Resource == schema.GuestAddress(e.Kind, e.Profile, f.Key)
	}
	return false
}

// outdated says that an import file is not right. Where something else stops an apply,
// another file is no way out of that.
func outdated(f *finding.Finding, code finding.Code, format string, args ...any) {
	f.Because(format, args...)
	if f.Stops() {
		return
	}
	if f.Severity == finding.OK {
		f.Severity, f.Reason = finding.Outdated, f.Reason.And(finding.Why(code))
	}
	f.Add(writeImports())
}
